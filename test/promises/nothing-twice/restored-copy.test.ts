/** A store restored from a copy: the hour that is not in it has happened, and must not happen again. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { asHandle } from "../../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../../src/core/log.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { virtualRuntime } from "../../harness/harness.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { plainLink } from "../../harness/plain-transport.ts";

/** In memory where there is such a place: hours of virtual time wait for many disk flushes otherwise. */
const PLACE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A specialist with words of its own for each life, as a model has, on a busy network whose time is virtual. */
function world() {
  const folder = mkdtempSync(join(PLACE, "retinue-restored-"));
  folders.push(folder);
  const file = join(folder, "store.sqlite");
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(3);
  const log: LogLine[] = [];
  const network = createLocalNetwork({
    clock,
    random,
    residents: { perMinute: { post: 0.3, reply: 0, like: 0, follow: 0, offer: 0, work: 0 }, already: { post: 4 } },
  });
  const { key } = network.provision({ handle: "scout", tier: "pro" });
  const transport = plainLink(network, "b");
  let lives = 0;
  const begin = async () => {
    const life = ++lives;
    const scout = createSpecialist({
      handle: "scout",
      tier: "pro",
      watch: { feed: { from: "start" } },
      may: ["posts.reply", "posts.create"],
      brakes: { repliesPerHour: 1_000 },
      schedules: {
        notes: { every: "10m", onMissed: "once", run: (act) => void act.post(`note ${act.now}, in the words of life ${life}`) },
      },
      on: { "post.created": (post, act) => void act.reply(post, `about ${post.id}, in the words of life ${life}`) },
    });
    const store = openSqliteStore({ path: file, blocking: true, clock, random: random.fork(`life ${life}`) });
    const runtime = virtualRuntime({
      specialists: [scout],
      store,
      transport,
      keyOf: () => key,
      clock,
      random: random.fork(`runtime ${life}`),
      log: createLogger({ level: "info", now: () => clock.now(), sink: (line) => void log.push(line) }),
    });
    const recovered = await clock.run(runtime.start());
    return {
      store,
      recovered,
      async end() {
        await clock.run(runtime.stop());
        await clock.run(store.close());
      },
    };
  };
  network.start();
  const replies = () => network.truth.effects({ agent: "scout", operation: "posts.reply" });
  const notes = () => network.truth.effects({ agent: "scout", operation: "posts.create" });
  return { folder, file, clock, network, log, begin, replies, notes };
}

const repeated = (values: readonly string[]): readonly string[] => values.filter((value, i) => values.indexOf(value) !== i);

describe("a copy that is put back after an hour", () => {
  test.each(["written by backup", "of the file itself"])("%s: nothing is said twice, and what is new is answered", async (kind) => {
    const { folder, file, clock, log, begin, replies, notes } = world();
    const copy = join(folder, "copy.sqlite");
    const first = await begin();
    expect(first.recovered.restoredFrom).toBeUndefined();
    await clock.advance(2 * HOUR);
    const copiedAt = clock.now();
    if (kind === "written by backup") await first.store.backup(copy);
    else {
      await first.end(); // a file that is at work cannot be copied by itself
      copyFileSync(file, copy);
    }
    const going = kind === "written by backup" ? first : await begin();
    expect(going.recovered.restoredFrom).toBeUndefined();
    await clock.advance(HOUR);
    await going.end();
    const [repliesThen, notesThen] = [replies().length, notes().length];
    for (const rest of ["-wal", "-shm"]) rmSync(file + rest, { force: true });
    copyFileSync(copy, file);

    await clock.advance(5 * MINUTE);
    const restoredAt = clock.now();
    const second = await begin();
    expect(second.recovered.restoredFrom).toBeGreaterThan(copiedAt - 11 * MINUTE);
    expect(second.recovered.restoredFrom).toBeLessThanOrEqual(copiedAt);
    expect(log.filter(({ message }) => message.includes("restored from a copy"))).toHaveLength(1);
    await clock.advance(3 * HOUR);

    expect(repeated(replies().map(({ target }) => target))).toEqual([]);
    const slots = notes().map(({ at }) => String(Math.floor(at / (10 * MINUTE))));
    expect(repeated(slots)).toEqual([]);
    expect(repliesThen).toBeGreaterThan(40);
    expect(replies().filter(({ at }) => at > restoredAt).length).toBeGreaterThan(40);
    expect(notes().length).toBeGreaterThan(notesThen + 15);
    const left = await second.store.intents({ specialist: asHandle("scout"), states: ["in_doubt", "ready", "parked"], limit: 100 });
    expect(left.filter(({ createdAt }) => createdAt < clock.now() - HOUR)).toEqual([]);
    await second.end();

    const third = await begin();
    expect(third.recovered.restoredFrom).toBeUndefined(); // once is enough
    await third.end();
  });
});
