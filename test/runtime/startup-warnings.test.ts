/** Warnings at the start: unfinished work without a definition is named, and finished work is not. */
import { expect, test } from "vitest";
import { asHandle, asIntentId, type Handle } from "../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { warnLeftBehind, warnRestored } from "../../src/runtime/startup-warnings.ts";
import { newWatch } from "../../src/store/sources.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

function logging() {
  const lines: LogLine[] = [];
  return { lines, log: createLogger({ level: "info", now: () => 0, sink: (line) => void lines.push(line) }) };
}

async function warned({ store, clock, on }: Desk, running: readonly Handle[] = []): Promise<readonly LogLine[]> {
  const { lines, log } = logging();
  await on(warnLeftBehind(log, store, new Set(running), clock.now()));
  return lines;
}

test("jobs and actions of a specialist without a definition are counted", async () => {
  const here = desk();
  const { clock, store, on } = here;
  await on(decide(store, clock.now(), [{ id: asIntentId("a1") }, { id: asIntentId("a2"), conflictKey: "2" }]));
  const watch = { specialist: SCOUT, kind: "job", object: "j1", ...newWatch("job", clock.now()), dueAt: clock.now() } as const;
  await on(store.putEvents({ events: [], watches: [watch] }, clock.now()));
  expect(await warned(here)).toMatchObject([
    { level: "warn", message: "scout no longer has a definition, and leaves unfinished work behind", fields: { jobs: 1, actions: 2 } },
  ]);
  expect(await warned(here, [SCOUT])).toEqual([]);
});

test("a specialist that left nothing behind is not named", async () => {
  const here = desk();
  const { clock, store, on } = here;
  const [intent] = await on(decide(store, clock.now(), [{ id: asIntentId("a1") }]));
  await on(
    store.moveIntent({ seq: intent?.seq ?? 0, by: "outbox", change: { state: "refused", code: "x:no", message: "no" }, now: clock.now() }),
  );
  await here.event("e1", { specialist: asHandle("quill") });
  expect(await warned(here)).toEqual([]);
});

test("a start reads nothing of specialists that run", async () => {
  const { clock, store, on } = desk();
  await on(store.saveAccount(SCOUT, "me", clock.now()));
  await on(store.saveAccount(asHandle("quill"), "you", clock.now()));
  const asked: (Handle | undefined)[] = [];
  const overview: typeof store.overview = (now, specialist) => {
    asked.push(specialist);
    return store.overview(now, specialist);
  };
  await on(warnLeftBehind(logging().log, { ...store, overview }, new Set([SCOUT]), clock.now()));
  expect(asked).toEqual(["quill"]);
});

test("a restored copy is named by its time, with what it cannot know", () => {
  const { lines, log } = logging();
  warnRestored(log, Date.UTC(2026, 10, 21), 3);
  expect(lines).toMatchObject([
    { level: "warn", message: expect.stringContaining("a copy of 2026-11-21T00:00:00.000Z") as string, fields: { doubts: 3 } },
  ]);
});
