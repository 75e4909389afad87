/** Errors: the class says what to do, the code says what happened, and a second copy of the package is recognised. */
import { expect, test } from "vitest";
import type * as Errors from "../../src/core/errors.ts";
import {
  errorClass,
  Fatal,
  isRetinueError,
  messageOf,
  Misconfigured,
  Refused,
  Retryable,
  RetinueError,
  retryTime,
} from "../../src/core/errors.ts";

test("an error keeps its code, its details and its cause, and has the name of its class", () => {
  const cause = new Error("the disk is full");
  const error = new Fatal("store_lost", "the store is lost", { cause, hint: "free some space" });
  expect(error).toMatchObject({
    name: "Fatal",
    code: "store_lost",
    message: "the store is lost",
    cause,
    details: { hint: "free some space" },
  });
  expect(Object.hasOwn(new Refused("not_found", "none"), "cause")).toBe(false);
});

test("only a retryable error states a time, and it may state none", () => {
  expect(new Retryable("read_lost", "later", { retryAt: 5 }).retryAt).toBe(5);
  expect(new Retryable("read_lost", "later").retryAt).toBeUndefined();
  expect([retryTime(new Retryable("read_lost", "later", { retryAt: 5 })), retryTime(new Retryable("read_lost", "later"))]).toEqual([
    5,
    undefined,
  ]);
  expect(retryTime(Object.assign(new Error("mine"), { retryAt: 5 }))).toBeUndefined();
});

test("an error of another copy of the package is recognised, and so is a class derived from it", async () => {
  const address = "../../src/core/errors.ts?second-copy";
  const other: typeof Errors = await import(address);
  class ProfileInvalid extends other.Misconfigured {}
  const invalid: unknown = new ProfileInvalid("profile_invalid", "here");
  expect(invalid instanceof RetinueError).toBe(false);
  expect(isRetinueError(invalid) && errorClass(invalid)).toBe("Misconfigured");
  expect([retryTime(new other.Retryable("read_lost", "later", { retryAt: 5 })), retryTime(invalid)]).toEqual([5, undefined]);
  for (const Class of [Refused, Retryable, Misconfigured, Fatal]) expect(errorClass(new Class("not_found", "none"))).toBe(Class.name);
});

test.each<[string, unknown]>([
  ["an error of the system", Object.assign(new Error("ENOENT"), { code: "ENOENT", details: {} })],
  ["an error of the same name without a code", Object.assign(new Error("mine"), { name: "Refused", details: {} })],
  ["one that has the name, a code and details", Object.assign(new Error("mine"), { name: "Refused", code: "not_found", details: {} })],
  ["an object that looks like one", { name: "Refused", code: "not_found", details: {} }],
  ["nothing", undefined],
])("%s is none of ours", (_what, error) => {
  expect(isRetinueError(error)).toBe(false);
});

test("anything thrown has a message, also without being an error", () => {
  expect([new Error("broken"), "a text", 7, null, undefined].map(messageOf)).toEqual(["broken", "a text", "7", "null", "undefined"]);
});
