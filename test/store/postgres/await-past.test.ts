/** Reads that need the past of a store: a person waits some seconds; then a process refuses, and a command says that it waits, and waits. */
import { expect, onTestFinished, test } from "vitest";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { asEventId, asHandle, asIntentId } from "../../../src/core/ids.ts";
import { MINUTE, SECOND } from "../../../src/core/units.ts";
import type { Intent } from "../../../src/outbox/intent.ts";
import { DEFAULT_BRAKES } from "../../../src/specialist/specialist.ts";
import { awaitPast } from "../../../src/store/postgres/await-past.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { decide } from "../../harness/builders.ts";

/** A store whose past comes when it is told to. `behind` is the store itself, to which the past is added. */
function lab(onAwaited?: () => void) {
  const clock = virtualClock();
  const complete = Promise.withResolvers<void>();
  const arrival = complete.promise;
  const past = { of: () => arrival, lacks: () => true, missing: 2, decided: arrival, complete: arrival };
  const behind = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  onTestFinished(() => clock.run(behind.close()));
  const store = awaitPast(behind, past, { clock, ...(onAwaited === undefined ? {} : { onAwaited }) });
  return { clock, store, behind, come: complete.resolve };
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

const scout = asHandle("scout");
const delivery = {
  delivery: { specialist: scout, id: "d1", kind: "odd", scheme: "plain", body: new Uint8Array([1]) },
  plain: undefined,
  onStored: () => undefined,
} as const;
const event = { specialist: scout, id: asEventId("post.created:p1"), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const;
const run = { specialist: scout, now: 0, intents: [], caps: DEFAULT_BRAKES, brake: () => undefined, report: () => undefined };

/** What needs the past of a specialist, with what the past brings and the answer that it must lead to. */
const NEEDY: readonly (readonly [string, (store: Store) => Promise<unknown>, (store: Store) => Promise<unknown>, unknown])[] = [
  ["an event", async (store) => (await store.putEvents({ events: [event] }, 0)).known, (past) => past.putEvents({ events: [event] }, 0), 1],
  ["a delivery", (store) => store.putDelivery(delivery, 0), (past) => past.putDelivery(delivery, 0), "known"],
  [
    "a run",
    (store) => store.recordRun(event, run).catch(({ code }: { readonly code: string }) => code),
    (past) => past.putEvents({ events: [event] }, 0),
    "run_superseded",
  ],
];

test.each(NEEDY)("%s waits for the past of its specialist, and is judged by it", async (_name, ask, arrive, expected) => {
  const { clock, store, behind, come } = lab();
  let answer: unknown;
  const asked = ask(store).then((given) => (answer = given));
  await clock.advance(MINUTE);
  expect(answer).toBeUndefined();
  await clock.run(arrive(behind));
  come();
  await clock.run(asked);
  expect(answer).toBe(expected);
});

test("an intent that is not here is looked for in the past, and one that is here is given at once", async () => {
  const { clock, store, behind, come } = lab(() => undefined);
  await clock.run(decide(behind, 0, [{ id: asIntentId("here") }]));
  expect(await clock.run(store.findIntent("here"))).toMatchObject({ id: "here" });
  let found: Intent | undefined;
  const asked = store.findIntent("late").then((given) => (found = given));
  await clock.advance(MINUTE);
  await clock.run(decide(behind, 0, [{ id: asIntentId("late") }]));
  expect(found).toBeUndefined();
  come();
  await clock.run(asked);
  expect(found).toMatchObject({ id: "late" });
});
