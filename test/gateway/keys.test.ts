/** Who shares a key, counted as specialists take it up, get another one, and go; and a key that comes late. Real store. */
import { expect, onTestFinished, test } from "vitest";
import { createKeys } from "../../src/client/auth.ts";
import type { Transport } from "../../src/client/transport.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { sleep, systemClock } from "../../src/core/clock.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { ledgerTime } from "../../src/limits/ledger-clock.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import { createKeyWatch } from "../../src/gateway/keys.ts";
import { createSpecialist, DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { memberOf } from "../harness/builders.ts";
import { virtualRuntime } from "../harness/harness.ts";

test("a key's quota is divided among those who have it now", async () => {
  const clock = systemClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  onTestFinished(() => store.close());
  const texts: { [handle: string]: string } = { ann: "sk_live_shared_0123", ben: "sk_live_shared_0123", cem: "sk_live_shared_0123" };
  const keys = createKeys({ read: (handle) => texts[handle], salt: new Secret("salt of this test") });
  let replaced = 0;
  const watch = createKeyWatch({
    keys,
    store,
    clock,
    ledger: ledgerTime(clock),
    announcer: createAnnouncer(),
    onKeyReplaced: () => replaced++,
  });
  const [ann, ben, cem] = ["ann", "ben", "cem"].map((handle) => memberOf({ handle }));
  if (ann === undefined || ben === undefined || cem === undefined) throw new Error("expected three members");

  expect(watch.sharers(ann)).toBe(1); // nobody has taken a key up yet
  for (const member of [ann, ben, cem, ann]) await watch.usable(member);
  expect([ann, ben, cem].map((member) => watch.sharers(member))).toEqual([3, 3, 3]);
  texts["ann"] = "sk_live_another_4567";
  keys.reread("ann");
  await watch.usable(ann);
  expect([ann, ben, cem].map((member) => watch.sharers(member))).toEqual([1, 2, 2]);
  cem.retired = true;
  expect(watch.sharers(ben)).toBe(1);
  // Registered anew, as after a change of its definition: it counts once.
  ben.keyId = undefined;
  await watch.usable(ben);
  expect(watch.sharers(ben)).toBe(1);
  expect(replaced).toBe(1); // that of ann

  const dan = memberOf({ handle: "dan" });
  expect([await watch.usable(dan), await watch.look(dan)]).toEqual([undefined, false]);
  texts["dan"] = "sk_live_shared_0123";
  expect([await watch.look(dan), replaced]).toEqual([true, 2]);
  await watch.usable(dan);
  expect([watch.sharers(dan), replaced]).toEqual([2, 2]);
});

test("a key that comes late is taken up within a minute, however often something is told meanwhile", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  const held: { key?: string } = {};
  let requests = 0;
  const transport: Transport = async () => {
    requests++;
    return { kind: "answer", status: 200, headers: {}, text: '{"posts":[]}', elapsedMs: 1 };
  };
  const runtime = virtualRuntime({
    specialists: [createSpecialist({ handle: "reader", watch: { feed: true }, on: { "post.created": () => undefined } })],
    store,
    transport,
    keyOf: () => held.key,
    clock,
    random: seededRandom(2),
  });
  await clock.run(runtime.start());
  const toldFor = async (ms: number): Promise<void> => {
    for (const until = clock.now() + ms; clock.now() < until;) {
      for (const member of runtime.members()) runtime.parts.wake(member, "events");
      await clock.advance(2 * SECOND);
    }
  };
  await toldFor(3 * MINUTE);
  expect(requests).toBe(0);
  held.key = "sk_live_that_came_late";
  await toldFor(MINUTE);
  expect(requests).toBeGreaterThan(0);
  await clock.run(runtime.stop());
  await clock.run(store.close());
});

