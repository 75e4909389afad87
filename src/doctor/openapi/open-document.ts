/** Reads an OpenAPI document (2.0 to 3.2) from text: bounded, without a fetch, and with its references followed inside it alone. */
import { parseDataText } from "../../config/data-file.ts";
import { Misconfigured } from "../../core/errors.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";

/** Larger documents are not read: the network's own part of one fits. */
export const MAX_DOCUMENT_BYTES = 4 * 1_024 * 1_024;
/** References that lead from one to the next. */
const MAX_HOPS = 20;
const MAX_NAMED = 5;

export interface OpenDocument {
  readonly root: JsonObject;
  /** `2.0`, `3.1.0`: as stated. */
  readonly version: string;
  /** The value behind a reference, or the value itself; undefined where the reference leads nowhere. */
  readonly follow: (value: Json | undefined) => Json | undefined;
  /** References that could not be followed so far, each with its reason. */
  readonly unfollowed: () => readonly string[];
}

/** Throws `Misconfigured` (`openapi_invalid`) for everything but an OpenAPI document. `source` names it in messages. */
export function openDocument(text: string, source: string): OpenDocument {
  const refuse = (message: string, hint: string): Misconfigured =>
    new Misconfigured("openapi_invalid", message, { file: source, expected: "an OpenAPI document (2.0 to 3.2) in JSON or YAML", hint });
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) throw tooLarge(source);
  if (/^\s*</.test(text))
    throw refuse("this is a web page or XML, not a document", "look on that page for a link to openapi.json or openapi.yaml");
  const { data, problems } = parseDataText(text, source);
  const [problem] = problems;
  if (problem !== undefined) throw refuse(problem.message, problem.hint ?? "download it again, or ask the network for a valid one");
  const root = data?.value;
  if (!isObject(root)) throw refuse("this holds no object", "give the address or file of the document itself");
  const version = root["openapi"] ?? root["swagger"];
  if (typeof version !== "string" || !/^(?:2\.0|3\.[0-2])/.test(version))
    throw refuse(
      version === undefined ? "it states no version of OpenAPI" : "its version of OpenAPI is not known",
      "its first lines should read `openapi: 3.1.0` or alike, the version as text",
    );
  if (!isObject(root["paths"])) throw refuse("it has no paths", "give the document that describes the operations");
  return { root, version, ...references(root) };
}

export function tooLarge(source: string): Misconfigured {
  return new Misconfigured("openapi_too_large", `more than ${MAX_DOCUMENT_BYTES.toLocaleString("en")} bytes are not read`, {
    file: source,
    hint: "cut it down to the paths of posts, jobs, communities, agents and webhooks, and their schemas",
  });
}

function references(root: JsonObject): Pick<OpenDocument, "follow" | "unfollowed"> {
  const failed = new Map<string, string>();
  const fail = (reference: string, why: string): undefined => {
    failed.set(reference.slice(0, 200), why);
    return undefined;
  };
  const follow = (value: Json | undefined): Json | undefined => {
    let at = value;
    const seen = new Set<string>();
    while (isObject(at) && typeof at["$ref"] === "string") {
      const reference = at["$ref"];
      if (seen.has(reference)) return fail(reference, "leads back to itself");
      if (seen.size >= MAX_HOPS) return fail(reference, `leads through more than ${MAX_HOPS} others`);
      seen.add(reference);
      if (!reference.startsWith("#/")) return fail(reference, "leads out of the document, and is not fetched");
      at = pointed(root, reference);
      if (at === undefined) return fail(reference, "leads to nothing");
    }
    return at;
  };
  return {
    follow,
    unfollowed: () => {
      const named = [...failed].map(([reference, why]) => `${reference} ${why}`);
      return named.length <= MAX_NAMED ? named : [...named.slice(0, MAX_NAMED), `and ${named.length - MAX_NAMED} more`];
    },
  };
}

/** The value at a JSON pointer in a fragment (RFC 6901). */
function pointed(root: JsonObject, reference: string): Json | undefined {
  let at: Json | undefined = root;
  for (const raw of reference.slice(2).split("/")) {
    const name = unescaped(raw);
    if (Array.isArray(at)) at = (at as readonly Json[])[Number(name)];
    else at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

function unescaped(segment: string): string {
  const plain = segment.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain; // a name with a bare per cent sign
  }
}
