/** Words for a schema's refusal: each follows "expected", and none is the library's own. */
import { expect, test } from "vitest";
import { z } from "zod";
import { expectation } from "../../../src/contract/profile/expectation.ts";

function wordsFor(schema: z.ZodType, value: unknown): string {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue === undefined) throw new Error("expected the schema to refuse the value");
  return expectation(issue);
}

test.each<[string, z.ZodType, unknown]>([
  ["a text", z.string(), 7],
  ["a whole number", z.int(), 1.5],
  ["true or false", z.boolean(), "yes"],
  ["keys with values", z.object({}), []],
  ["a list", z.array(z.string()), {}],
  ["nothing", z.null(), 1],
  ["stop", z.literal("stop"), "go"],
  ["one of note, slow, stop", z.enum(["note", "slow", "stop"]), "halt"],
  ["at least 3 characters", z.string().min(3), "ab"],
  ["at most 2 entries", z.array(z.string()).max(2), ["a", "b", "c"]],
  ["more than 0", z.number().positive(), 0],
  ["less than 10", z.number().lt(10), 10],
  ["a text, or a list", z.union([z.string(), z.array(z.string())]), 7],
  ["a number", z.union([z.number(), z.number().positive()]), "x"],
  ["at least 2 characters", z.record(z.string().min(2), z.string()), { a: "x" }],
  ["a date such as 2026-11-01", z.string().refine(() => false, "expected a date such as 2026-11-01"), "x"],
  ["hours", z.string("expected hours"), 7],
])("expected %s", (words, schema, value) => {
  expect(wordsFor(schema, value)).toBe(words);
});
