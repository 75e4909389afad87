/** A lost store is known by its class and its code together. */
import { expect, test } from "vitest";
import { Fatal, Retryable } from "../../src/core/errors.ts";
import { isStoreLost } from "../../src/store/store-lost.ts";

test("only a fatal error of this code says that the store is lost", () => {
  const errors = [
    new Fatal("store_lost", "x"),
    new Fatal("unexpected", "x"),
    new Retryable("store_lost", "x"),
    { code: "store_lost" },
    undefined,
  ];
  expect(errors.map(isStoreLost)).toEqual([true, false, false, false, false]);
});
