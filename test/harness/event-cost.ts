/**
 * Run as a process: the runtime with receiver, store on disk and real sockets, which says on each message how much it has allocated, how
 * many statements ran, and how long the store's log is. Needs `--expose-gc` and a young generation in which nothing is collected meanwhile.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { createKeys } from "../../src/client/auth.ts";
import { createTransport } from "../../src/client/transport.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { livePacer } from "../../src/limits/pacing.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { BATCH } from "../../src/store/sqlite/roll-up.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { countStatements } from "./count-statements.ts";

const [sink = "", folder = "", secret = "", specialists = ""] = process.argv.slice(2);
const unlimited = Number.POSITIVE_INFINITY;
const statements = countStatements();
let collections = 0;
new PerformanceObserver((list) => void (collections += list.getEntries().length)).observe({ entryTypes: ["gc"] });

const clock = systemClock();
const random = systemRandom();
const path = join(folder, "store.sqlite");
const database = openDatabase(path);
database.db.exec("PRAGMA wal_autocheckpoint = 0"); // so that the log only grows
const store = openSqliteStore({ path, database: { ...database, checkpoints: undefined }, clock, random });
const runtime = createRuntime({
  specialists: Array.from({ length: Number(specialists) }, (_, n) =>
    createSpecialist({
      handle: `s${n}`,
      id: `id${n}`,
      tier: "pro",
      watch: { feed: true, threads: false, mentions: false },
      may: ["posts.reply"],
      brakes: { repliesPerThread: unlimited, repliesPerAuthorPerHour: unlimited, repliesPerHour: unlimited, sameTextWithin: 0 },
      on: { "post.created": (post, act) => void act.reply(post, `thanks ${post.id}`) },
    }),
  ),
  profile: resolveProfile({ extends: "set-b", tiers: { pro: { perHour: 1e9, perDay: 1e9 } } }),
  baseUrl: `http://127.0.0.1:${sink}/v1`,
  // Facts are rolled up every half minute, for all events since: `roll` does it, and counts it by itself.
  store: { ...store, rollUp: () => Promise.resolve(false) },
  transport: createTransport({ clock }).send,
  keys: createKeys({ read: (handle) => `sk_live_${handle}_abcdefghijkl`, salt: new Secret("salt-salt-salt-salt") }),
  pacer: livePacer(clock, { spacingMs: 0 }),
  clock,
  random,
  log: silentLogger(),
  receiver: { port: 0, host: "127.0.0.1", url: undefined, allowUnsigned: false, readSecrets: () => [new Secret(secret)] },
});
await runtime.start();

process.on("disconnect", () => process.exit(0));
process.on("message", (what) => {
  if (what === "collect") {
    globalThis.gc?.();
    // The observer is told of a collection in a later turn.
    setImmediate(() => setImmediate(() => ((collections = 0), tell())));
  } else if (what === "roll") void roll();
  else tell();
});

/** Tells the bytes of log for each fact that is rolled up. */
async function roll(): Promise<void> {
  const before = statSync(`${path}-wal`).size;
  let facts = 0;
  while (await store.rollUp()) facts += BATCH;
  process.send?.({ bytesAFact: (statSync(`${path}-wal`).size - before) / facts });
}

function tell(): void {
  const { heapUsed } = process.memoryUsage();
  process.send?.({ heapUsed, collections, statements: statements(), logBytes: statSync(`${path}-wal`).size });
}

process.send?.({ port: Number(new URL((await runtime.webhooks?.shown())?.url ?? "").port) });
