/** What an event that becomes a confirmed effect costs the store, in counts that hold on any machine. */
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";
import { LANES } from "../../src/contract/operations.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asKeyId, newIntentId, type Handle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { SECOND } from "../../src/core/units.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import type { BrakeCaps } from "../../src/specialist/intent-draft.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { countStatements } from "../harness/count-statements.ts";

const SPECIALISTS = 64;
const UNLIMITED = { perHour: 1e9, perDay: 1e9 };
const caps: BrakeCaps = {
  repliesPerThread: Infinity,
  repliesPerAuthorPerHour: Infinity,
  repliesPerHour: Infinity,
  sameTextWithinMs: 0,
  hops: 8,
};
const random = seededRandom(1);
const body = Buffer.from("{}");
const handleOf = (n: number, specialists = SPECIALISTS): Handle => asHandle(`s${n % specialists}`);

/** One event, from its delivery to its confirmed effect, as the runtime has the store do it. */
async function live(store: Store, n: number, now: number, specialists = SPECIALISTS): Promise<void> {
  const specialist = handleOf(n, specialists);
  const key = asKeyId(`k${specialist}`);
  const id = `e${n}`;
  const content = "hello, is anybody there? ".repeat(8);
  const event = {
    specialist,
    id: eventId("post.created", id),
    kind: "post.created",
    payload: { id, content },
    via: "webhook",
    hops: 0,
  } as const;
  const stored = store.putDelivery(
    {
      delivery: { specialist, id: `sha256:${n}`, kind: "post.created", scheme: "header", body },
      plain: { state: "done", kind: "post.created", events: [event], nudges: [] },
      onStored: () => undefined,
    },
    now,
  );
  for (const { seq } of store.claimEvents(specialist, now, 16)) {
    const intent = {
      id: newIntentId(random, now),
      ordinal: 0,
      operation: "posts.reply",
      target: id,
      input: { content: `thanks ${id}` },
      effect: "reconciled",
      lane: "reply",
      thread: id,
      author: `a${n % 100}`,
      textHash: `${n}`.padStart(64, "0"),
      conflictKey: `${specialist}|posts.reply|${id}`,
      hops: 0,
    } as const;
    store.finishRun({ seq, specialist, now, intents: [intent], caps, brake: () => undefined, report: () => undefined });
  }
  await Promise.all(store.dueIntents(specialist, LANES, now, 32).map((intent) => send(store, specialist, key, intent, now)));
  await stored;
}

async function send(
  store: Store,
  specialist: Handle,
  key: ReturnType<typeof asKeyId>,
  intent: Awaited<ReturnType<Store["dueIntents"]>>[number],
  now: number,
): Promise<void> {
  const { seq, id, conflictKey, operation, effect, lane } = intent;
  const admission = await store.admit(
    {
      request: { specialist, key, operation, effect, lane, price: { kind: "free" }, intent: id },
      intent: { seq, id, conflictKey },
      now,
      deadlineAt: now + 30 * SECOND,
      holdExpiresAt: Infinity,
      known: { may: [operation], review: false },
    },
    decide,
  );
  if (admission.kind !== "admitted") throw new Error(JSON.stringify(admission));
  const { attempt } = admission;
  store.complete({
    attempt,
    end: { key, attempt: attempt.seq, lane, cost: 1, admittedAt: attempt.startedAt, deadlineAt: attempt.deadlineAt, ending: "answered" },
    outcome: "confirmed",
    status: 201,
    now,
    intent: { seq, id, change: { state: "confirmed", createdRef: `r${seq}` } },
    events: [],
    watches: [],
  });
}

/** A store with as many keys, in which no fold is due by time. */
async function opened(keys: number) {
  const folder = mkdtempSync(join(tmpdir(), "retinue-costs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = { ...systemClock(), monotonic: () => 0 };
  const path = join(folder, "store.sqlite");
  const database = openDatabase(path, { blocking: true });
  onTestFinished(() => database.close());
  database.db.exec("PRAGMA wal_autocheckpoint = 0"); // so that the log only grows
  const store = openSqliteStore({ path, database, clock, random });
  const now = clock.now();
  for (let n = 0; n < keys; n++)
    await store.registerKey(handleOf(n, keys), asKeyId(`k${handleOf(n, keys)}`), { limits: UNLIMITED, floors: DEFAULT_FLOORS }, now);
  return { path, database, store, now };
}

async function measure(inFlight: number, events: number): Promise<{ readonly statements: number; readonly logKb: number }> {
  const count = countStatements(onTestFinished);
  // A fold comes every five seconds, and is spread over as many events as come in them: here none does by time.
  const { path, store, now } = await opened(SPECIALISTS);
  const run = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += inFlight) await Promise.all(Array.from({ length: inFlight }, (_, i) => live(store, n + i, now)));
  };
  const log = (): number => statSync(`${path}-wal`).size;
  const warm = inFlight * Math.ceil(128 / inFlight);
  await run(0, warm);
  const before = { statements: count(), log: log() };
  await run(warm, warm + events);
  const spent = { statements: (count() - before.statements) / events, logKb: (log() - before.log) / events / 1_024 };
  expect((await store.intents({ limit: 5, states: ["confirmed"] })).length).toBe(5);
  await store.close();
  return spent;
}

test("16 in flight: four inserts and a share of a commit, and at most 6 KB of log an event", async () => {
  const { statements, logKb } = await measure(16, 512);
  expect(statements).toBeLessThanOrEqual(4.5);
  expect(logKb).toBeLessThanOrEqual(6);
});

test("six in a commit, as they come to a busy runtime: at most 8.5 KB of log an event, since specialists share the pages of its indexes", async () => {
  const { statements, logKb } = await measure(6, 6_144);
  expect(statements).toBeLessThanOrEqual(4.7);
  expect(logKb).toBeLessThanOrEqual(8.5);
});

test("one at a time: four inserts and two commits, and at most 26 KB of log an event", async () => {
  const { statements, logKb } = await measure(1, 256);
  expect(statements).toBeLessThanOrEqual(8.2);
  expect(logKb).toBeLessThanOrEqual(26);
});

test("counts of many keys are written in parts, between folds, and none is lost or doubled by a crash", async () => {
  const keys = 2_000;
  const { database, store, path, now } = await opened(keys);
  const counted = database.db.prepare("SELECT count(DISTINCT key_id) AS keys FROM main.quota_cell");
  const marks = database.db.prepare("SELECT seq, quota FROM main.mark");
  let betweenFolds = 0;
  const seen = [0];
  for (let n = 0; n < keys; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => live(store, n + i, now, keys)));
    seen.push(Number(counted.get()?.["keys"]));
    const { seq, quota } = marks.get() ?? {};
    if (Number(quota) > Number(seq)) betweenFolds++;
  }
  const parts = seen.map((count, i) => count - (seen[i - 1] ?? 0)).filter((part) => part > 0);
  expect(parts.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...parts)).toBeLessThanOrEqual(512 + 20);
  expect(betweenFolds).toBeGreaterThan(0);
  expect(parts.reduce((sum, part) => sum + part)).toBeLessThan(keys); // some are in memory alone
  const left = `${path}.left`;
  for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${left}${suffix}`);
  const next = openSqliteStore({ path: left, clock: systemClock(), random });
  await next.recover(now, 0);
  const used = await Promise.all(
    Array.from({ length: keys }, (_, n) => next.quotaUse(asKeyId(`k${handleOf(n, keys)}`), now).then((use) => use?.hour.used)),
  );
  expect(new Set(used)).toEqual(new Set([1]));
  await Promise.all([store.close(), next.close()]);
});
