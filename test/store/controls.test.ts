/** The port of controls: keys and their usage, stops and their ends, approvals bound to what was shown. */
import { describe, expect, test } from "vitest";
import { asHandle, asIntentId, asKeyId, type Handle, type KeyId } from "../../src/core/ids.ts";
import { credits, DAY, MINUTE } from "../../src/core/units.ts";
import { payloadHash } from "../../src/limits/approvals.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { admit, endOf, KEY, wanted, withKey } from "../harness/admitted.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";
import { propose } from "../harness/proposed.ts";
import { spentBy } from "../harness/spent-by.ts";

describe("a key", () => {
  test("belongs to its specialist, and one that replaces it inherits what was used", async () => {
    const here = desk();
    const { clock, store, on } = here;
    expect([await on(store.keyOf(SCOUT)), await on(store.quotaUse(KEY, clock.now()))]).toEqual([undefined, undefined]);
    await withKey(here);
    await admit(here);
    const next = asKeyId("k2");
    await on(store.registerKey(SCOUT, next, { limits: { perHour: 50, perDay: 500 }, floors: DEFAULT_FLOORS }, clock.now()));
    expect(await on(store.keyOf(SCOUT))).toBe(next);
    expect((await on(store.quotaUse(next, clock.now())))?.hour).toMatchObject({ used: 1, limit: 50 });
  });

  describe("that replaces another", () => {
    const [scout, quill] = [SCOUT, asHandle("quill")];
    const [own, wrong, other] = [KEY, asKeyId("wrong"), asKeyId("other")];
    type Step = readonly [handle: Handle, key: KeyId];
    const cases: readonly { readonly name: string; readonly steps: readonly Step[]; readonly used: Readonly<Record<string, number>> }[] = [
      {
        name: "counts every request once, however often it changes",
        steps: [own, wrong, own, wrong, other, own].map((key): Step => [scout, key]),
        used: { [own]: 6, [other]: 5, [wrong]: 4 },
      },
      {
        name: "does so where another specialist keeps the old one",
        steps: [[quill, own], ...[own, wrong, own, wrong, own].map((key): Step => [scout, key])],
        used: { [own]: 6, [wrong]: 5 },
      },
      {
        name: "takes nothing from the old one, which another specialist may get",
        steps: [
          [scout, own],
          [scout, own],
          [scout, wrong],
          [quill, own],
        ],
        used: { [own]: 3, [wrong]: 3 },
      },
      {
        name: "counts also what the last of several specialists has used before it follows",
        steps: [
          [scout, own],
          [quill, own],
          [scout, wrong],
          [quill, own],
          [quill, wrong],
        ],
        used: { [wrong]: 5 },
      },
    ];
    test.each(cases)("$name", async ({ steps, used }) => {
      const here = desk();
      const { clock, store, on } = here;
      for (const [handle, key] of steps) {
        await on(store.registerKey(handle, key, { limits: { perHour: 50, perDay: 500 }, floors: DEFAULT_FLOORS }, clock.now()));
        const { request } = wanted(here);
        const completion = endOf(here, await admit(here, undefined, { request: { ...request, specialist: handle, key } }));
        await on(store.complete({ ...completion, end: { ...completion.end, key } }));
        await clock.advance(MINUTE);
      }
      for (const [key, count] of Object.entries(used))
        expect([key, (await on(store.quotaUse(asKeyId(key), clock.now())))?.hour.used]).toEqual([key, count]);
    });

    test("counts a request once that has its answer after the change, and when the old one comes back", async () => {
      const here = desk();
      const { clock, store, on } = here;
      const register = (key: KeyId): Promise<void> =>
        on(store.registerKey(SCOUT, key, { limits: { perHour: 50, perDay: 500 }, floors: DEFAULT_FLOORS }, clock.now()));
      const used = async (key: KeyId) => (await on(store.quotaUse(key, clock.now())))?.hour.used;
      await register(own);
      const admission = await admit(here);
      await register(wrong);
      expect(await used(wrong)).toBe(1);
      await on(store.complete(endOf(here, admission)));
      expect([await used(wrong), await used(own)]).toEqual([1, 1]);
      await register(own);
      expect(await used(own)).toBe(1);
    });
  });

  test("gives each lane a part of the day to plan with", async () => {
    const here = desk();
    await withKey(here);
    const budget = await here.on(here.store.laneBudget(KEY, "poll", here.clock.now()));
    expect([budget > 0, budget <= 1_000]).toEqual([true, true]);
  });
});

