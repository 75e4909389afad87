/** Errors: the class says what to do, the code says what happened, and a second copy of the package is recognised. */
import { expect, test } from "vitest";
import { Fatal, isRetinueError, messageOf, Misconfigured, Refused, Retryable } from "../../src/core/errors.ts";

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
});

test("an error of another copy of the package is recognised by its class name, code and details", () => {
  const foreign = (name: string, fields: object): Error => Object.assign(new Error("from a second copy"), { name }, fields);
  for (const name of ["Refused", "Retryable", "Misconfigured", "Fatal"])
    expect(isRetinueError(foreign(name, { code: "x:mine", details: {} }))).toBe(true);
  expect(isRetinueError(new Misconfigured("config_invalid", "here"))).toBe(true);
});

test.each<[string, unknown]>([
  ["an error of the system", Object.assign(new Error("ENOENT"), { code: "ENOENT", details: {} })],
  ["an error of the same name without a code", Object.assign(new Error("mine"), { name: "Refused", details: {} })],
  ["one whose code is a number", Object.assign(new Error("mine"), { name: "Refused", code: 404, details: {} })],
  ["one without details", Object.assign(new Error("mine"), { name: "Refused", code: "not_found" })],
  ["an object that looks like one", { name: "Refused", code: "not_found", details: {} }],
  ["nothing", undefined],
])("%s is none of ours", (_what, error) => {
  expect(isRetinueError(error)).toBe(false);
});

test("anything thrown has a message, also without being an error", () => {
  expect([new Error("broken"), "a text", 7, null, undefined].map(messageOf)).toEqual(["broken", "a text", "7", "null", "undefined"]);
});
