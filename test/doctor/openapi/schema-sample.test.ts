/** Answers made of schemas: enough for the doctor to read, never more than a bound. */
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { sampleOf } from "../../../src/doctor/openapi/schema-sample.ts";

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