test.each([
  { what: "at once", answersAfterMs: 0, lined: 12 },
  { what: "while others wait for the disk", answersAfterMs: 30, lined: 40 },
])("a 401 that comes $what: after it nothing leaves that was lined up with the same key", async ({ answersAfterMs, lined }) => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const opened = openDatabase(MEMORY);
  onTestFinished(() => opened.close());
  const database = { ...opened, sync: () => sleep(clock, 20) };
  const store = openSqliteStore({ path: MEMORY, database, clock, random: seededRandom(1) });
  const sent: number[] = [];
  const transport: Transport = async ({ method }) => {
    if (method === "GET") return { kind: "answer", status: 200, headers: {}, text: "{}", elapsedMs: 1 };
    sent.push(clock.now());
    if (answersAfterMs > 0) await sleep(clock, answersAfterMs);
    return { kind: "answer", status: 401, headers: {}, text: '{"error":"unauthorized"}', elapsedMs: 1 };
  };
  const runtime = virtualRuntime({
    specialists: [createSpecialist({ handle: "talker", id: "agt_1", may: ["posts.create"] })],
    store,
    transport,
    keyOf: () => "sk_live_that_is_dead",
    clock,
    random: seededRandom(2),
    pacer: virtualPacer(clock, { concurrency: 20, spacingMs: 7 }),
  });
  const talker = asHandle("talker");
  for (let n = 0; n < lined; n++) {
    const id = asIntentId(`i${n}`);
    const about = { specialist: talker, now: clock.now(), caps: DEFAULT_BRAKES, brake: () => undefined, report: () => undefined };
    const input = { content: `post number ${n}` };
    const intent = {
      id,
      ordinal: 0,
      operation: "posts.create",
      input,
      effect: "reconciled",
      lane: "act",
      hops: 0,
      conflictKey: id,
    } as const;
    const event = { specialist: talker, id: eventId("order", id), kind: "order", payload: {}, via: "runtime", hops: 0 } as const;
    await clock.run(store.recordRun(event, { ...about, intents: [intent] }));
  }
  await clock.run(runtime.start());
  const [member] = runtime.members();
  await clock.advance(MINUTE);
  expect(member?.keyTrouble?.code).toBe("key_refused");
  const firstAnswerAt = (sent[0] ?? 0) + answersAfterMs;
  expect(sent.filter((at) => at > firstAnswerAt)).toEqual([]);
  expect((await store.openAttempts()).length).toBe(0);
  await clock.run(runtime.stop());
  await clock.run(store.close());
});

test("a refused key is probed one at a time and ever more rarely, and a probe that decides nothing again after a quarter of an hour", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  onTestFinished(() => clock.run(store.close()));
  const keys = createKeys({ read: () => "sk_live_0123456789", salt: new Secret("salt of this test") });
  const watch = createKeyWatch({ keys, store, clock, ledger: ledgerTime(clock), announcer: createAnnouncer() });
  const member = memberOf();
  const refuse = async (): Promise<void> => {
    const key = keys.current(member.specialist.handle);
    await clock.run(watch.refused(member, key));
  };
  const probe = (says: () => Promise<boolean>) => clock.run(watch.probe(member, says));
  const dueIn = (): number => ((member.keyTrouble?.circuit?.probeAt ?? Number.NaN) - clock.now()) / MINUTE;
  const refused = async (): Promise<boolean> => {
    expect(await watch.usable(member, true)).toBeDefined();
    await watch.refused(member, keys.current(member.specialist.handle));
    return false;
  };
  await clock.run(watch.usable(member));
  await refuse();
  await refuse(); // of a request that was under way
  expect([dueIn(), await clock.run(watch.usable(member, true))]).toEqual([15, undefined]);
  expect(await probe(async () => true)).toBe(false); // not due yet
  await clock.advance(15 * MINUTE);
  expect(await probe(refused)).toBe(false);
  expect(dueIn()).toBe(30);
  await clock.advance(30 * MINUTE);
  expect(await probe(async () => false)).toBe(false);
  expect(dueIn()).toBe(15);
  await clock.advance(15 * MINUTE);
  expect(await probe(async () => true)).toBe(true);
  expect(member.keyTrouble).toBeUndefined();
  await refuse(); // soon after: the probe was mistaken
  expect(dueIn()).toBe(60);
});
