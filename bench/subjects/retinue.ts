/** Retinue as it ships: receiver, durable store, every limit on. Only what is printed is lifted: the tier's figures, brakes and spacing. */
import { join } from "node:path";
import { createKeys } from "../../src/client/auth.ts";
import { createTransport } from "../../src/client/transport.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import type { Post } from "../../src/contract/records.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { livePacer } from "../../src/limits/pacing.ts";
import { SALT_LENGTH } from "../../src/runtime/launch.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import type { Act } from "../../src/specialist/act.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { Membership } from "../../src/store/postgres/membership.ts";
import { ALL_SHARDS } from "../../src/store/postgres/ownership.ts";
import { openPostgresStore, openShards } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { ownerOf, ownerOfShard } from "../harness/processes.ts";
import { ready, settings } from "./subject.ts";
import { SECRET } from "./webhook.ts";

const { sink, folder, specialists = 64, timing = {}, spacing = "none", replies = true, polls = replies, postgres, share } = settings;
const thank = (post: Post, act: Act): void => void act.reply(post, `thanks ${post.id}`);
const unlimited = Number.POSITIVE_INFINITY;
const clock = systemClock();
const random = systemRandom();
const profile = resolveProfile({
  extends: "set-b",
  tiers: { pro: { perHour: 1e9, perDay: 1e9 } },
  timing: timing as Record<string, number>,
});
const common = { clock, random, lateLandingMs: profile.timing.lateLandingMs };
const handles = Array.from({ length: Number(specialists) }, (_, i) => `s${i}`);
const { store, has, membership } = await openStore();
const transport = createTransport({ clock });
const secret = new Secret(SECRET);
const runtime = createRuntime({
  specialists: handles.filter(has).map((handle) =>
    createSpecialist({
      handle,
      id: `id${handle.slice(1)}`,
      tier: "pro",
      watch: { feed: polls === true, threads: false, mentions: false },
      may: ["posts.reply"],
      brakes: { repliesPerThread: unlimited, repliesPerAuthorPerHour: unlimited, repliesPerHour: unlimited, sameTextWithin: 0 },
      // Posts of a public list are for those who read it.
      on: replies !== true ? {} : polls === true ? { "post.created": thank } : { "mention.created": thank },
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
    await membership?.close();
    await transport.close();
  },
});

/** The store; on a server that several processes share, with the shards that are this one's, and the session by which they see each other. */
async function openStore(): Promise<{
  readonly store: Store;
  readonly has: (handle: string) => boolean;
  readonly membership?: Membership;
}> {
  const all = (): boolean => true;
  if (typeof postgres !== "string") return { store: openSqliteStore({ path: join(String(folder), "store.sqlite"), ...common }), has: all };
  const address = parsePostgresAddress(postgres, String(folder));
  if (!isShare(share)) return { store: await openPostgresStore({ address, ...common }), has: all };
  const { process, processes } = share;
  const has = (handle: string): boolean => ownerOf(handle, processes) === process;
  const joined: { membership?: Membership } = {}; // it hears of itself before it is open
  const membership = await Membership.open({
    address,
    clock,
    handles: handles.filter(has).map(asHandle),
    newSalt: () => random.word(SALT_LENGTH),
    onNotice: () => void joined.membership?.look(),
    answer: () => Promise.resolve(""),
  });
  joined.membership = membership;
  const shards = ALL_SHARDS.filter((shard) => ownerOfShard(shard, processes) === process);
  const held = await openShards({ address, shards, process: membership.number, ...common });
  if (held?.shards.length !== shards.length) throw new Error("another process has some of the shards");
  return { store: held.store, has, membership };
}

interface Share {
  readonly process: number;
  readonly processes: number;
}

function isShare(value: unknown): value is Share {
  return typeof value === "object" && value !== null && "process" in value && "processes" in value;
}
