/** A document is read within bounds, its references are followed inside it alone, and everything else is refused with advice. */
import { describe, expect, test } from "vitest";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";

test("references are followed inside the document, through others and escaped names, and those that cannot be are named", () => {
  const schemas = { A: { $ref: "#/x/B" }, B: { $ref: "#/x/a~1b%20c" }, "a/b c": { type: "string" }, Loop: { $ref: "#/x/Loop" } };
  const { follow, unfollowed, version } = openDocument(JSON.stringify({ openapi: "3.0.1", paths: {}, x: schemas }), "x.json");
  expect(version).toBe("3.0.1");
  expect(follow({ $ref: "#/x/A" })).toEqual({ type: "string" });
  expect(follow({ type: "integer" })).toEqual({ type: "integer" });
  for (const reference of ["#/x/Loop", "#/x/None", "#/x/__proto__", "other.yaml#/x", "https://elsewhere.example/x.json"])
    expect(follow({ $ref: reference })).toBeUndefined();
  expect(unfollowed()).toEqual([
    "#/x/Loop leads back to itself",
    "#/x/None leads to nothing",
    "#/x/__proto__ leads to nothing",
    "other.yaml#/x leads out of the document, and is not fetched",
    "https://elsewhere.example/x.json leads out of the document, and is not fetched",
  ]);
});

describe("a document that is none is refused with what it is", () => {
  const bomb = `openapi: 3.1.0\npaths: {}\na: &a [1,1,1,1,1,1,1,1,1]\n${"bcdefgh"
    .split("")
    .map(
      (name, i) =>
        `${name}: &${name} [${Array(9)
          .fill(`*${"abcdefg"[i] ?? "a"}`)
          .join(",")}]`,
    )
    .join("\n")}\n`;
  test.each<[string, string, string, RegExp]>([
    ["a web page", "<!doctype html><html>", "openapi_invalid", /web page/],
    ["a YAML bomb", bomb, "openapi_invalid", /alias/i],
    ["no JSON", '{"openapi": "3.1.0", ', "openapi_invalid", /is not JSON/],
    ["a list", "- a\n- b\n", "openapi_invalid", /holds no object/],
    ["no version", "paths: {}\n", "openapi_invalid", /states no version/],
    ["another version", "openapi: 4.0.0\npaths: {}\n", "openapi_invalid", /version of OpenAPI is not known/],
    ["no paths", "openapi: 3.1.0\n", "openapi_invalid", /has no paths/],
    ["a novel", `openapi: 3.1.0\npaths: {}\nx: "${"a".repeat(5_000_000)}"\n`, "openapi_too_large", /more than/],
    ["a deep nest", `{"openapi":"3.1.0","paths":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, "openapi_invalid", /nested deeper/],
  ])("%s", (_, document, code, says) => {
    expect(() => openDocument(document, "x.yaml")).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(says) as string }),
    );
  });
});
