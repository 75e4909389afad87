/** A network made of a document: it answers each read with what the document says, so that the doctor examines both alike. */
import { endpointPath, parseBaseAddress } from "../../contract/base-address.ts";
import { isObject, type Json } from "../../core/json.ts";
import type { Transport, WireAnswer } from "../../client/transport.ts";
import type { ApiOperation } from "./api-operations.ts";
import { pathOf } from "./draft-requests.ts";
import type { OpenDocument } from "./open-document.ts";
import { sampleOf } from "./schema-sample.ts";

/** Variants of an object, of which one has the id that a list gave. */
const VARIANTS = 3;

/** Answers every documented operation; 404 in the document's own form to an object that does not exist. */
export function documentNetwork(document: OpenDocument, operations: readonly ApiOperation[], baseUrl: string): Transport {
  const base = parseBaseAddress(baseUrl);
  const routes = operations.map((operation) => ({
    operation,
    segments: endpointPath(base, pathOf({ document, baseUrl }, operation)).split("/"),
  }));
  return ({ method, path }) => {
    const asked = (path.split("?")[0] ?? "").split("/");
    const fits = routes.filter(({ operation, segments }) => operation.method === method && isAt(segments, asked));
    const route = fits.find(({ segments }) => segments.every((segment) => !segment.startsWith(":"))) ?? fits[0];
    if (route === undefined) return Promise.resolve(answer(405, {}));
    const target = asked[route.segments.findIndex((segment) => segment.startsWith(":"))];
    return Promise.resolve(answerOf(document, route.operation, target));
  };
}

function isAt(segments: readonly string[], asked: readonly string[]): boolean {
  return segments.length === asked.length && segments.every((segment, at) => segment.startsWith(":") || segment === asked[at]);
}

function answerOf(document: OpenDocument, operation: ApiOperation, target: string | undefined): WireAnswer {
  const { success, refusal } = operation;
  if (target === undefined) return answer(success?.status ?? 200, sampleOf(document, success?.schema) ?? {});
  const id = decodeURIComponent(target);
  for (let variant = 0; variant < VARIANTS; variant++) {
    const body = sampleOf(document, success?.schema, variant);
    if (holds(body, id)) return answer(success?.status ?? 200, body ?? {});
  }
  return answer(404, sampleOf(document, refusal) ?? {});
}

/** True if an object holds this value itself; lists inside it hold other objects. */
function holds(value: Json | undefined, id: string): boolean {
  return (
    isObject(value) &&
    Object.values(value).some((item) =>
      isObject(item) ? holds(item, id) : (typeof item === "string" || typeof item === "number") && `${item}` === id,
    )
  );
}

function answer(status: number, body: Json): WireAnswer {
  return { kind: "answer", status, headers: { "content-type": "application/json" }, text: JSON.stringify(body), elapsedMs: 0 };
}
