/** Fields without a value are left out, and nothing else is. */
import { expect, test } from "vitest";
import { defined } from "../../src/core/defined.ts";

test("only what is undefined is left out", () => {
  const limit: number | undefined = [5].find((one) => one > 9);
  const kept: { readonly kind: "log"; readonly limit?: number; readonly handle: string | null } = defined({
    kind: "log",
    limit,
    handle: null,
  });
  expect(Object.keys(kept)).toEqual(["kind", "handle"]);
  expect(defined({ zero: 0, empty: "", no: false, nothing: null })).toStrictEqual({ zero: 0, empty: "", no: false, nothing: null });
});

test("a field of foreign JSON never becomes a prototype", () => {
  const fields = JSON.parse('{"__proto__": {"admin": true}, "a": 1}') as { readonly a: number };
  expect(Object.getPrototypeOf(defined(fields))).toBe(Object.prototype);
});
