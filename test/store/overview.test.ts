/** The overview: as many statements for a thousand specialists as for ten, and counts that stay exact. */
import { expect, onTestFinished, test } from "vitest";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { DAY } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { showStatus } from "../../src/guardian/status.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { newWatch } from "../../src/store/sources.ts";
import { decide } from "../harness/builders.ts";
import { countStatements } from "../harness/count-statements.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";

async function statementsFor(specialists: number): Promise<{ readonly statements: number; readonly shown: number }> {
  const clock = virtualClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: systemRandom() });
  const limits = { perHour: 60, perDay: 500 };
  await clock.run(
    Promise.all(
      Array.from({ length: specialists }, (_, i) =>
        store.registerKey(asHandle(`s${i}`), asKeyId(`k${i}`), { limits, floors: DEFAULT_FLOORS }, clock.now()),
      ),
    ),
  );
  let end = (): void => undefined;
  const before = [] as (() => void)[];
  const count = countStatements((undo) => void before.push(undo));
  end = () => before.forEach((undo) => undo());
  onTestFinished(end);
  const status = await clock.run(showStatus({ store, clock }));
  const statements = count();
  end();
  expect(status.specialists[0]?.quota).toEqual({ hour: { used: 0, limit: 60 }, day: { used: 0, limit: 500 } });
  await clock.run(store.close());
  return { statements, shown: status.specialists.length };
}

test("a status of a thousand specialists takes as many statements as one of ten", async () => {
  const ten = await statementsFor(10);
  const thousand = await statementsFor(1_000);
  expect([ten.shown, thousand.shown]).toEqual([10, 1_000]);
  expect(thousand.statements).toBe(ten.statements);
});

test("counts follow an action through its states, and forget it with its row", async () => {
  const { clock, store, on } = desk();
  const counts = async () =>
    Object.fromEntries(((await on(store.overview(clock.now()))).get(SCOUT)?.counts ?? []).map((c) => [c.state, c.count]));
  const [a] = await on(decide(store, clock.now(), [{ id: asIntentId("a") }, { id: asIntentId("b"), conflictKey: "b" }]));
  expect(await counts()).toEqual({ ready: 2 });
  const change = { state: "refused", code: "forbidden", message: "no" } as const;
  await on(store.moveIntent({ seq: a?.seq ?? 0, by: "outbox", change, now: clock.now() }));
  expect(await counts()).toEqual({ ready: 1, refused: 1 });
  await clock.advance(400 * DAY);
  await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect(await counts()).toEqual({ ready: 1 });
});

test("lists that are cut have the number of all of them", async () => {
  const { clock, store, on } = desk();
  const intents = await on(
    decide(
      store,
      clock.now(),
      Array.from({ length: 7 }, (_, i) => ({
        id: asIntentId(`i${i}`),
        conflictKey: `c${i}`,
        operation: "jobs.submit",
        target: `j${i % 6}`,
      })),
    ),
  );
  for (const { seq } of intents.slice(0, 3))
    await on(store.moveIntent({ seq, by: "outbox", change: { state: "parked", code: "x:lost", message: "?" }, now: clock.now() }));
  for (const { seq } of intents.slice(3))
    await on(store.moveIntent({ seq, by: "outbox", change: { state: "refused", code: "x:invalid", message: "no" }, now: clock.now() }));
  const watches = ["j0", "j3", "j4", "j5"].map(
    (object) =>
      ({ specialist: SCOUT, kind: "job", object, ...newWatch("job", clock.now()), state: "assigned", dueAt: clock.now() }) as const,
  );
  await on(store.putEvents({ events: [], watches }, clock.now()));
  const { parked, doubts, undelivered } = await on(store.waitingIntents(2));
  expect([parked.rows.map(({ id }) => id), parked.total, doubts.total]).toEqual([["i2", "i1"], 3, 0]);
  // j0 has another deliverable that waits for a person, so its refused one is not the last word.
  expect([undelivered.rows.map(({ id }) => id), undelivered.total]).toEqual([["i5", "i4"], 3]);
});
