/** Remedies: the command that ends a wait, for the one it concerns, and none where only time helps. */
import { expect, test } from "vitest";
import type { OpenBreaker } from "../../src/gateway/breaker.ts";
import { frozenFor, hintFor, remedyOf } from "../../src/guardian/remedy.ts";
import type { ReasonRule } from "../../src/limits/wait-rules.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { intentOf } from "../harness/builders.ts";
import { desk } from "../harness/guardian-over-store.ts";

const about = { id: "i1", handle: "scout", operation: "posts.create", breakers: [] as readonly OpenBreaker[] };

test("a stop of everyone is ended for everyone, one's own by its name", async () => {
  const { clock, store, on } = desk();
  const remedy = (rule: ReasonRule): Promise<string | undefined> => on(remedyOf(store, rule, about));
  await on(store.stop("halt", "scout", "x", clock.now()));
  await on(store.stop("pause", EVERYONE, "x", clock.now()));
  expect([await remedy("halted"), await remedy("paused")]).toEqual(["retinue halt scout --lift", "retinue resume"]);
  await on(store.stop("halt", EVERYONE, "x", clock.now()));
  await on(store.lift("pause", EVERYONE));
  expect([await remedy("halted"), await remedy("paused")]).toEqual(["retinue halt --lift", "retinue resume scout"]);
});

test("a wait that only time ends has no remedy, and neither has anything else", async () => {
  const { store, on } = desk();
  for (const rule of ["quota_window", "key_parked", "sending", "outcome_unknown", "x:mine"] as const)
    expect(await on(remedyOf(store, rule, about))).toBeUndefined();
});

test("an open breaker is retried by its operation or specialist, also under its own code", async () => {
  const { store, on } = desk();
  const breaker = {
    rule: "drift",
    code: "shape_changed",
    message: "x",
    handle: undefined,
    operation: "posts.vote",
    since: 0,
    waitMs: 0,
    probeAt: undefined,
  } as const;
  const subject = { ...about, breakers: [breaker] };
  expect(await on(remedyOf(store, "shape_changed", subject))).toContain("retinue retry posts.vote");
  expect(await on(remedyOf(store, "drift", subject))).toContain("retinue retry posts.vote");
  expect(await on(remedyOf(store, "drift", about))).toContain("retinue retry posts.create");
});

test("nothing is frozen in a store without a frozen account", async () => {
  const { store, on } = desk();
  expect(await on(frozenFor(store, "scout"))).toEqual([]);
  expect(await on(remedyOf(store, "spend_frozen", about))).toBe("retinue unfreeze scout --reason '<what you found>'");
});

test("an action says what a person may do in its state, and never to send again what may have happened", () => {
  expect(hintFor(intentOf({ state: "parked", everUnknown: true }))).toBe(
    "check on the network, then: retinue settle i1 --happened, --did-not or --give-up",
  );
  expect(hintFor(intentOf({ state: "parked", everUnknown: false, code: "attempts_spent" }))).toContain("retinue retry i1");
  expect(hintFor(intentOf({ state: "proposed" }))).toContain("retinue approve i1");
  expect(
    [hintFor(intentOf({ state: "in_doubt" })), hintFor(intentOf({ state: "pending" }))].every((hint) =>
      hint?.includes("retinue settle i1"),
    ),
  ).toBe(true);
  for (const state of ["ready", "sending", "confirmed", "refused", "cancelled"] as const)
    expect(hintFor(intentOf({ state }))).toBeUndefined();
});
