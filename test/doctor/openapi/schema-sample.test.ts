/** Answers made of schemas: enough for the doctor to read, never more than a bound. */
import { describe, expect, test } from "vitest";
import { type Json, isObject, type JsonObject } from "../../../src/core/json.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { sampleOf, merged, typeOf } from "../../../src/doctor/openapi/schema-sample.ts";
import { apiDocument, objectOf, TEXT } from "../../harness/api-document.ts";

describe("its rules", () => {
  const none = apiDocument({});
  const sample = (schema: Json, variant = 0): Json | undefined => sampleOf(none, schema, variant);

  test.each<[string, JsonObject, Json | undefined]>([
    ["id", TEXT, "id-0"],
    ["content", TEXT, "A text of some length under content 0."],
    ["createdAt", TEXT, "2026-01-05T09:00:00.000Z"],
    ["created_at", { type: "integer" }, 1_767_603_600],
    ["created_at", { type: "integer", description: "in milliseconds" }, 1_767_603_600_000],
    ["at", { type: "integer", example: 1_767_603_600_001 }, 1_767_603_600_000],
    ["homeUrl", TEXT, "https://example.com/0"],
    ["price", { type: "string", example: "12.50" }, "1.00"],
    ["own_vote", TEXT, "up"],
    ["count", { type: "number" }, 1],
    ["done", { type: "boolean" }, true],
    ["phase", { enum: [null, "looking", "taken"] }, "looking"],
    ["maybe", { type: ["null", "boolean"] }, true],
    ["data", { example: { a: 1 } }, { a: 1 }],
    ["odd", {}, undefined],
  ])("a member %s of %j is %j", (name, schema, expected) => {
    expect(sample(objectOf({ [name]: schema }))).toEqual({ [name]: expected });
  });

  test("a list has three objects that differ, and a variant is one of them", () => {
    const item = objectOf({ id: TEXT, at: { type: "string", format: "date-time" } });
    const list = sample({ type: "array", items: item });
    expect(list).toEqual([sample(item, 0), sample(item, 1), sample(item, 2)]);
    expect(new Set((list as JsonObject[]).map(({ id }) => id)).size).toBe(3);
  });

  test("parts are one schema: all of `allOf`, the fullest choice, and the whole before its parts", () => {
    const whole = merged(none, {
      properties: { a: { type: "integer" } },
      required: ["a"],
      allOf: [{ properties: { a: TEXT, b: TEXT }, required: ["b"] }],
      oneOf: [{ type: "null" }, objectOf({ c: TEXT }), objectOf({ c: TEXT, d: TEXT })],
    });
    expect(Object.keys(isObject(whole?.["properties"]) ? whole["properties"] : {}).toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(whole).toMatchObject({ properties: { a: { type: "integer" } } });
    expect(whole?.["required"]).toEqual(expect.arrayContaining(["a", "b"]));
  });

  test("a schema says nothing where there is none, and its members tell a type that it does not state", () => {
    expect([sample("no schema"), sampleOf(none, undefined), merged(none, [])]).toEqual([undefined, undefined, undefined]);
    expect([typeOf({ properties: {} }), typeOf({ items: {} }), typeOf({})]).toEqual(["object", "array", undefined]);
  });

  test("a schema that contains itself ends, in depth and in breadth", () => {
    const schemas = {
      Deep: objectOf({ id: TEXT, child: { $ref: "#/components/schemas/Deep" } }),
      Wide: objectOf(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, { $ref: "#/components/schemas/Wide" }]))),
      Round: { allOf: [{ $ref: "#/components/schemas/Round" }] },
    };
    const document = apiDocument({}, { components: { schemas } });
    const text = (name: string): string => JSON.stringify(sampleOf(document, { $ref: `#/components/schemas/${name}` })) ?? "";
    expect(text("Deep").match(/"id"/g)).toHaveLength(8);
    expect(text("Wide").length).toBeLessThan(40_000);
    expect(text("Round")).toBe("");
  });
});

describe("habits of networks", () => {
  const sample = (schema: Json, variant = 0, components: Json = {}): Json | undefined =>
    sampleOf(openDocument(JSON.stringify({ openapi: "3.1.0", paths: {}, components }), "x.json"), schema, variant);

  test("ids differ, texts have words, times are times in their own form, and null is a last resort", () => {
    const properties = {
      id: { type: "string" },
      nr: { type: "integer" },
      body: { type: ["null", "string"] },
      created_at: { type: "string" },
      made: { type: "integer", examples: [1_767_603_600] },
      due: { type: "integer", examples: [1_767_603_600_000] },
      fee: { type: "string", examples: ["12.50"] },
      state: { enum: [null, "open", "taken"] },
    };
    const list = sample({ type: "array", items: { type: "object", properties } }) as Json[];
    expect(list).toHaveLength(3);
    expect(list[0]).toMatchObject({ id: "id-0", nr: 1, body: expect.stringContaining(" ") as string, state: "open", fee: "1.00" });
    expect(list[1]).toMatchObject({ id: "id-1", nr: 2, state: "taken" });
    expect(list[0]).toMatchObject({ created_at: "2026-01-05T09:00:00.000Z", made: 1_767_603_600, due: 1_767_603_600_000 });
  });

  test("allOf is one object, and of oneOf and anyOf the fullest counts", () => {
    const named = { type: "object", properties: { name: { type: "string" } } };
    const schema = {
      allOf: [
        named,
        {
          oneOf: [
            { type: "null" },
            { properties: { a: { type: "boolean" } } },
            { properties: { a: { type: "boolean" }, b: { type: "boolean" } } },
          ],
        },
      ],
    };
    expect(sample(schema)).toEqual({ name: "name-0", a: true, b: true });
  });

  test("a schema that contains itself ends, and one that multiplies is cut", () => {
    const components = {
      P: { type: "object", properties: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, { $ref: "#/components/P" }])) },
    };
    const text = JSON.stringify(sample({ $ref: "#/components/P" }, 0, components));
    expect(text.length).toBeGreaterThan(10);
    expect(text.length).toBeLessThan(200_000);
  });
});
