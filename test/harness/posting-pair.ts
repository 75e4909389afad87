/** A local network on virtual time and two specialists that post every minute and watch the feed, to be restarted and looked at. */
import { afterEach, vi } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import type { DriftPolicy } from "../../src/contract/reading/pins.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { BASE_URL, virtualRuntime } from "./virtual-runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "./plain-transport.ts";

export interface Stage {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  /** The one that runs now. */
  readonly runtime: () => Runtime;
  readonly guardian: () => Guardian;
  /** Ends the runtime and starts another on what the first one stored. */
  restart(changes?: Partial<ProfileSource>): Promise<void>;
  /** Ends the runtime, lets a person look at what it left, and starts it again. */
  asleep(look: (guardian: Guardian) => Promise<void>): Promise<void>;
  readonly parked: string[];
  /** Requests of a handle so far, by method and first word of the path. */
  requests(handle: string): number;
  asked(pattern: RegExp): number;
  /** When a handle asked for what matches, since then. */
  times(handle: string, pattern: RegExp, since: number): readonly number[];
}

// Hours of virtual time take seconds of a processor, which a busy machine shares out.
vi.setConfig({ testTimeout: 60_000 });

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** They post every minute, unless told otherwise. */
export async function stage(
  options: {
    readonly drift?: DriftPolicy;
    readonly spoil?: (path: string, text: string) => string;
    /** How often they post. Default `1m`. */
    readonly every?: string;
    /** Posts of others in a minute. Default 2. */
    readonly news?: number;
    /** Told of each post that is handled. */
    readonly onPost?: (handle: string, post: string) => void;
  } = {},
): Promise<Stage> {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(5);
  const network = createLocalNetwork({
    clock,
    random,
    residents: { perMinute: { post: options.news ?? 2, reply: 0, like: 0, offer: 0, work: 0, follow: 0 } },
  });
  const keys = new Map(["ann", "ben"].map((handle) => [handle, network.provision({ handle, tier: "starter" }).key]));
  const log: { readonly handle: string; readonly line: string; readonly at: number }[] = [];
  const link = plainLink(network, "b");
  const transport: Transport = async (request) => {
    const { method, path, headers } = request;
    const line = `${method} ${path.split("?", 1)[0]}`;
    const handle = [...keys].find(([, key]) => headers["authorization"] === `Bearer ${key}`)?.[0] ?? "";
    log.push({ handle, line, at: clock.now() });
    const answer = await link(request);
    return answer.kind === "answer" ? { ...answer, text: options.spoil?.(line, answer.text) ?? answer.text } : answer;
  };
  const announcer = createAnnouncer();
  const parked: string[] = [];
  announcer.on("parked", ({ handle, code }) => void parked.push(`${handle} ${code}`));
  const specialists = ["ann", "ben"].map((handle) =>
    createSpecialist({
      handle,
      tier: "starter",
      may: ["posts.create"],
      watch: { feed: true },
      on: { "post.created": (post) => options.onPost?.(handle, post.id) },
      schedules: { talk: { every: options.every ?? "1m", run: (act) => void act.post(`${handle} at ${act.now}`) } },
    }),
  );
  const disk = openDatabase(MEMORY);
  const begin = async (changes: Partial<ProfileSource>) => {
    const store = openSqliteStore({ path: "", database: disk, clock, random });
    const runtime = virtualRuntime({
      specialists,
      profile: resolveProfile({ extends: "set-b", ...(options.drift === undefined ? {} : { drift: options.drift }), ...changes }),
      store,
      transport,
      keyOf: (handle) => keys.get(handle),
      clock,
      random,
      announcer,
    });
    await clock.run(runtime.start());
    const guardian = createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: BASE_URL.b } });
    return { store, runtime, guardian };
  };
  const end = async ({ store, runtime }: Pick<Awaited<ReturnType<typeof begin>>, "store" | "runtime">): Promise<void> => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
  };
  network.start();
  let now = await begin({});
  closers.push(async () => {
    await end(now);
    await clock.run(network.stop());
    disk.close();
  });
  return {
    clock,
    network,
    runtime: () => now.runtime,
    guardian: () => now.guardian,
    async restart(changes = {}) {
      await end(now);
      now = await begin(changes);
    },
    async asleep(look) {
      await end(now);
      const store = openSqliteStore({ path: "", database: disk, clock, random });
      await look(createGuardian({ store, clock }));
      await clock.run(store.close());
      now = await begin({});
    },
    parked,
    requests: (handle) => log.filter((entry) => entry.handle === handle).length,
    times: (handle, pattern, since) =>
      log.filter((one) => one.handle === handle && one.at >= since && pattern.test(one.line)).map(({ at }) => at - since),
    asked: (pattern) => log.filter(({ line }) => pattern.test(line)).length,
  };
}
