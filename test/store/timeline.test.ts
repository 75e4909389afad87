/** The port of a timeline: an event, the actions it led to, and their requests, by pages of a fixed number of statements. */
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { createReadTable } from "../../src/store/sqlite/people-reads.ts";
import { MAX_REQUESTS, MAX_STEPS, MAX_TEXT } from "../../src/store/timeline.ts";
import { admit, endOf, withKey } from "../harness/admitted.ts";
import { decide } from "../harness/builders.ts";
import { countStatements } from "../harness/count-statements.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const timeline = ({ store, on }: Desk, over: { readonly before?: number; readonly limit?: number } = {}) =>
  on(store.reads.timeline({ specialist: SCOUT, limit: 10, ...over }));

/** An action of `scout` that was sent, had no answer that counts, and was sent again. */
async function sentTwice(at: Desk): Promise<void> {
  const { clock, store, on } = at;
  await withKey(at);
  const [intent] = await on(decide(store, clock.now(), [{ id: asIntentId("a") }]));
  if (intent === undefined) throw new Error("it is stored");
  const first = await admit(at, intent);
  const again = { state: "ready", nextAt: clock.now() } as const;
  store.complete(
    endOf(at, first, { outcome: "limited", status: 429, note: "slow down", intent: { seq: intent.seq, id: intent.id, change: again } }),
  );
  await clock.advance(MINUTE);
  await admit(at, intent);
}

test("an event is shown with its action and each of its requests, before and after they are rolled up", async () => {
  const at = desk();
  const { clock, store, on } = at;
  const from = clock.now();
  await sentTwice(at);
  const shown = async () => (await timeline(at)).rows;
  const before = await shown();
  expect(before).toMatchObject([
    {
      event: { id: "schedule:talk:a", state: "done", doneAt: from },
      actions: [
        {
          intent: { id: "a", state: "sending", attempt: 2, input: { content: "post 0" } },
          requests: [{ at: from, endedAt: from, outcome: "limited", status: 429, note: "slow down" }, { at: from + MINUTE }],
        },
      ],
    },
  ]);
  expect(before[0]?.actions[0]?.requests[1]).not.toHaveProperty("endedAt");
  await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect(await shown()).toEqual(before);
});

test("pages go on where the last one ended, and name the number of all, of this specialist alone", async () => {
  const at = desk();
  for (const id of ["e1", "e2", "e3"]) await at.event(id);
  await at.event("other", { specialist: asHandle("quill") });
  const seen = async (before?: number) => {
    const { rows, total } = await timeline(at, { limit: 2, ...(before === undefined ? {} : { before }) });
    return { ids: rows.map(({ event }) => event.id), last: rows.at(-1)?.event.seq, total };
  };
  const first = await seen();
  expect(first).toMatchObject({ ids: ["e3", "e2"], total: 3 });
  expect(await seen(first.last)).toMatchObject({ ids: ["e1"], total: 3 });
  await at.on(at.store.prune(at.clock.now(), DEFAULT_RETENTION));
  await at.event("e4");
  expect(await seen()).toMatchObject({ ids: ["e4", "e3"], total: 4 });
});

test("an event that was pruned is on no page and in no number", async () => {
  const at = desk();
  await at.on(decide(at.store, at.clock.now(), [{ id: asIntentId("a") }]));
  await at.on(at.store.prune(at.clock.now(), DEFAULT_RETENTION));
  await at.clock.advance(31 * DAY);
  await at.on(at.store.prune(at.clock.now(), DEFAULT_RETENTION));
  expect(await timeline(at)).toEqual({ rows: [], total: 0 });
});

test("texts are cut, and what is nested is left out", async () => {
  const at = desk();
  await at.event("long", { payload: { content: "x".repeat(1_000_000), raw: { any: ["thing"] }, likes: 3 } });
  await at.event("list", { payload: ["a", { b: 1 }] });
  await at.event("text", { payload: "words" });
  const [text, list, long] = (await timeline(at)).rows.map(({ event }) => event.payload);
  expect(long).toEqual({ content: "x".repeat(MAX_TEXT), likes: 3 });
  expect([list, text]).toEqual([{ 0: "a" }, {}]);
});

test("steps of a handling that is not over are listed with their length, and counted", async () => {
  const at = desk();
  const { clock, store, on } = at;
  await at.event("e1");
  const [claimed] = store.claimEvents(SCOUT, clock.now(), 1);
  for (let n = 0; n < MAX_STEPS + 5; n++) await on(store.saveStep(claimed?.seq ?? 0, `step ${n}`, "four"));
  const [row] = (await timeline(at)).rows;
  expect(row).toMatchObject({ event: { state: "running" }, stepCount: MAX_STEPS + 5 });
  expect(row?.steps).toHaveLength(MAX_STEPS);
  expect(row?.steps[0]).toEqual({ name: "step 0", bytes: 6 });
});

test("of many requests of one action the newest are listed", async () => {
  const at = desk();
  const { clock, store, on } = at;
  await withKey(at);
  const [intent] = await on(decide(store, clock.now(), [{ id: asIntentId("a") }]));
  if (intent === undefined) throw new Error("it is stored");
  for (let n = 0; n < MAX_REQUESTS + 3; n++) {
    await clock.advance(MINUTE);
    const change = { state: "ready", nextAt: clock.now() } as const;
    const note = `try ${n}`;
    store.complete(endOf(at, await admit(at, intent), { outcome: "limited", note, intent: { seq: intent.seq, id: intent.id, change } }));
  }
  const [action] = (await timeline(at)).rows[0]?.actions ?? [];
  expect(action?.intent.attempt).toBe(MAX_REQUESTS + 3);
  expect(action?.requests.map(({ note }) => note)).toEqual(Array.from({ length: MAX_REQUESTS }, (_, n) => `try ${n + 3}`));
});

test("a page takes as many statements for a hundred events as for one", async () => {
  const at = desk();
  await at.on(decide(at.store, at.clock.now(), [{ id: asIntentId("first") }]));
  const count = countStatements(onTestFinished);
  const cost = async (): Promise<number> => {
    await timeline(at, { limit: 100 });
    const before = count();
    await timeline(at, { limit: 100 });
    return count() - before;
  };
  const one = await cost();
  const drafts = Array.from({ length: 99 }, (_, n) => ({ id: asIntentId(`i${n}`), conflictKey: `${n}` }));
  await at.on(decide(at.store, at.clock.now(), drafts));
  expect((await timeline(at, { limit: 100 })).rows).toHaveLength(100);
  expect(await cost()).toBe(one);
});

test("each statement of a page finds its rows by number or by an index", () => {
  const { db, close } = openDatabase(MEMORY);
  onTestFinished(close);
  const texts: string[] = [];
  class Listed extends DatabaseSync {
    override prepare(text: string) {
      texts.push(text);
      return db.prepare(text);
    }
  }
  const listed = new Listed(MEMORY);
  createReadTable(listed);
  listed.close();
  const pages = texts.filter(
    (text) => /event_of|attempt_of|\bstep\b/.test(text) && /page|wanted|count/.test(text) && !text.includes("usage_hour"),
  );
  expect(pages.length).toBeGreaterThanOrEqual(5);
  const scans = pages.flatMap((text) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map(({ detail }) => String(detail))
      .filter((detail) => /^SCAN (event|run|intent|attempt|answer|change|open|step|event_of|attempt_of)\b/.test(detail)),
  );
  expect(scans).toEqual([]);
});
