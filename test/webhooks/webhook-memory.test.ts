import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { Member } from "../../src/gateway/member.ts";
import type { Nudge } from "../../src/store/deliveries.ts";
import type { WorkKind } from "../../src/store/sources.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { memberOf } from "../harness/builders.ts";
import { readAgain, takeDeferred, wakeFor } from "../../src/webhooks/process-deliveries.ts";
import { createWebhookMemory } from "../../src/webhooks/webhook-memory.ts";

const clock = virtualClock(1_000);

const scout = (): Member => memberOf();

const job = (n: number): Nudge => ({ kind: "job", object: `j${n}`, follow: true, at: 0 });

test("looks that a running pass may have read past are made after it, the newest two hundred, and then forgotten", async () => {
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  onTestFinished(() => clock.run(store.close()));
  const [member, deliveries, woken] = [scout(), createWebhookMemory(), [] as WorkKind[]];
  const parts = { deliveries, store, clock, isBusy: () => true, wake: (_: Member, kind: WorkKind) => void woken.push(kind) };
  const { handle } = member.specialist;
  wakeFor(parts, member, [{ kind: "source", name: "feed", at: 2_000 }, ...Array.from({ length: 250 }, (_, n) => job(n))]);
  expect([woken, deliveries.missedNudges.find(member)?.size]).toEqual([[], 200]);
  expect(await readAgain(parts, member, "sources")).toBe(false);
  expect(await readAgain(parts, member, "watches")).toBe(true);
  const followed = await store.openWatches(handle, "job", 1_000);
  expect(followed.map(({ object }) => object).toSorted()).toEqual(Array.from({ length: 200 }, (_, n) => `j${n + 50}`).toSorted());
  expect(deliveries.missedNudges.find(member)).toBeUndefined();
  expect(await readAgain(parts, member, "watches")).toBe(false);
  wakeFor({ ...parts, isBusy: () => false }, member, [job(1), { kind: "source", name: "feed", at: 2_000 }]);
  expect(woken).toEqual(["watches", "sources"]);
});

test("deliveries that waited for events are worked on once", () => {
  const [member, deliveries, woken] = [scout(), createWebhookMemory(), [] as WorkKind[]];
  const parts = { deliveries, wake: (_: Member, kind: WorkKind) => void woken.push(kind) };
  takeDeferred(parts, member);
  deliveries.deferred.add(member);
  takeDeferred(parts, member);
  takeDeferred(parts, member);
  expect(woken).toEqual(["deliveries"]);
});
