/** Many specialists with nothing to do but look now and then: what they weigh, what they cost, how late they are. */
import { join } from "node:path";
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
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { everyMinute, lateness, settled, weigh } from "./crowd-of.ts";
import { ready, settings } from "./subject.ts";

const count = Number(settings["count"]);
/** Weekday mornings, unless its schedules are what is watched. */
const cron = settings["everyMinute"] === true ? "* * * * *" : "0 9 * * 1-5";
const minute = everyMinute();
const clock = systemClock();
const random = systemRandom();
const profile = resolveProfile({ extends: "set-b" });

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
const empty = await settled();
const began = performance.now();
const runtime = createRuntime({
  specialists: Array.from({ length: count }, (_, i) =>
    createSpecialist({
      handle: `s${i}`,
      id: `id${i}`,
      tier: settings["tier"] === "starter" ? "starter" : "free",
      watch: { feed: true },
      may: ["posts.reply"],
      schedules: { digest: { cron, zone: "Europe/London", run: () => minute.fired(`s${i}`) } },
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
minute.begin();

ready({
  port: 0,
  answers: {
    weigh: () => ({ empty, now: weigh(), startMs, known: dueAt.size }),
    known: () => ({ known: dueAt.size }),
    watch: () => {
      measuring = true;
      return {};
    },
    late: () => lateness(lateMs),
    schedules: () => minute.late(),
  },
  async stop() {
    await runtime.stop();
    await opened.close();
    await transport.close();
  },
});
