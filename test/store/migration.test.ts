/** A store of an earlier schema keeps what it held when its rows become facts, wherever a process dies meanwhile. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";
import { LANES } from "../../src/contract/operations.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, SECOND } from "../../src/core/units.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

const scout = asHandle("scout");
const key = asKeyId("k1");
/** The moment at which the old store was written. */
const NOW = Date.UTC(2026, 10, 22);
/** Events and intents in every state, one request under way and one answered, as the version with schema 13 wrote and showed them. */
const OLD_STORE = readFileSync(join(import.meta.dirname, "schema-13.sql"), "utf8");
const OLD_VIEW: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "schema-13.json"), "utf8"));

function oldStore(): string {
  const folder = mkdtempSync(join(tmpdir(), "retinue-migration-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.sqlite");
  const db = new DatabaseSync(file);
  db.exec(OLD_STORE);
  db.close();
  return file;
}

function opened(path: string): Store {
  return openSqliteStore({ path, clock: systemClock(), random: seededRandom(1) });
}

const event = (id: string) =>
  ({ specialist: scout, id: eventId("post.created", id), kind: "post.created", payload: { id }, via: "poll", hops: 0 }) as const;

const IDS = ["mended", "timed", "done", "other", "third", "poison", "later", "running", "waiting"];

async function shown(store: Store): Promise<unknown> {
  const events = await Promise.all(IDS.map((id) => store.findEvents(event(id).id, 1)));
  const overview = (await store.overview(NOW)).get(scout);
  const view = {
    intents: await store.intents({ limit: 20 }),
    counts: overview?.counts,
    parked: await store.parkedEvents(undefined, 10),
    events: events.flat().map(({ id, state, note, failure, attempts, doneAt }) => ({
      id,
      state: state === "running" ? "ready" : state,
      note,
      failure,
      attempts,
      doneAt,
    })),
    failing: await store.failing(undefined, 10),
    failed: (await store.failedEvents({ limit: 10 })).map(({ id }) => id),
    held: overview?.held,
    about: (await store.eventsAbout(["later", "done"], ["post.created"], 10)).map(({ id }) => id),
    due: store.dueIntents(scout, LANES, NOW, 10),
    doubts: await store.doubtfulIntents(scout, NOW + HOUR, 10),
    open: await store.openAttempts(),
    quota: await store.quotaUse(key, NOW),
    work: store.dueWork(scout, LANES, NOW + 2 * HOUR),
    refs: [...(await store.claimedRefs({ specialist: scout, operation: "posts.reply" }, ["r1", "r2"]))],
    unanswered: await store.unansweredAttempts((await store.findIntent("sent"))?.seq ?? 0),
  };
  return JSON.parse(JSON.stringify(view));
}

test("a store of an earlier schema shows what it showed, and goes on from there", async () => {
  const file = oldStore();
  const store = opened(file);
  expect(await shown(store)).toEqual(OLD_VIEW);
  expect(existsSync(`${file}-before-facts`)).toBe(true);
  expect(await store.putEvents({ events: [event("done")] }, NOW)).toEqual({ fresh: [], known: 1 });
  // A crash left the request under way and the running event.
  expect(await store.recover(NOW, SECOND)).toEqual({ events: 1, doubts: 1, attempts: 1 });
  const claimed = store.claimEvents(scout, NOW, 5);
  expect(claimed.map(({ id, steps }) => [id, [...steps]])).toEqual([[event("running").id, [["fetched", { n: 1 }]]]]); // alone: it may have ended the process
  const before = (await store.intents({ limit: 20 })).map(({ id }) => id);
  await store.close();
  const again = opened(file);
  expect(existsSync(`${file}-before-facts`)).toBe(false);
  expect((await again.intents({ limit: 20 })).map(({ id }) => id)).toEqual(before);
  expect(await again.unparkEvent(scout, asEventId("post.created:poison"), NOW)).toBe(true);
  await again.close();
});

test("requests, late events and the events of a specialist are there for what was stored before", async () => {
  const file = oldStore();
  const store = opened(file);
  expect(await store.reads.hours({ since: 0 })).toEqual([{ at: NOW, requests: 2, late: { count: 0, maxMs: SECOND }, money: {} }]);
  const { rows, total } = await store.reads.timeline({ specialist: scout, limit: 100 });
  expect([rows.length, total]).toEqual([IDS.length, IDS.length]);
  const ends = rows.filter(({ event: { state } }) => state === "done").map(({ event: { id, doneAt = 0 } }) => [id, doneAt - NOW]);
  expect(ends).toEqual(["mended", "third", "other", "done"].map((id) => [event(id).id, id === "mended" ? SECOND : 0]));
  await store.close();
});

test("a process that dies anywhere in the migration leaves a store that opens whole", async () => {
  let deaths = 0;
  let said = "";
  for (let which = 1; which < 60 && said === ""; which++) {
    const file = oldStore();
    const script = join(import.meta.dirname, "../harness/migrate-and-die.ts");
    const { signal, stdout, stderr } = spawnSync(process.execPath, ["--conditions=retinue-source", script, file, `${which}`], {
      encoding: "utf8",
    });
    const store = opened(file);
    expect(await shown(store)).toEqual(OLD_VIEW);
    await store.close();
    said = stdout + stderr;
    deaths += signal === "SIGKILL" ? 1 : 0;
  }
  expect(said).toBe("opened");
  expect(deaths).toBeGreaterThan(5);
});
