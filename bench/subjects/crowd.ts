/** Many specialists with nothing to do but look now and then: what they weigh, what they cost, how late they are. */
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createKeys } from "../../src/client/auth.ts";
import { createTransport } from "../../src/client/transport.ts";
import { resolveProfile } from "../../src/contract/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Scrubber, Secret } from "../../src/core/secret.ts";
import { livePacer } from "../../src/limits/pacing.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { percentile } from "../harness/stats.ts";
import { ready, settings } from "./subject.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const count = Number(settings["count"]);
const clock = systemClock();
const random = systemRandom();
const profile = resolveProfile({ extends: "set-b" });

function weigh(): { readonly heapMb: number; readonly rssMb: number } {
  for (let i = 0; i < 4; i++) collect();
  const { rss, heapUsed } = process.memoryUsage();
  return { heapMb: heapUsed / 1_048_576, rssMb: rss / 1_048_576 };
}

/** When each specialist's next look at the feed is to be, as the runtime wrote it down. */
const dueAt = new Map<string, number>();
const lateMs: number[] = [];
let measuring = false;

function noting(store: Store): Store {
  return {
    ...store,
    putEvents(arrival, now) {
      for (const { specialist, source, dueAt: at } of arrival.cursors ?? [])
        if (source === "feed" && at !== null) dueAt.set(specialist, at);
      return store.putEvents(arrival, now);
    },
  };
}

const opened = openSqliteStore({ path: join(String(settings["folder"]), "crowd.sqlite"), clock, random });
const transport = createTransport({ clock });
const empty = weigh();
const began = performance.now();
const runtime = createRuntime({
  specialists: Array.from({ length: count }, (_, i) =>
    createSpecialist({
      handle: `s${i}`,
      id: `id${i}`,
      tier: settings["tier"] === "starter" ? "starter" : "free",
      watch: { feed: true },
      may: ["posts.reply"],
      schedules: { digest: { cron: "0 9 * * 1-5", zone: "Europe/London", run: () => undefined } },
      on: { "post.created": () => undefined },
    }),
  ),
  profile,
  baseUrl: `http://127.0.0.1:${settings.sink}/v1`,
  store: noting(opened),
  transport: transport.send,
  keys: createKeys({
    read: (handle) => `sk_live_${handle}_abcdefghijkl`,
    salt: new Secret("bench-salt-bench-salt"),
    scrubber: new Scrubber(),
  }),
  pacer: livePacer(clock),
  clock,
  random,
  log: silentLogger(),
});
runtime.announcer.on("request", ({ handle, at, tookMs }) => {
  const due = dueAt.get(handle);
  if (measuring && due !== undefined) lateMs.push(Math.max(0, at - tookMs - due));
});
await runtime.start();
const startMs = performance.now() - began;

ready({
  port: 0,
  answers: {
    weigh: () => ({ empty, now: weigh(), startMs, known: dueAt.size }),
    known: () => ({ known: dueAt.size }),
    watch: () => {
      measuring = true;
      return {};
    },
    late: () => ({
      looks: lateMs.length,
      ...(lateMs.length === 0 ? {} : { p50: percentile(lateMs, 50), p99: percentile(lateMs, 99), most: percentile(lateMs, 100) }),
    }),
  },
  async stop() {
    await runtime.stop();
    await opened.close();
    await transport.close();
  },
});