test("stops of a kind and scope are one, and lifting says whether there was one", async () => {
  const { clock, store, on } = desk();
  await on(store.stop("halt", EVERYONE, "first", 5));
  await on(store.stop("halt", EVERYONE, "second", 9));
  await on(store.stop("pause", "scout", "rest", clock.now()));
  const { halts, pauses } = await on(store.stops());
  expect([halts.map(({ scope }) => scope), pauses.map(({ scope }) => scope)]).toEqual([[EVERYONE], ["scout"]]);
  expect([await on(store.lift("halt", EVERYONE)), await on(store.lift("halt", EVERYONE)), await on(store.lift("halt", "scout"))]).toEqual([
    true,
    false,
    false,
  ]);
});

test("requests under way are listed with their action until they end", async () => {
  const here = desk();
  await withKey(here);
  const [intent] = await here.on(decide(here.store, here.clock.now(), [{ id: asIntentId("i0") }]));
  await admit(here, intent, { target: "p7" });
  await admit(here);
  expect(await here.on(here.store.openAttempts())).toMatchObject([
    { intent: "i0", operation: "posts.create", target: "p7" },
    { intent: undefined, operation: "posts.list" },
  ]);
});

test("nothing is frozen, and nothing spent, where nothing was paid", async () => {
  const { clock, store, on } = desk();
  expect([await on(store.frozen()), await on(spentBy(store, SCOUT, clock.now()))]).toEqual([[], []]);
});

describe("an approval", () => {
  const input = { content: "hello" };

  test("is asked with its cost until its time, and counted", async () => {
    const { clock, store, on } = desk();
    await on(propose(store, { id: "i1", input, now: clock.now() }));
    await on(propose(store, { id: "i2", input, now: clock.now(), expiresAt: clock.now() + 5 }));
    const open = await on(store.openApprovals(10, clock.now()));
    expect(open.map(({ intent, approval }) => [intent.id, approval.amount])).toEqual([
      ["i1", credits(2)],
      ["i2", credits(2)],
    ]);
    expect((await on(store.overview(clock.now()))).get(SCOUT)?.awaiting).toEqual({ count: 2, until: clock.now() + 5 });
    expect((await on(store.openApprovals(10, clock.now() + 5))).map(({ intent }) => intent.id)).toEqual(["i1"]);
    expect(await on(store.openApprovals(10, clock.now() + 3 * DAY))).toEqual([]);
    expect(await on(store.overview(clock.now(), asHandle("quill")))).toEqual(new Map());
  });

  test("is answered once, and the action goes on or ends with it", async () => {
    const { clock, store, on } = desk();
    for (const id of ["i1", "i2"]) await on(propose(store, { id, input, now: clock.now() }));
    const hash = payloadHash({ operation: "posts.reply", target: "post_7", input });
    const shown = { intent: asIntentId("i1"), payloadHash: hash, amount: credits(2), answerBy: clock.now() + 3 * DAY };
    expect(await on(store.decideApproval(asIntentId("i1"), { verdict: "approved", shown }, clock.now()))).toBe(true);
    expect(await on(store.decideApproval(asIntentId("i2"), { verdict: "rejected", reason: "no" }, clock.now()))).toBe(true);
    expect(await on(store.decideApproval(asIntentId("i1"), { verdict: "rejected" }, clock.now()))).toBe(false);
    expect([(await on(store.findIntent("i1")))?.state, (await on(store.findIntent("i2")))?.state]).toEqual(["ready", "cancelled"]);
    expect(await on(store.approvalOf(asIntentId("i2")))).toMatchObject({ state: "rejected", reason: "no" });
  });
});
