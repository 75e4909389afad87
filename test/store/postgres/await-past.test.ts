/** Reads that need the past of a store: a person waits some seconds; then a process refuses, and a command says that it waits, and waits. */
import { expect, onTestFinished, test } from "vitest";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE, SECOND } from "../../../src/core/units.ts";
import { awaitPast } from "../../../src/store/postgres/await-past.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

/** A store whose past comes when it is told to. */
function lab(onAwaited?: () => void) {
  const clock = virtualClock();
  const complete = Promise.withResolvers<void>();
  const past = { of: () => undefined, lacks: () => false, missing: 2, decided: undefined, complete: complete.promise };
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  onTestFinished(() => clock.run(store.close()));
  const waiting = awaitPast(store, past, { clock, ...(onAwaited === undefined ? {} : { onAwaited }) });
  return { clock, store: waiting, come: complete.resolve };
}

test("a process refuses after some seconds, and says how much is left", async () => {
  const { clock, store } = lab();
  const refused = store.reads.logTotal({}).catch((error: unknown) => error);
  await clock.advance(5 * SECOND);
  const message = expect.stringContaining("2 shards are left") as string;
  expect(await refused).toMatchObject({ code: "past_unread", message });
});

test("a command says once that it waits, however long, and gets its answer", async () => {
  let said = 0;
  const { clock, store, come } = lab(() => said++);
  let total: number | undefined;
  const read = store.reads.logTotal({}).then((answer) => (total = answer));
  await clock.advance(3 * SECOND);
  expect(said).toBe(0);
  await clock.advance(10 * MINUTE);
  expect([said, total]).toEqual([1, undefined]);
  come();
  await read;
  expect(total).toBe(0);
});

test("a past that comes in time is not told of", async () => {
  let said = 0;
  const { clock, store, come } = lab(() => said++);
  const read = store.reads.logTotal({});
  await clock.advance(SECOND);
  come();
  await read;
  await clock.advance(MINUTE);
  expect(said).toBe(0);
});
