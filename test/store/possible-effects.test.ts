/** An action that may have taken effect keeps its money and its chance to be found, whatever follows. */
import { expect, onTestFinished, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";
import { tierLimits } from "../../src/contract/tiers.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { GUARDIAN, scopeOf } from "../../src/limits/spending.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { cap, priced } from "../harness/limit-tables.ts";
import { spentBy } from "../harness/spent-by.ts";

const scout = asHandle("scout");
const key = asKeyId("k1");
const id = asIntentId("i1");
const T0 = Date.UTC(2026, 2, 1);
const EXPIRES_AT = T0 + MINUTE;

/** A paid action that was sent once, and whose answer was lost. */
async function lost() {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const store = openSqliteStore({ path: MEMORY, database, clock: systemClock(), random: seededRandom(1) });
  await store.recover(T0, 0);
  await store.registerKey(scout, key, { limits: tierLimits("pro", "b"), floors: DEFAULT_FLOORS }, T0);
  const event = { specialist: scout, id: eventId("order", "1"), kind: "order", payload: {}, via: "runtime", hops: 0 } as const;
  const draft = {
    id,
    ordinal: 0,
    operation: "jobs.create",
    input: { title: "x" },
    effect: "reconciled",
    lane: "act",
    hops: 0,
    conflictKey: "jobs",
    expiresAt: EXPIRES_AT,
  } as const;
  const about = { specialist: scout, now: T0, caps: DEFAULT_BRAKES, brake: () => undefined, report: () => undefined };
  await store.recordRun(event, { ...about, intents: [draft] });
  const seq = (await store.findIntent(id))?.seq ?? 0;
  const request = {
    specialist: scout,
    key,
    operation: "jobs.create",
    effect: "reconciled",
    lane: "act",
    price: priced(),
    intent: id,
  } as const;
  const times = { now: T0, deadlineAt: T0 + SECOND, holdExpiresAt: T0 + HOUR };
  const known = { may: undefined, review: false, caps: [cap(GUARDIAN, "day", 100), cap(scopeOf(scout), "day", 100)] };
  const admission = await store.admit({ request, intent: { seq, id, conflictKey: "jobs" }, ...times, known }, decide);
  if (admission.kind !== "admitted") throw new Error(`not admitted: ${JSON.stringify(admission)}`);
  const { attempt } = admission;
  store.complete({
    attempt,
    end: { key, attempt: attempt.seq, lane: "act", cost: 1, admittedAt: T0, deadlineAt: attempt.deadlineAt, ending: "lost" },
    outcome: "unknown",
    now: T0 + SECOND,
    intent: { seq, id, change: { state: "in_doubt", everUnknown: true, nextAt: T0 + SECOND } },
    events: [],
    watches: [],
  });
  return { store, seq };
}

test("the money of an action that may have happened counts as spent when the search for it ends with a refusal", async () => {
  const { store, seq } = await lost();
  const [before] = await spentBy(store, scout, T0 + SECOND);
  expect(before?.heldMicros).toBeGreaterThan(0);
  const change = { state: "refused", code: "not_allowed", message: "no" } as const;
  expect(await store.moveIntent({ seq, by: "read-back", change, now: T0 + 2 * SECOND })).toBe(true);
  const [after] = await spentBy(store, scout, T0 + 2 * SECOND);
  expect(after).toMatchObject({ heldMicros: 0, postedMicros: before?.heldMicros });
});

test("an action that may have happened does not expire while it is in doubt, nor before it is sent again", async () => {
  const { store, seq } = await lost();
  expect(store.expireIntents(scout, EXPIRES_AT + HOUR, 10)).toEqual([]);
  await store.moveIntent({ seq, by: "read-back", change: { state: "ready", nextAt: T0 + HOUR }, now: T0 + MINUTE });
  expect(store.expireIntents(scout, EXPIRES_AT + HOUR, 10)).toEqual([]);
  expect((await store.findIntent(id))?.state).toBe("ready");
});
