/** The end of an attempt, as the quota counts it. */
import { expect, test } from "vitest";
import type { Outcome } from "../../src/contract/call.ts";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { endOf } from "../../src/gateway/attempt-end.ts";
import type { Attempt } from "../../src/outbox/intent.ts";

const attempt: Attempt = {
  specialist: asHandle("scout"),
  operation: "posts.list",
  seq: 7,
  keyId: asKeyId("k"),
  lane: "poll",
  cost: 2,
  startedAt: 10,
  deadlineAt: 40,
};

test.each<[Outcome, string]>([
  [{ class: "never-left", reason: "ECONNREFUSED" }, "never-left"],
  [{ class: "limited", status: 429 }, "limited"],
  [{ class: "unknown", reason: "ECONNRESET" }, "lost"],
  [{ class: "confirmed", status: 200, body: undefined }, "answered"],
  [{ class: "refused", status: 422, code: "input_invalid", message: "no" }, "answered"],
  [{ class: "unauthorized", status: 401 }, "answered"],
])("%j ends it as %s", (outcome, ending) => {
  expect(endOf(attempt, outcome)).toEqual({ key: "k", attempt: 7, lane: "poll", cost: 2, admittedAt: 10, deadlineAt: 40, ending });
});

test("the wait and the remaining requests that an answer states are handed on", () => {
  const limited: Outcome = { class: "limited", status: 429, retryAfterMs: 5_000, limits: { remaining: 0 } };
  expect(endOf(attempt, limited)).toMatchObject({ ending: "limited", retryAfterMs: 5_000, hints: { remaining: 0 } });
});
