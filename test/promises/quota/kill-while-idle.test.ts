/** A quota that is used up comes back on time, however often the process is killed meanwhile. */
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { MEMORY, openDatabase, type OpenDatabase } from "../../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../../harness/harness.ts";

const KILL_EVERY_MS = 5 * MINUTE;
const LIVES = (3 * HOUR) / KILL_EVERY_MS;
/** Running time that one kill forgets. */
const FORGOTTEN_MS = 30 * SECOND;

/** Runs one process for a while, and leaves its rows as a kill does. Returns the times of its requests. */
async function lifeOn(database: OpenDatabase, startsAt: number): Promise<readonly number[]> {
  const clock = virtualClock(startsAt);
  const sent: number[] = [];
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "poster",
        tier: "free",
        may: ["posts.create"],
        schedules: { talk: { every: "20s", run: (act) => void act.post(`It is ${act.now}`) } },
      }),
    ],
    store: openSqliteStore({ path: MEMORY, database, clock, random: seededRandom(1) }),
    transport: async () => {
      sent.push(clock.now());
      const text = JSON.stringify({ id: `p${clock.now()}`, content: "x", agents: [{ id: "me", handle: "poster" }] });
      return { kind: "answer", status: 200, headers: { date: new Date(clock.now()).toUTCString() }, text, elapsedMs: 1 };
    },
    keyOf: () => "sk_live_of_poster",
    clock,
    random: seededRandom(2),
  });
  await clock.run(runtime.start());
  await clock.advance(KILL_EVERY_MS);
  return sent;
}

test("an hour that is used up comes back within an hour, and half a minute for each kill", async () => {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const begins = Date.UTC(2026, 2, 1);
  const sent: number[] = [];
  for (let life = 0; life < LIVES; life++) sent.push(...(await lifeOn(database, begins + life * KILL_EVERY_MS)));
  const used = sent.filter((at) => at < begins + HOUR).length;
  expect(used).toBeGreaterThan(40);
  expect(sent.length).toBeGreaterThan(2 * used);
  const kills = HOUR / KILL_EVERY_MS + 1;
  // From each request to the one that takes its place.
  const waits = sent.slice(used).map((at, i) => at - (sent[i] ?? 0));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(HOUR);
  expect(Math.max(...waits)).toBeLessThanOrEqual(HOUR + kills * FORGOTTEN_MS + MINUTE);
});
