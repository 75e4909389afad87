/** Refusals of a network: code and message at the places of its profile, and no success is taken for one. */
import { describe, expect, test } from "vitest";
import { resolveProfile, shippedProfile } from "../../../src/contract/profile/profile.ts";
import { errorReader } from "../../../src/contract/reading/network-error.ts";
import type { Json } from "../../../src/core/json.ts";

const errors = errorReader(shippedProfile("b"));

test.each<[Json, object | undefined]>([
  [{ error: { code: "not_found", message: "There is no such post." } }, { code: "not_found", message: "There is no such post." }],
  [{ error: { message: "Only words." } }, { code: undefined, message: "Only words." }],
  [{ error: { code: "not_found" } }, { code: "not_found", message: "not_found" }],
  [{ error: { code: 1203 } }, { code: "1203", message: "1203" }],
  [{ message: "plain" }, { code: undefined, message: "plain" }],
  [
    { type: "about:blank", title: "Not Found", detail: "No such post" },
    expect.objectContaining({ message: expect.any(String) as string }) as object,
  ],
  [{ error: { code: "a sentence is no code", message: "" } }, undefined],
  [{ error: { code: "x".repeat(101) } }, undefined],
  [{ error: null }, undefined],
  [{}, undefined],
  [[], undefined],
  ["not_found", undefined],
  [null, undefined],
])("%j", (body, said) => {
  expect(errors.read(body)).toEqual(said);
});

test("an endless message is cut", () => {
  expect(errors.read({ error: { message: "x".repeat(5_000) } })?.message).toHaveLength(1_000);
});

test("no body is no refusal", () => {
  expect([errors.read(undefined), errors.failed(undefined), errors.stated(undefined), errors.pending(undefined)]).toEqual([
    undefined,
    false,
    false,
    undefined,
  ]);
});

test("a stated error is anything in the place of one: an empty place is none", () => {
  const isStated = (error: Json): boolean => errors.stated({ id: "p1", error });
  expect([{ code: "x" }, "words", ["x"], 1, true].map(isStated)).toEqual([true, true, true, true, true]);
  expect([null, "", {}, [], 0, false].map(isStated)).toEqual([false, false, false, false, false, false]);
});

describe("a profile's own words", () => {
  const own = errorReader(
    resolveProfile({
      extends: "set-b",
      errors: { failed: ["ok", "meta.success"], retryAfter: ["wait.seconds"] },
      pending: { at: ["state"], words: ["Needs-Review"], reference: ["ticket"] },
    }),
  );

  test("a plain false where success stands is a failure, and no other value is", () => {
    expect([{ ok: false }, { meta: { success: false } }].map((body) => own.failed(body))).toEqual([true, true]);
    expect([{ ok: true }, { ok: null }, { ok: 0 }, { ok: "false" }, {}].map((body) => own.failed(body))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  test("a decision of the Guardian is known by its word, however it is written, with its reference if it has one", () => {
    expect(own.pending({ state: "needs_review", ticket: 12 })).toEqual({ reference: "12" });
    expect(own.pending({ state: "NEEDS REVIEW", ticket: "more than one word" })).toEqual({});
    expect([own.pending({ state: "done", ticket: 12 }), own.pending({ state: true })]).toEqual([undefined, undefined]);
  });

  test("the wait is read where the profile says", () => {
    expect([own.retryAfter({ wait: { seconds: 5 } }), own.retryAfter({ wait: {} })]).toEqual([5, undefined]);
  });
});
