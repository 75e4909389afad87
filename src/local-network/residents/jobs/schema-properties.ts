/** The properties that the documents of the schema task are made of: how each is valid, and how it can fail. */
import type { Json } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import { between, sample } from "./job-draft.ts";
import { CITIES, FIRST_NAMES, PRODUCTS, WORDS } from "./vocabulary.ts";

export interface Fault {
  readonly value: (random: Random) => Json;
  /** Each failing place, relative to the property, with its keyword. */
  readonly failures: readonly (readonly [string, string])[];
}

export interface Property {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Json;
  readonly valid: (random: Random) => Json;
  readonly faults: readonly [Fault, ...Fault[]];
}

/** A fault of the value itself. */
function fault(keyword: string, ...values: readonly [Json, ...Json[]]): Fault {
  return { value: (random) => random.pick(values), failures: [["", keyword]] };
}

function tags(random: Random, count: number): string[] {
  return sample(random, PRODUCTS, count);
}

function address(random: Random): { street: string; city: string; zip: string } {
  return {
    street: `${random.pick(WORDS)} street ${between(random, 1, 200)}`,
    city: random.pick(CITIES),
    zip: String(between(random, 10_000, 99_999)),
  };
}

function line(random: Random): { sku: string; count: number } {
  return { sku: `${random.pick(["A", "B", "C"])}${between(random, 100, 999)}`, count: between(random, 1, 99) };
}

export const PROPERTIES: readonly Property[] = [
  {
    name: "id",
    required: true,
    schema: { type: "string", pattern: "^[A-Z]{3}-[0-9]{4,6}$" },
    valid: (random) => `${random.pick(["ABC", "QRS", "XYZ"])}-${between(random, 1_000, 999_999)}`,
    faults: [fault("pattern", "abc-1234", "ABC-123", "ABC-12345678", " ABC-1234", ""), fault("type", 1234, null)],
  },
  {
    name: "quantity",
    required: true,
    schema: { type: "integer", minimum: 1, maximum: 500 },
    valid: (random) => between(random, 1, 500),
    faults: [fault("minimum", 0, -3), fault("maximum", 501, 90_000), fault("type", "3", 2.5, true)],
  },
  {
    name: "price",
    required: true,
    schema: { type: "number", minimum: 0.01, maximum: 10_000 },
    valid: (random) => between(random, 1, 1_000_000) / 100,
    faults: [fault("minimum", 0, -0.5), fault("maximum", 10_000.01), fault("type", "12.50", null)],
  },
  {
    name: "status",
    required: true,
    schema: { enum: ["open", "paid", "void", null] },
    valid: (random) => random.pick(["open", "paid", "void", null]),
    faults: [fault("enum", "Open", "closed", "", 0, false)],
  },
  {
    name: "email",
    required: false,
    schema: { type: "string", minLength: 6, maxLength: 30 },
    valid: (random) => `${random.pick(PRODUCTS)}@example.com`,
    faults: [
      fault("minLength", "a@b.c", "", "🙂🙂🙂"),
      fault("maxLength", "somebody.with.a.long.name@example.com"),
      fault("type", ["a@example.com"], 7),
    ],
  },
  {
    name: "nickname",
    required: false,
    schema: { type: "string", minLength: 2, maxLength: 12 },
    valid: (random) => random.pick([...FIRST_NAMES, "🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊", "zoë🙂"]),
    faults: [fault("minLength", "", "x", "🙂"), fault("maxLength", "thirteen chars", "🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊"), fault("type", false)],
  },
  {
    name: "active",
    required: false,
    schema: { type: "boolean" },
    valid: (random) => random.pick([true, false]),
    faults: [fault("type", "true", 0, null)],
  },
  {
    name: "note",
    required: false,
    schema: { type: ["string", "null"], maxLength: 60 },
    valid: (random) => random.pick([null, "", random.pick(WORDS)]),
    faults: [fault("type", 5, {}), fault("maxLength", "a note that goes on and on, well past what the schema allows it")],
  },
  {
    name: "phone",
    required: false,
    schema: { type: "string", pattern: "[0-9]{3}" },
    valid: (random) => `+${between(random, 10, 99)} ${between(random, 100, 9_999_999)}`,
    faults: [fault("pattern", "12-34-56", "none", "")],
  },
  {
    name: "tags",
    required: true,
    schema: { type: "array", items: { type: "string", minLength: 3 }, minItems: 1, maxItems: 5, uniqueItems: true },
    valid: (random) => tags(random, between(random, 1, 5)),
    faults: [
      fault("minItems", []),
      fault("type", "cable", { 0: "cable" }),
      { value: (random) => tags(random, 6), failures: [["", "maxItems"]] },
      { value: (random) => ["cable", ...tags(random, 2).filter((tag) => tag !== "cable"), "cable"], failures: [["", "uniqueItems"]] },
      {
        value: () => ["cable", 3, "x"],
        failures: [
          ["/1", "type"],
          ["/2", "minLength"],
        ],
      },
    ],
  },
  {
    name: "address",
    required: false,
    schema: {
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string", minLength: 3 }, zip: { type: "string", pattern: "^[0-9]{5}$" } },
      required: ["street", "city"],
      additionalProperties: false,
    },
    valid: address,
    faults: [
      fault("type", "1 High Street", null, []),
      { value: (random) => ({ ...address(random), zip: random.pick(["1234", "123456", "ABCDE"]) }), failures: [["/zip", "pattern"]] },
      { value: (random) => ({ ...address(random), country: "NL" }), failures: [["/country", "additionalProperties"]] },
      {
        value: () => ({ zip: "12345" }),
        failures: [
          ["/city", "required"],
          ["/street", "required"],
        ],
      },
      {
        value: () => ({ street: 5, city: "Ur" }),
        failures: [
          ["/city", "minLength"],
          ["/street", "type"],
        ],
      },
    ],
  },
  {
    name: "lines",
    required: true,
    schema: {
      type: "array",
      items: {
        type: "object",
        properties: { sku: { type: "string", pattern: "^[A-C][0-9]{3}$" }, count: { type: "integer", minimum: 1 } },
        required: ["sku", "count"],
      },
      minItems: 1,
    },
    valid: (random) => Array.from({ length: between(random, 1, 4) }, () => line(random)),
    faults: [
      fault("minItems", []),
      { value: (random) => [line(random), { ...line(random), count: 0 }], failures: [["/1/count", "minimum"]] },
      { value: (random) => [{ ...line(random), sku: "D100" }], failures: [["/0/sku", "pattern"]] },
      {
        value: (random) => [line(random), line(random), { count: 1.5 }],
        failures: [
          ["/2/count", "type"],
          ["/2/sku", "required"],
        ],
      },
      { value: (random) => [line(random), null], failures: [["/1", "type"]] },
    ],
  },
];
