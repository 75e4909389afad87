/** The port of admission: one transaction lets a request leave with its charge and its hold, one records its end with all that follows. */
import { describe, expect, test } from "vitest";
import { asEventId, asIntentId } from "../../src/core/ids.ts";
import { credits } from "../../src/core/units.ts";
import { decide as decideAdmission } from "../../src/limits/decide.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import { admit, endOf, KEY, wanted, withKey } from "../harness/admitted.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";
import { spentBy } from "../harness/spent-by.ts";

async function ready(count = 1): Promise<Desk & { readonly intents: readonly Intent[] }> {
  const here = desk();
  await withKey(here);
  const drafts = Array.from({ length: count }, (_, i) => ({
    id: asIntentId(`i${i}`),
    conflictKey: `k${i}`,
    effect: "at-most-once" as const,
  }));
  return { ...here, intents: await here.on(decide(here.store, here.clock.now(), drafts)) };
}

const used = async ({ store, on, clock }: Desk): Promise<readonly [number | undefined, number | undefined]> => {
  const quota = await on(store.quotaUse(KEY, clock.now()));
  const [money] = await on(spentBy(store, SCOUT, clock.now()));
  return [quota?.hour.used, money?.heldMicros];
};

test("an admitted write is charged, holds its money and is under way; asking alone changes nothing", async () => {
  const here = await ready();
  const [intent] = here.intents;
  expect(await here.on(here.store.explain(wanted(here, intent), decideAdmission))).toMatchObject({ kind: "admit" });
  expect(await used(here)).toEqual([0, undefined]);
  expect(await admit(here, intent)).toMatchObject({
    kind: "admitted",
    attempt: { specialist: "scout", operation: "posts.create", cost: 1 },
  });
  expect(await used(here)).toEqual([1, credits(5).micros]);
  expect((await here.on(here.store.findIntent("i0")))?.state).toBe("sending");
});

describe("nothing is admitted", () => {
  test("of an intent that another request has taken", async () => {
    const here = await ready();
    await admit(here, here.intents[0]);
    expect(await admit(here, here.intents[0])).toEqual({ kind: "gone" });
    expect(await used(here)).toEqual([1, credits(5).micros]);
  });

  test("beyond a cap, by one's own or the Guardian's", async () => {
    const here = await ready(3);
    const kinds: string[] = [];
    for (const intent of here.intents) kinds.push((await admit(here, intent)).kind);
    expect(kinds).toEqual(["admitted", "admitted", "wait"]);
  });

  test("under a halt that only this process has", async () => {
    const here = await ready();
    const { known } = wanted(here, here.intents[0]);
    const halt = { scope: "scout", reason: "wrong words", since: 0 };
    expect(await admit(here, here.intents[0], { known: { ...known, halt } })).toMatchObject({ kind: "wait", rule: "halted" });
  });

  test("if the decision throws, and then nothing is charged", async () => {
    const here = await ready();
    const broken = (): never => {
      throw new Error("a bug");
    };
    expect(() => here.store.admit(wanted(here, here.intents[0]), broken)).toThrow("a bug");
    expect(await used(here)).toEqual([0, undefined]);
  });
});

test("an end records the intent's state, its events and its cost at once", async () => {
  const here = await ready();
  const [intent] = here.intents;
  if (intent === undefined) throw new Error("no intent");
  const admission = await admit(here, intent);
  const receipt = {
    specialist: SCOUT,
    id: asEventId("intent.confirmed:i0"),
    kind: "intent.confirmed",
    payload: {},
    via: "runtime",
    hops: 1,
  } as const;
  here.store.complete(
    endOf(here, admission, {
      intent: { seq: intent.seq, id: intent.id, change: { state: "confirmed", createdRef: "p9" } },
      paid: { money: credits(3), caps: [] },
      events: [receipt],
    }),
  );
  expect(await here.on(here.store.findIntent("i0"))).toMatchObject({ state: "confirmed", createdRef: "p9" });
  expect(await here.on(spentBy(here.store, SCOUT, here.clock.now()))).toMatchObject([{ postedMicros: credits(3).micros, heldMicros: 0 }]);
  expect(await here.on(here.store.findEvents("intent.confirmed:i0", 5))).toHaveLength(1);
});

test("a request that never left costs neither quota nor money", async () => {
  const here = await ready();
  const [intent] = here.intents;
  if (intent === undefined) throw new Error("no intent");
  const completion = endOf(here, await admit(here, intent), {
    outcome: "never-left",
    intent: { seq: intent.seq, id: intent.id, change: { state: "ready", nextAt: 0 } },
  });
  here.store.complete({ ...completion, end: { ...completion.end, ending: "never-left" } });
  expect((await used(here))[0]).toBe(0);
  expect((await here.on(here.store.findIntent("i0")))?.state).toBe("ready");
});
