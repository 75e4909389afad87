/** The port of runs: a finished handling is one transaction, its steps are stored once, and an event has one finished run. */
import { expect, onTestFinished, test } from "vitest";
import { asEventId, asIntentId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { FinishedRun } from "../../src/store/runs.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const draft = (id: string, over: Partial<DraftIntent> = {}): DraftIntent => ({
  id: asIntentId(id),
  ordinal: 0,
  operation: "posts.reply",
  input: {},
  effect: "reconciled",
  lane: "reply",
  conflictKey: id,
  hops: 0,
  ...over,
});

async function claimed(here: Desk, id = "e1"): Promise<FinishedRun> {
  await here.event(id);
  const [event] = here.store.claimEvents(SCOUT, here.clock.now(), 1);
  return {
    seq: event?.seq ?? 0,
    specialist: SCOUT,
    now: here.clock.now(),
    intents: [],
    caps: DEFAULT_BRAKES,
    brake: () => undefined,
    report: () => undefined,
  };
}

test("a run ends its event, keeps its state and leaves its intents in their states", async () => {
  const here = desk();
  const run = await claimed(here);
  const review = { payloadHash: "h", amount: undefined, expiresAt: here.clock.now() + 5 };
  const intents = [
    draft("a"),
    draft("b", { ordinal: 1, review }),
    draft("c", { ordinal: 2, refusal: { code: "own_post", message: "no" } }),
  ];
  const stored = here.store.finishRun({ ...run, state: { seen: 1 }, intents });
  expect(stored.map(({ id, state }) => [id, state])).toEqual([
    ["a", "ready"],
    ["b", "proposed"],
    ["c", "refused"],
  ]);
  expect(here.store.loadState(SCOUT)).toEqual({ seen: 1 });
  expect((await here.on(here.store.findEvents("e1", 1)))[0]?.state).toBe("done");
});

test("a brake refuses a text in the same transaction, and reports it", async () => {
  const here = desk();
  const run = await claimed(here);
  const report = {
    specialist: SCOUT,
    id: asEventId("intent.refused:a"),
    kind: "intent.refused",
    payload: {},
    via: "runtime",
    hops: 1,
  } as const;
  const braked: FinishedRun = {
    ...run,
    intents: [draft("a", { textHash: "h", thread: "t" })],
    brake: () => ({ code: "brake_thread", message: "no" }),
    report: () => report,
  };
  expect(here.store.finishRun(braked)).toMatchObject([{ state: "refused", code: "brake_thread" }]);
  expect(await here.on(here.store.findEvents("intent.refused:a", 1))).toHaveLength(1);
});

test("an intent that acts on a refused one of the same run is refused with it, and so is any that acts on that", async () => {
  const here = desk();
  const run = await claimed(here);
  const intents = [
    draft("a", { refusal: { code: "own_post", message: "no" } }),
    draft("b", { ordinal: 1, targetIntent: asIntentId("a") }),
    draft("c", { ordinal: 2, targetIntent: asIntentId("b") }),
    draft("d", { ordinal: 3 }),
    draft("e", { ordinal: 4, targetIntent: asIntentId("d") }),
  ];
  const stored = here.store.finishRun({ ...run, intents });
  expect(stored.map((one) => ("code" in one ? one.code : one.state))).toEqual([
    "own_post",
    "depends_on_refused",
    "depends_on_refused",
    "ready",
    "ready",
  ]);
});

test("a brake sees the texts that the same run says before, and none that it refused", async () => {
  const here = desk();
  const run = await claimed(here);
  const seen: number[] = [];
  const text = (id: string, ordinal: number): DraftIntent => draft(id, { ordinal, textHash: id, thread: "t" });
  here.store.finishRun({
    ...run,
    intents: [text("a", 0), text("b", 1), text("c", 2)],
    brake: ({ id }, { inThread }) => {
      seen.push(inThread);
      return id === asIntentId("b") ? { code: "brake_thread", message: "no" } : undefined;
    },
  });
  expect(seen).toEqual([0, 1, 1]);
});

test("a run that was given back meanwhile is refused, and changes nothing", async () => {
  const here = desk();
  const run = await claimed(here);
  here.store.retryEvent(run.seq, { notBefore: here.clock.now(), failed: false });
  expect(() => here.store.finishRun({ ...run, state: { seen: 1 }, intents: [draft("a")] })).toThrow(
    expect.objectContaining({ code: "run_superseded" }),
  );
  expect([here.store.loadState(SCOUT), await here.on(here.store.findIntent("a"))]).toEqual([{}, undefined]);
});

test("an event with its finished run is stored once", async () => {
  const here = desk();
  const { seq: _seq, ...run } = await claimed(here);
  const event = { specialist: SCOUT, id: asEventId("call:1"), kind: "guardian.call", payload: {}, via: "runtime", hops: 0 } as const;
  expect(await here.on(here.store.recordRun(event, { ...run, intents: [draft("a")] }))).toHaveLength(1);
  await expect(here.on(here.store.recordRun(event, { ...run, intents: [draft("b")] }))).rejects.toMatchObject({ code: "run_superseded" });
});

test("steps come back with the next claim, and the first value of a name stays", async () => {
  const here = desk();
  const run = await claimed(here);
  await here.on(here.store.saveStep(run.seq, "step:model", { words: 7 }));
  await here.on(here.store.saveStep(run.seq, "step:model", 8));
  here.store.retryEvent(run.seq, { notBefore: here.clock.now(), failed: false });
  const [again] = here.store.claimEvents(SCOUT, here.clock.now(), 1);
  expect([...(again?.steps ?? [])]).toEqual([["step:model", { words: 7 }]]);
});

test.each([1, 3_000])("steps come back after the death of a process, in front of a backlog of %i", async (backlog) => {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const clock = virtualClock(Date.UTC(2026, 2, 1));
  const open = () => openSqliteStore({ path: MEMORY, database, clock, random: seededRandom(1) });
  const first = open();
  const events = Array.from(
    { length: backlog },
    (_, i) =>
      ({ specialist: SCOUT, id: asEventId(`post.created:p${i}`), kind: "post.created", payload: {}, via: "poll", hops: 0 }) as const,
  );
  await clock.run(first.putEvents({ events }, clock.now()));
  const [event] = first.claimEvents(SCOUT, clock.now(), 1);
  await clock.run(first.saveStep(event?.seq ?? 0, "step:model", { words: 7 }));
  const next = open(); // nothing was folded
  await clock.run(next.recover(clock.now(), 0));
  const [again] = next.claimEvents(SCOUT, clock.now(), 1);
  expect([again?.seq, [...(again?.steps ?? [])]]).toEqual([event?.seq, [["step:model", { words: 7 }]]]);
});
