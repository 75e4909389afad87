/** What a list without further pages passes over, what it does not, and a list that cannot be read. */
import { afterEach, expect, test } from "vitest";
import type { Announcements } from "../../../src/core/events.ts";
import { createLogger } from "../../../src/core/log.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createGuardian } from "../../../src/guardian/guardian.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { BASE_URL, virtualRuntime } from "../../harness/harness.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A reader of jobs that are listed as `open` says: whole, without pages. `statesEnd` adds that no page follows. */
async function reading(open: string[], network: { fails?: boolean; readonly statesEnd?: true } = {}) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const seen: string[] = [];
  const gaps: Announcements["gap"][] = [];
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  const warned: string[] = [];
  const runtime = virtualRuntime({
    store,
    log: createLogger({ level: "warn", now: () => clock.now(), sink: ({ message }) => void warned.push(message) }),
    specialists: [
      createSpecialist({
        handle: "reader",
        tier: "pro",
        watch: { jobs: { from: "start" } },
        on: { "job.listed": (job) => void seen.push(job.id) },
      }),
    ],
    transport: async ({ path }) => {
      if (network.fails === true && path.startsWith("/v1/jobs"))
        return { kind: "answer", status: 200, headers: {}, text: "<html>", elapsedMs: 1 };
      const jobs = open.map((id) => ({ id, title: id, status: "open" })).toReversed();
      const end = network.statesEnd === true ? { next_cursor: null } : {};
      return {
        kind: "answer",
        status: 200,
        headers: {},
        text: JSON.stringify(path.startsWith("/v1/jobs") ? { jobs, ...end } : { agents: [{ id: "me", handle: "reader" }] }),
        elapsedMs: 1,
      };
    },
    keyOf: () => "sk_live_of_reader",
    clock,
    random: seededRandom(2),
  });
  runtime.announcer.on("gap", (gap) => void gaps.push(gap));
  await clock.run(runtime.start());
  ends.push(() => clock.run(runtime.stop()));
  await clock.advance(MINUTE);
  const guardian = createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: BASE_URL.b } });
  return { clock, seen, gaps, warned, guardian };
}

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `j${from + i}`);

test("offers that are all taken between two looks are no gap", async () => {
  const open = names(3);
  const { clock, seen, gaps } = await reading(open);
  open.splice(0, 3, ...names(3, 3));
  await clock.advance(MINUTE);
  expect(seen).toEqual(names(6));
  expect(gaps).toEqual([]);
});

test("a page that may have been cut off, and shows nothing of what was known, is a gap", async () => {
  const open = names(10);
  const { clock, gaps } = await reading(open);
  open.splice(0, 10, ...names(10, 50));
  await clock.advance(MINUTE);
  expect(gaps).toMatchObject([{ after: "j9", before: "j50" }]);
});

test("a page that states to be the last is no gap, however many offers have taken the place of those that were known", async () => {
  const open = names(3);
  const { clock, seen, gaps } = await reading(open, { statesEnd: true });
  open.splice(0, 3, ...names(13, 3));
  await clock.advance(MINUTE);
  expect(seen).toEqual(names(16));
  expect(gaps).toEqual([]);
});

test("a page that is as long as the last one is a gap even if both state to be the last, because that network may state it of any", async () => {
  const open = names(20);
  const { clock, gaps } = await reading(open, { statesEnd: true });
  open.splice(0, 20, ...names(20, 50));
  await clock.advance(MINUTE);
  expect(gaps).toMatchObject([{ after: "j19", before: "j50" }]);
});

test("items of a page beyond the bound of a read are reported, also at the first poll", async () => {
  const { seen, gaps } = await reading(names(1_200));
  expect(seen.length).toBe(1_000);
  expect(gaps).toMatchObject([{ before: "j200" }]);
});

test("a list that cannot be read is told of, with its reason, until it can", async () => {
  const network = { fails: true };
  const { clock, seen, warned, guardian } = await reading(names(3), network);
  const told = async () => {
    const { specialists } = await clock.run(guardian.status({}));
    const { reasons } = await clock.run(guardian.why({ id: "reader" }));
    return { unread: specialists[0]?.sources[0]?.readFailure?.message, rules: reasons.map(({ rule }) => rule) };
  };
  expect(await told()).toEqual({ unread: "200, but the body is not JSON", rules: ["list_unread"] });
  expect(warned).toEqual(["jobs of reader cannot be read: 200, but the body is not JSON"]);
  network.fails = false;
  await clock.advance(10 * MINUTE);
  expect(await told()).toEqual({ unread: undefined, rules: [] });
  expect(seen).toEqual(names(3));
});
