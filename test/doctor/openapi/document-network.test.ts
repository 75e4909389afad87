/** The network made of a document: each documented read is answered as the document says, and everything else refused in its form. */
import { expect, test } from "vitest";
import { parseJson } from "../../../src/core/json.ts";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { documentNetwork } from "../../../src/doctor/openapi/document-network.ts";
import { apiDocument, inJson, objectOf, TEXT } from "../../harness/api-document.ts";

const NOTE = objectOf({ id: TEXT, msg: TEXT });
const DOCUMENT = apiDocument({
  "/notes": { get: { responses: { 200: inJson({ type: "array", items: NOTE }) } } },
  "/notes/mine": { get: { responses: { 203: inJson(objectOf({ mine: { type: "boolean" } })) } } },
  "/notes/{noteId}": { get: { responses: { 200: inJson(NOTE), 404: inJson(objectOf({ fault: TEXT })) } } },
});

async function asked(path: string, method: "GET" | "POST" = "GET") {
  const network = documentNetwork(DOCUMENT, apiOperations(DOCUMENT), "https://api.example.com/v1");
  const answer = await network({ method, origin: "https://api.example.com", path, headers: {}, deadlineMs: 1 });
  if (answer.kind !== "answer") throw new Error(answer.reason);
  return { status: answer.status, body: parseJson(answer.text) };
}

test("a list answers with objects, and each of its ids with that object", async () => {
  const { status, body } = await asked("/v1/notes?limit=2");
  expect([status, body]).toMatchObject([200, [{ id: "id-0" }, { id: "id-1" }, { id: "id-2" }]]);
  for (const id of ["id-0", "id-1", "id-2"]) expect(await asked(`/v1/notes/${id}`)).toMatchObject({ status: 200, body: { id } });
});

test("an id that the list did not give is refused in the document's own form", async () => {
  expect(await asked("/v1/notes/id-3")).toEqual({ status: 404, body: { fault: "fault-0" } });
});

test("a fixed path counts before one with a parameter", async () => {
  expect(await asked("/v1/notes/mine")).toEqual({ status: 203, body: { mine: true } });
});

test("a path or method that is not documented is no part of the network", async () => {
  expect(await asked("/v1/quests")).toMatchObject({ status: 405 });
  expect(await asked("/v1/notes/a/b")).toMatchObject({ status: 405 });
  expect(await asked("/v1/notes", "POST")).toMatchObject({ status: 405 });
});
