/** Who begins when: work first, a crowd one after the other, and nothing later than it is due. Real rows, no network. */
import { expect, onTestFinished, test } from "vitest";
import type { NewEvent } from "../../src/contract/event.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createMember, type Member } from "../../src/gateway/member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import { BEGIN_AT_ONCE, BEGIN_GAP_MS, startTimes } from "../../src/runtime/staggered-start.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const CROWD = 1_000;
const clock = virtualClock();
const now = clock.now();

function crowd(): readonly Member[] {
  const profile = resolveProfile({ extends: "set-b" });
  return Array.from({ length: CROWD }, (_, i) => {
    const specialist = createSpecialist({ handle: `s${i}`, on: { "post.created": () => undefined } });
    return createMember(specialist, operationRules(specialist, profile, clock), limitsOf("free", profile), now);
  });
}

function openStore() {
  const store = openSqliteStore({ path: ":memory:", clock, random: systemRandom() });
  onTestFinished(async () => {
    const closing = store.close();
    await clock.run(closing);
  });
  return store;
}

const event = (handle: string): NewEvent => ({
  specialist: asHandle(handle),
  id: asEventId(`post.created:${handle}`),
  kind: "post.created",
  payload: {},
  via: "poll",
  hops: 0,
});
const look = (handle: string, dueAt: number) => ({ specialist: asHandle(handle), source: "feed", cursor: {}, dueAt });

test("a crowd begins one after the other, so that thousands do not peak together", async () => {
  const store = openStore();
  const turns = startTimes(crowd(), await store.firstDues(), now);
  expect(turns.map(({ member }) => member.specialist.handle)).toEqual(crowd().map(({ specialist }) => specialist.handle));
  expect(turns.filter(({ at }) => at <= now)).toHaveLength(BEGIN_AT_ONCE);
  expect(turns.at(-1)?.at).toBe(now + (CROWD - BEGIN_AT_ONCE) * BEGIN_GAP_MS);
});

test("after a restart those with work come first, and a look due before the turn is made when it is due", async () => {
  const store = openStore();
  await clock.run(
    store.putEvents(
      {
        events: [event("s990"), event("s500")],
        cursors: [look("s998", now + 100), look("s999", now + 60_000), look("s997", now - 5_000)],
      },
      now,
    ),
  );
  const turns = startTimes(crowd(), await store.firstDues(), now);
  const at = (handle: string): number | undefined => turns.find(({ member }) => member.specialist.handle === handle)?.at;
  expect(turns.slice(0, 3).map(({ member }) => member.specialist.handle)).toEqual(["s500", "s990", "s0"]);
  expect(at("s990")).toBeLessThanOrEqual(now);
  expect(at("s998")).toBe(now + 100);
  // Not later than its turn: its definition may have new sources that no row knows yet.
  expect(at("s999")).toBe(now + (CROWD - BEGIN_AT_ONCE) * BEGIN_GAP_MS);
  expect(at("s997")).toBe(now + (998 - BEGIN_AT_ONCE) * BEGIN_GAP_MS);
});

test("accounts learnt before are there at the start, in one question", async () => {
  const store = openStore();
  await clock.run(store.saveAccount(asHandle("s1"), "agent_1", now));
  expect([...(await store.accounts())]).toEqual([["s1", "agent_1"]]);
});
