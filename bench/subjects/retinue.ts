/** Retinue as it ships: receiver, durable store, every limit on. Only what is printed is lifted: the tier's figures, brakes and spacing. */
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
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { ready, settings } from "./subject.ts";
import { SECRET } from "./webhook.ts";

const { sink, folder, specialists = 64, timing = {}, spacing = "none", replies = true, postgres } = settings;
const unlimited = Number.POSITIVE_INFINITY;
const clock = systemClock();
const random = systemRandom();
const profile = resolveProfile({
  extends: "set-b",
  tiers: { pro: { perHour: 1e9, perDay: 1e9 } },
  timing: timing as Record<string, number>,
});
const common = { clock, random, lateLandingMs: profile.timing.lateLandingMs };
const store =
  typeof postgres !== "string"
    ? openSqliteStore({ path: join(String(folder), "store.sqlite"), ...common })
    : await openPostgresStore({ address: parsePostgresAddress(postgres, String(folder)), ...common });
const transport = createTransport({ clock });
const secret = new Secret(SECRET);
const runtime = createRuntime({
  specialists: Array.from({ length: Number(specialists) }, (_, i) =>
    createSpecialist({
      handle: `s${i}`,
      id: `id${i}`,
      tier: "pro",
      watch: { feed: replies === true, threads: false, mentions: false },
      may: ["posts.reply"],
      brakes: { repliesPerThread: unlimited, repliesPerAuthorPerHour: unlimited, repliesPerHour: unlimited, sameTextWithin: 0 },
      on: replies === true ? { "post.created": (post, act) => void act.reply(post, `thanks ${post.id}`) } : {},
    }),
  ),
  profile,
  baseUrl: `http://127.0.0.1:${sink}/v1`,
  store,
  transport: transport.send,
  keys: createKeys({ read: (handle) => `sk_live_${handle}_abcdefghijkl`, salt: new Secret("bench-salt-bench-salt") }),
  pacer: livePacer(clock, spacing === "as shipped" ? {} : { spacingMs: 0 }),
  clock,
  random,
  log: silentLogger(),
  receiver: { port: 0, host: "127.0.0.1", url: undefined, allowUnsigned: false, readSecrets: () => [secret] },
});
await runtime.start();
const url = (await runtime.webhooks?.shown())?.url;
if (url === undefined) throw new Error("the receiver does not listen");

ready({
  port: Number(new URL(url).port),
  answers: {
    kept: async () => ({ kept: (await runtime.webhooks?.shown())?.counts.stored }),
    /** What did not come to be, and why; and how much of it nobody can say of whether it came to be. */
    open: async () => {
      const left = await store.intents({
        states: ["proposed", "ready", "sending", "in_doubt", "parked", "refused", "cancelled"],
        limit: 1_000,
      });
      const unsettled = left.filter(({ state }) => state === "in_doubt" || state === "parked" || state === "sending").length;
      const why: Record<string, number> = {};
      for (const { state, code, message } of left) {
        const said = `${state}: ${code ?? message ?? "no reason"}`;
        why[said] = (why[said] ?? 0) + 1;
      }
      return { unsettled, why };
    },
  },
  async stop() {
    await runtime.stop();
    await store.close();
    await transport.close();
  },
});
