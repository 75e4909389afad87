/** Approvals: bound to one payload, one amount and a time; "no" by default. */
import { describe, expect, test } from "vitest";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { credits, DAY, HOUR, SECOND } from "../../src/core/units.ts";
import { answerBy, approved, changedSince, isShownHash, payloadHash, shownHash, type Approval } from "../../src/limits/approvals.ts";
import { openTables } from "../harness/limit-tables.ts";

const T0 = Date.UTC(2026, 2, 1);
const SCOUT = asHandle("scout");
const INTENT = asIntentId("i000000000000001");

const approval = (changes: Partial<Approval> = {}): Approval => ({
  intent: INTENT,
  payloadHash: "abc",
  amount: undefined,
  state: "approved",
  askedAt: T0 - HOUR,
  decidedAt: T0 - SECOND,
  expiresAt: T0 + DAY,
  reason: undefined,
  ...changes,
});

describe("approvals", () => {
  const action = { intent: INTENT, payloadHash: "abc", worst: undefined };
  test.each([
    ["another payload", approval({ payloadHash: "abd" }), "approval_changed"],
    ["another intent", approval({ intent: asIntentId("i2") }), "approval_other"],
    ["too late", approval({ expiresAt: T0 }), "approval_expired"],
    ["an unanswered question past its time", approval({ state: "asked", expiresAt: T0 - 1 }), "approval_expired"],
    ["a no", approval({ state: "rejected" }), "approval_rejected"],
    ["not asked", undefined, "approval_wanted"],
    ["not answered", approval({ state: "asked" }), "approval_wanted"],
  ])("%s is not approved", (_name, given, code) => {
    expect(approved(given, action, T0)).toMatchObject({ ok: false, code });
  });

  test("a yes covers its amount and nothing above, nor another currency, nor money it did not mention", () => {
    const costs = (worst: { currency: string; micros: number }, given = approval({ amount: credits(5) })) =>
      approved(given, { ...action, worst }, T0);
    expect(costs(credits(5)).ok).toBe(true);
    expect(costs(credits(6))).toMatchObject({ code: "approval_amount" });
    expect(costs({ currency: "usd", micros: 1 })).toMatchObject({ code: "approval_amount" });
    expect(costs(credits(1), approval())).toMatchObject({ code: "approval_amount" });
  });

  test("answers survive a restart; a changed payload has to be asked again; a no is not asked again", () => {
    const { guardian } = openTables();
    const ask = (payloadHash: string) => guardian.ask(approval({ payloadHash }), SCOUT);
    const yes = (payloadHash: string) =>
      ({ verdict: "approved", shown: { intent: INTENT, payloadHash, amount: undefined, answerBy: T0 + DAY } }) as const;
    ask("abc");
    expect(guardian.answer(INTENT, yes("abc"), T0)).toBe(true);
    expect(guardian.answer(INTENT, { verdict: "rejected" }, T0)).toBe(false);
    ask("abc");
    expect(guardian.approval(INTENT)).toMatchObject({ state: "approved", payloadHash: "abc" });
    ask("changed");
    expect(guardian.approval(INTENT)).toMatchObject({ state: "asked", payloadHash: "changed" });
    expect(guardian.answer(INTENT, yes("changed"), T0 + 2 * DAY)).toBe(false);
    guardian.answer(INTENT, { verdict: "rejected", reason: "no" }, T0);
    ask("again");
    expect(guardian.approval(INTENT)).toMatchObject({ state: "rejected", reason: "no" });
  });
});

test("a payload's hash names operation, target and input; a target that is still to be made is the intent that makes it", () => {
  const reply = { operation: "posts.reply", target: "p1", input: { content: "hi" } };
  const hash = payloadHash(reply);
  expect(payloadHash({ ...reply, input: { content: "hi" } })).toBe(hash);
  for (const other of [{ operation: "posts.vote" }, { target: "p2" }, { input: { content: "ho" } }])
    expect(payloadHash({ ...reply, ...other })).not.toBe(hash);
  const before = payloadHash({ operation: "posts.reply", targetIntent: "i1", input: {} });
  expect(payloadHash({ operation: "posts.reply", targetIntent: "i1", target: "p9", input: {} })).toBe(before);
});

test("the hash that a person names shows which part has changed since", () => {
  const shown = { intent: INTENT, payloadHash: "abc", amount: credits(2), answerBy: T0 };
  const hash = shownHash(shown);
  expect([isShownHash(hash), isShownHash(hash.toUpperCase()), isShownHash("yes")]).toEqual([true, false, false]);
  expect(changedSince(hash, shown)).toEqual([]);
  expect(changedSince(hash, { ...shown, payloadHash: "abd" })).toEqual(["payload"]);
  expect(changedSince(hash, { ...shown, amount: credits(3), answerBy: T0 + 1 })).toEqual(["cost", "deadline"]);
});

test("the time to answer ends with the approval or the action, whichever is first", () => {
  expect(answerBy(approval(), { expiresAt: undefined })).toBe(T0 + DAY);
  expect(answerBy(approval(), { expiresAt: T0 + HOUR })).toBe(T0 + HOUR);
  expect(answerBy(approval(), { expiresAt: T0 + 2 * DAY })).toBe(T0 + DAY);
});
