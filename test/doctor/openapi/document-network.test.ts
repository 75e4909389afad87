/** A network made of a document answers as the document says. */
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { parseJson } from "../../../src/core/json.ts";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { documentNetwork } from "../../../src/doctor/openapi/document-network.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { guildhall } from "../../harness/guildhall.ts";

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

test("what the document does not have is not there", async () => {
  expect((await asked("POST", "/v1/quests"))[0]).toBe(405);
  expect((await asked("GET", "/elsewhere"))[0]).toBe(405);
});
