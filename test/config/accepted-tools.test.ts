/** The file of accepted tools: read as it was written, and refused if it is anything else. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { acceptedFile, readAccepted, writeAccepted } from "../../src/config/accepted-tools.ts";
import { project } from "../harness/project.ts";

const PRINT = `sha256:${"a".repeat(64)}`;

test("it is read as it was written, in order of names, and a project without one has accepted nothing", () => {
  const { root } = project();
  expect(readAccepted(root).size).toBe(0);
  writeAccepted(
    root,
    new Map([
      ["b/two", PRINT],
      ["a/one", PRINT],
    ]),
  );
  expect([...readAccepted(root)]).toEqual([
    ["a/one", PRINT],
    ["b/two", PRINT],
  ]);
  expect(readFileSync(acceptedFile(root), "utf8").split("\n")).toHaveLength(8);
});

test.each([
  ["no JSON", "{"],
  ["another version", JSON.stringify({ version: 2, tools: {} })],
  ["a fingerprint that is none", JSON.stringify({ version: 1, tools: { "a/one": "yes" } })],
])("a file with %s is refused with its name", (_name, text) => {
  const { root } = project({ "retinue.tools.json": text });
  expect(() => readAccepted(root)).toThrow(
    expect.objectContaining({
      code: "tools_unreadable",
      details: expect.objectContaining({ file: acceptedFile(root) }) as object,
    }) as Error,
  );
});
