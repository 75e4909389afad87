import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Outcome } from "../../src/contract/call.ts";
import { foreignCode } from "../../src/core/error-codes.ts";
import { Refused, Retryable } from "../../src/core/errors.ts";
import { MINUTE } from "../../src/core/units.ts";
import { isKeysFault, readError, readResult, whyUnread, type Unread } from "../../src/gateway/read-result.ts";

const of = (outcome: Outcome) => readResult({ kind: "answered", outcome });
const refusal = (status: number): Outcome => ({ class: "refused", status, code: foreignCode("no"), message: "nothing here" });
const unread = (result: ReturnType<typeof readResult>): Unread => {
  if (result.kind === "value") throw new Error("it was read");
  return result;
};
const thrown = (result: Unread) => (result.kind === "wait" ? undefined : readError(result, "posts.get"));

test("a complete answer is a value, and only 404 and 410 say that the object is gone", () => {
  const confirmed = { class: "confirmed", status: 200, items: [], body: [] } as const;
  expect(of(confirmed)).toEqual({ kind: "value", value: confirmed });
  expect([404, 410].map((status) => of(refusal(status)).kind)).toEqual(["gone", "gone"]);
  expect([400, 403, 405, 409, 422].map((status) => of(refusal(status)).kind)).toEqual(Array.from({ length: 5 }, () => "refused"));
});

test("no room is a time to wait for, and no failure", () => {
  const answer = { kind: "waits", until: MINUTE, rule: "paused", message: "paused: lunch", lane: "poll" } as const;
  expect(readResult(answer)).toEqual({ kind: "wait", until: MINUTE, message: "paused: lunch" });
});

test("a 429 and a 401 speak of the key, and not of what was asked", () => {
  const answers: readonly Outcome[] = [
    { class: "limited", status: 429, retryAfterMs: MINUTE },
    { class: "unauthorized", status: 401 },
  ];
  expect(answers.map((outcome) => unread(of(outcome)))).toEqual([
    { kind: "failed", code: "limited", message: "the network answered 429" },
    { kind: "failed", code: "unauthorized", message: "the network answered 401" },
  ]);
  expect(answers.map((outcome) => isKeysFault(unread(of(outcome))))).toEqual([true, true]);
  expect(isKeysFault(unread(of(refusal(403))))).toBe(false);
});

test("an incomplete read may be asked again, and a refused one is refused again", () => {
  const incomplete = [
    of({ class: "unknown", reason: "no answer within 30 s" }),
    of({ class: "never-left", reason: "no socket" }),
    of({ class: "pending", status: 202 }),
    readResult({ kind: "gone" }),
  ].map(unread);
  expect(incomplete.map((result) => (result.kind === "failed" ? result.code : result.kind))).toEqual([
    "read_failed",
    "read_failed",
    "read_pending",
    "read_lost",
  ]);
  expect(incomplete.map(thrown).every((error) => error instanceof Retryable)).toBe(true);
  const ours = unread(readResult({ kind: "refused", code: "not_in_tier", message: "the free tier lacks it" }));
  const theirs = unread(of(refusal(403)));
  expect([ours, theirs].map(whyUnread)).toEqual(["the free tier lacks it", "no: nothing here"]);
  expect([ours, theirs].map(thrown).every((error) => error instanceof Refused)).toBe(true);
  expect([ours, theirs].map((result) => thrown(result)?.message)).toEqual(["the free tier lacks it", "posts.get: nothing here"]);
});

test("nobody else takes an answer of the gateway apart, or says which status means gone", () => {
  const root = join(import.meta.dirname, "../../src");
  const files = globSync("{polling,outbox,webhooks,handlers,doctor}/**/*.ts", { cwd: root });
  const text = (file: string): string => readFileSync(join(root, file), "utf8");
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => /=== 410|\b410\]/.test(text(file)))).toEqual([]);
  expect(files.filter((file) => /answer\.kind === "waits"|answer\.outcome\.class/.test(text(file))).toSorted()).toEqual(["outbox/send.ts"]);
});
