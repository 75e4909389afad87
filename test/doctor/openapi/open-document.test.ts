/** A document is read within bounds, its references are followed inside it alone, and everything else is refused with advice. */
import { describe, expect, test } from "vitest";
import { openDocument, MAX_DOCUMENT_BYTES } from "../../../src/doctor/openapi/open-document.ts";
import type { JsonObject } from "../../../src/core/json.ts";

describe("its rules", () => {
  const opened = (more: JsonObject = {}) => openDocument(JSON.stringify({ openapi: "3.1.0", paths: {}, ...more }), "openapi.json");

  test.each(["2.0", "3.0.3", "3.1.0", "3.2.0"])("version %s is read, in JSON and in YAML", (version) => {
    const key = version === "2.0" ? "swagger" : "openapi";
    expect(openDocument(JSON.stringify({ [key]: version, paths: {} }), "x.json").version).toBe(version);
    expect(openDocument(`${key}: "${version}"\npaths: {}\n`, "x.yaml").version).toBe(version);
  });

  test("a document of exactly the bound is read, and one byte more is not", () => {
    const empty = '{"openapi":"3.1.0","paths":{}}';
    const whole = empty + " ".repeat(MAX_DOCUMENT_BYTES - empty.length);
    expect(openDocument(whole, "x.json").version).toBe("3.1.0");
    expect(() => openDocument(`${whole} `, "x.json")).toThrow(expect.objectContaining({ code: "openapi_too_large" }));
  });

  test("a reference leads to its value, through others, lists and escaped names", () => {
    const { follow, unfollowed } = opened({ a: { $ref: "#/list/1" }, list: [0, { $ref: "#/a~1b~0c%20d" }], "a/b~c d": { here: true } });
    expect(follow({ $ref: "#/a" })).toEqual({ here: true });
    expect([follow(7), follow(undefined)]).toEqual([7, undefined]);
    expect(unfollowed()).toEqual([]);
  });

  test.each([
    ["to nothing", "#/none", "leads to nothing"],
    ["into what every object has", "#/constructor", "leads to nothing"],
    ["back to itself", "#/round", "leads back to itself"],
    ["out of the document", "https://elsewhere.example/a.json#/b", "leads out of the document, and is not fetched"],
    ["through more than twenty others", "#/chain/0", "leads through more than 20 others"],
  ])("a reference that leads %s is undefined, and named", (_, reference, why) => {
    const chain = Array.from({ length: 30 }, (__, n) => ({ $ref: `#/chain/${n + 1}` }));
    const { follow, unfollowed } = opened({ round: { $ref: "#/round" }, chain });
    expect(follow({ $ref: reference })).toBeUndefined();
    expect(unfollowed()).toMatchObject([expect.stringContaining(why)]);
  });

  test("of many references that cannot be followed five are named, and the others counted", () => {
    const { follow, unfollowed } = opened();
    for (let n = 0; n < 9; n++) follow({ $ref: `#/none${n}` });
    expect(unfollowed()).toHaveLength(6);
    expect(unfollowed().at(-1)).toBe("and 4 more");
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
});

describe("habits of networks", () => {
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
});
