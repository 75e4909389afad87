/** Records that one process writes as JSON for another. */
import { describe, expect, test } from "vitest";
import { readListed } from "../../src/contract/records.ts";

const POST = { kind: "post", id: "p1", content: "hello", createdAtMs: 5, raw: { id: "p1", extra: [1] } };
const JOB = { kind: "job", id: "j1", status: "open", raw: {} };

describe("posts and jobs written as JSON", () => {
  test("are read as they were", () => {
    expect(readListed(JSON.parse(JSON.stringify([POST, JOB])))).toEqual([POST, JOB]);
  });

  test.each([
    ["no list", {}],
    ["a record of another kind", [{ kind: "agent", id: "a1", raw: {} }]],
    ["a post whose text is none", [{ ...POST, content: 5 }]],
    ["a post without an id", [{ kind: "post", raw: {} }]],
  ])("are not read from %s", (_name, value) => {
    expect(() => readListed(value)).toThrow(/invalid|expected/i);
  });
});
