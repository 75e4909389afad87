/** The decision on a hold: a person's stops come before money, and money before a call. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { DAY, microDollars } from "../../src/core/units.ts";
import { decideHold, type HoldView } from "../../src/limits/hold-decision.ts";
import { GUARDIAN, newAccount, openRow, scopeOf } from "../../src/limits/spending.ts";

const NOW = 20_000 * DAY;
const SCOPE = scopeOf(asHandle("scout"));
const stop = { scope: "*", since: 1, reason: "look first" };

function view(over: Partial<HoldView> = {}, posted = 0): HoldView {
  const accounts = [SCOPE, GUARDIAN].map((scope) => newAccount(scope, "usd"));
  for (const account of accounts) openRow(account, "day", "UTC", NOW).posted = posted;
  const caps = [{ scope: SCOPE, window: "day" as const, money: microDollars(100) }];
  return { now: NOW, money: microDollars(40), halt: undefined, pause: undefined, accounts, caps, ...over };
}

test.each([
  ["within its cap", view(), { kind: "hold" }],
  ["halted", view({ halt: stop, pause: stop }), { kind: "wait", rule: "halted", message: "halted: look first" }],
  ["paused", view({ pause: stop, caps: [] }), { kind: "wait", rule: "paused" }],
  [
    "beyond its cap for now",
    view({}, 70),
    { kind: "wait", rule: "spend_cap", message: expect.stringMatching(/^scout: .*usd allowed on this day/) as string },
  ],
  ["beyond any cap", view({ money: microDollars(101) }), { kind: "refuse", code: "spend_over_cap" }],
  ["without a cap", view({ caps: [] }), { kind: "refuse", code: "spend_no_cap" }],
  ["free, without a cap", view({ caps: [], money: microDollars(0) }), { kind: "hold" }],
])("a call %s", (_what, given, verdict) => {
  expect(decideHold(given)).toMatchObject(verdict);
});

test("the end of a wait for a cap is the end of its window; a frozen account waits for a person", () => {
  expect(decideHold(view({}, 70))).toMatchObject({ until: NOW + DAY });
  const given = view();
  const [account] = given.accounts;
  if (account !== undefined) account.frozen = { since: 1, reason: "it cost more" };
  expect(decideHold(given)).toMatchObject({ kind: "wait", rule: "spend_frozen", until: undefined });
});
