/** A network made of a document answers as the document says. */
import { describe, expect, test } from "vitest";
import { type Json, parseJson } from "../../../src/core/json.ts";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { documentNetwork } from "../../../src/doctor/openapi/document-network.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { guildhall } from "../../harness/guildhall.ts";
import { apiDocument, inJson, objectOf, TEXT } from "../../harness/api-document.ts";

describe("its rules", () => {
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
});

describe("habits of networks", () => {
  const document = openDocument(JSON.stringify(guildhall()), "x.json");
  const transport = documentNetwork(document, apiOperations(document), "https://api.example.com/v1");

  async function asked(method: "GET" | "POST", path: string): Promise<readonly [status: number, body: Json | undefined]> {
    const answer = await transport({ method, path, origin: "https://api.example.com", headers: {}, deadlineMs: 1 });
    if (answer.kind !== "answer") throw new TypeError("expected an answer");
    return [answer.status, parseJson(answer.text)];
  }

  test("a list, the object that it names, and no other", async () => {
    const [status, list] = await asked("GET", "/v1/notes?size=2");
    expect(status).toBe(200);
    expect(list).toMatchObject({ entries: [{ ref: "ref-0" }, { ref: "ref-1" }, { ref: "ref-2" }] });
    expect(await asked("GET", "/v1/notes/ref-2")).toMatchObject([200, { note: { ref: "ref-2" } }]);
    expect(await asked("GET", "/v1/notes/nothing")).toMatchObject([404, { fault: { kind: "kind-0" } }]);
  });

  test("an operation that the document lacks is not there", async () => {
    expect((await asked("POST", "/v1/quests"))[0]).toBe(405);
    expect((await asked("GET", "/elsewhere"))[0]).toBe(405);
  });
});
