/** The admission check: what stops a request, in which order, and what it says about it. */
import { describe, expect, test } from "vitest";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { credits, DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import type { Approval } from "../../src/limits/approvals.ts";
import { decide } from "../../src/limits/decide.ts";
import type { AdmissionView, Verdict } from "../../src/limits/verdict.ts";
import { charge, newQuota } from "../../src/limits/quota.ts";
import { GUARDIAN, newAccount, scopeOf } from "../../src/limits/spending.ts";

const T0 = Date.UTC(2026, 2, 1);
const SCOUT = asHandle("scout");
const INTENT = asIntentId("i000000000000001");

function view(
  changes: Omit<Partial<AdmissionView>, "request"> & { readonly request?: Partial<AdmissionView["request"]> } = {},
): AdmissionView {
  const { request, ...rest } = changes;
  return {
    now: T0,
    may: ["posts.reply"],
    review: false,
    quota: newQuota({ perHour: 60, perDay: 500 }),
    obligations: 0,
    ...rest,
    request: {
      specialist: SCOUT,
      key: asKeyId("key"),
      operation: "posts.reply",
      effect: "reconciled",
      lane: "reply",
      price: { kind: "free" },
      intent: INTENT,
      payloadHash: "abc",
      ...request,
    },
  };
}

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

const stop = { scope: "*", since: T0 - HOUR, reason: "looks odd" };
const paid = { price: { kind: "priced" as const, worst: credits(3) } };
const accounts = () => [newAccount(scopeOf(SCOUT), "credits"), newAccount(GUARDIAN, "credits")];

describe("rules that stop a request", () => {
  test.each<[string, AdmissionView, Partial<Verdict>]>([
    ["nothing", view(), { kind: "admit" }],
    ["not in `may`", view({ may: [] }), { kind: "refuse", code: "not_allowed" }],
    ["a halt", view({ halt: stop }), { kind: "wait", rule: "halted", since: T0 - HOUR, until: undefined }],
    ["a pause", view({ pause: stop }), { kind: "wait", rule: "paused" }],
    ["an unknown price", view({ request: { price: { kind: "unknown" } } }), { kind: "refuse", code: "price_unknown" }],
    ["no approval yet", view({ review: true }), { kind: "wait", rule: "approval_wanted" }],
    [
      "a refused approval",
      view({ review: true, approval: approval({ state: "rejected", reason: "too blunt" }) }),
      { kind: "refuse", code: "approval_rejected", message: "too blunt" },
    ],
    [
      "an unsettled twin",
      view({ conflict: { intent: asIntentId("i2"), since: T0 - 5 } }),
      { kind: "wait", rule: "conflict", since: T0 - 5 },
    ],
    ["no account", view({ request: paid }), { kind: "refuse", code: "spend_no_cap" }],
    ["no cap", view({ request: paid, accounts: accounts(), caps: [] }), { kind: "refuse", code: "spend_no_cap" }],
  ])("%s", (_name, given, expected) => {
    expect(decide(given)).toMatchObject(expected);
  });

  test("reads pass a halt; delivering and reading back pass a pause", () => {
    expect(decide(view({ halt: stop, may: [], request: { effect: "read", operation: "posts.list", lane: "poll" } })).kind).toBe("admit");
    expect(decide(view({ pause: stop, request: { lane: "obligation" } })).kind).toBe("admit");
  });

  test("a full window names itself, its lane, since when and until when", () => {
    const quota = newQuota({ perHour: 2, perDay: 500 });
    for (let i = 0; i < 2; i++) charge(quota, T0 - 5 * SECOND, "reply", 1);
    expect(decide(view({ quota, request: { readyAt: T0 - SECOND } }))).toEqual({
      kind: "wait",
      rule: "quota_window",
      window: "hour",
      lane: "reply",
      since: T0 - SECOND,
      until: T0 + 60 * SECOND,
      message: "all 2 requests of this hour are used",
    });
  });

  test("money is held for the whole chain, once per intent", () => {
    const caps = [{ scope: GUARDIAN, window: "day", money: credits(5) }] as const;
    expect(decide(view({ request: paid, accounts: accounts(), caps }))).toMatchObject({
      kind: "admit",
      hold: { scopes: [scopeOf(SCOUT), GUARDIAN], money: credits(3) },
    });
    expect(decide(view({ request: paid, accounts: accounts(), caps, held: credits(3) }))).toMatchObject({ kind: "admit", hold: undefined });
    expect(decide(view({ request: paid, accounts: accounts(), caps, held: credits(2) }))).toMatchObject({
      kind: "refuse",
      code: "spend_hold_short",
    });
    expect(decide(view({ request: paid, accounts: accounts(), caps: [{ ...caps[0], money: credits(2) }] }))).toMatchObject({
      kind: "refuse",
      code: "spend_over_cap",
    });
  });
});

describe("a verdict", () => {
  test("that makes wait tells its rule, window, lane, since and until", () => {
    const quota = newQuota({ perHour: 2, perDay: 500 });
    for (let i = 0; i < 2; i++) charge(quota, T0 - 5 * SECOND, "reply", 1);
    expect(decide(view({ quota, request: { readyAt: T0 - SECOND } }))).toEqual({
      kind: "wait",
      rule: "quota_window",
      message: "all 2 requests of this hour are used",
      window: "hour",
      lane: "reply",
      since: T0 - SECOND,
      until: T0 + MINUTE,
    });
  });
});
