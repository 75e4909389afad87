/** The real runtime on virtual time: its specialists, store, Guardian and network, put together by what a test states. */
import { onTestFinished } from "vitest";
import { createKeys } from "../../src/client/auth.ts";
import type { Transport } from "../../src/client/transport.ts";
import type { EndpointSet } from "../../src/contract/operations.ts";
import { resolveProfile, shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { defined } from "../../src/core/defined.ts";
import type { Announcements } from "../../src/core/events.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom, type Random } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { LocalNetwork, LocalNetworkOptions } from "../../src/local-network/options.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import type { RuntimeOptions } from "../../src/runtime/runtime-options.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase, type OpenDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { plainLink } from "./plain-transport.ts";
import { asking, type Ask } from "./visitor.ts";

/** Nothing listens there: the transport of the test answers. */
export const BASE_URL: { readonly [set in EndpointSet]: string } = { a: "http://network", b: "http://network/v1" };
const BEGINS = Date.UTC(2026, 10, 21);

export interface VirtualRuntimeOptions
  extends
    Pick<RuntimeOptions, "specialists" | "transport" | "random">,
    Partial<
      Pick<
        RuntimeOptions,
        "profile" | "store" | "pacer" | "log" | "announcer" | "receiver" | "writes" | "handlers" | "guardianCaps" | "sentElsewhereUntil"
      >
    > {
  readonly clock: VirtualClock;
  /** Returns the key of a specialist, each time it is needed. */
  readonly keyOf: (handle: string) => string | undefined;
}

/** A runtime alone. Defaults: Set B, a store in memory, no spacing and no log. */
export function virtualRuntime({ keyOf, profile = shippedProfile("b"), ...options }: VirtualRuntimeOptions): Runtime {
  const { clock, random } = options;
  return createRuntime({
    store: openSqliteStore({ path: ":memory:", clock, random }),
    pacer: virtualPacer(clock, {}),
    log: silentLogger(),
    ...options,
    profile,
    baseUrl: BASE_URL[profile.set],
    keys: createKeys({ read: keyOf, salt: new Secret("salt of this test") }),
  });
}

export interface HarnessOptions extends Partial<
  Pick<RuntimeOptions, "log" | "announcer" | "receiver" | "writes" | "guardianCaps" | "sentElsewhereUntil">
> {
  readonly specialists: readonly SpecialistDefinition[];
  /** Default: the local network's key of the specialist. */
  readonly keyOf?: (handle: string) => string | undefined;
  /** Default `b`. */
  readonly set?: EndpointSet;
  /** Statements of the profile beside the shipped one of the set. */
  readonly profile?: Omit<ProfileSource, "extends">;
  readonly network?: Partial<LocalNetworkOptions>;
  /** Stands between the runtime and the network. */
  readonly link?: (plain: Transport, here: { readonly network: LocalNetwork; readonly clock: VirtualClock }) => Transport;
  /** Default: requests of a key follow one another without a pause. */
  readonly pacing?: Parameters<typeof virtualPacer>[1];
  readonly seed?: number | string;
  readonly clock?: VirtualClock;
  /** How far the machine's clock is ahead of the network's. */
  readonly aheadMs?: () => number;
  /** Holds the store's rows. Default: memory that a restart keeps. */
  readonly database?: OpenDatabase;
  /** True if the runtime built next has no receiver. */
  readonly withoutReceiver?: () => boolean;
  /** Stands before the store, as one that counts or fails. */
  readonly before?: (store: Store) => Store;
  /** False: the test starts the runtime. */
  readonly start?: false;
}

export interface Harness {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly network: LocalNetwork;
  /** These three are others after a restart. */
  readonly runtime: Runtime;
  readonly store: Store;
  readonly guardian: Guardian;
  keyOf(handle: string): string;
  /** Asks the network as another account, made at the first call. */
  other(handle: string): Ask;
  /** Asks the network with a specialist's key. */
  as(handle: string): Ask;
  /** Ends the runtime and starts another on what it stored; `between` is what a person does meanwhile. */
  restart(changes?: Omit<ProfileSource, "extends">, between?: (guardian: Guardian) => Promise<unknown>): Promise<void>;
  /** Ends the runtime now. The end of the test ends everything. */
  end(): Promise<void>;
}

/** Builds a local network, the store and the runtime of some specialists. */
export async function harness(options: HarnessOptions): Promise<Harness> {
  const { clock = virtualClock(BEGINS), seed = 3, set = "b", aheadMs } = options;
  const random = seededRandom(seed);
  const network = createLocalNetwork({ clock, random, residents: false, ...options.network });
  const keys = new Map(
    options.specialists.map(({ handle, tier }) => [handle, network.provision({ handle, tier: tier ?? "free", set }).key]),
  );
  const others = new Map<string, Ask>();
  const plain = plainLink(network, set);
  const transport = options.link?.(plain, { network, clock }) ?? plain;
  const database = options.database ?? openDatabase(MEMORY);
  const openStore = (): Store => openSqliteStore({ path: MEMORY, database, clock, random });
  const {
    before = (store) => store,
    keyOf = (handle) => keys.get(handle),
    pacing = {},
    log,
    announcer,
    receiver,
    writes,
    guardianCaps,
    sentElsewhereUntil,
  } = options;
  const build = (profile: Profile) => {
    const store = before(openStore());
    const runtime = virtualRuntime({
      specialists: options.specialists.map((definition) => createSpecialist(definition)),
      profile,
      store,
      transport,
      keyOf,
      clock: aheadMs === undefined ? clock : { ...clock, now: () => clock.now() + aheadMs() },
      random,
      pacer: virtualPacer(clock, pacing),
      ...defined({
        log,
        announcer,
        receiver: options.withoutReceiver?.() === true ? undefined : receiver,
        writes,
        guardianCaps,
        sentElsewhereUntil,
      }),
    });
    const guardian = createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: BASE_URL[set] } });
    return { store, runtime, guardian, isOver: false };
  };
  const profileWith = (changes: Omit<ProfileSource, "extends"> = {}): Profile =>
    resolveProfile({ extends: `set-${set}`, ...options.profile, ...changes });
  network.start();
  let now = build(profileWith());
  const end = async (): Promise<void> => {
    if (now.isOver) return;
    now.isOver = true;
    await clock.run(now.runtime.stop());
    await clock.run(now.store.close());
  };
  onTestFinished(async () => {
    await end();
    await clock.run(network.stop());
    if (options.database === undefined) database.close();
  });
  if (options.start !== false) await clock.run(now.runtime.start());
  return {
    clock,
    random,
    network,
    get runtime() {
      return now.runtime;
    },
    get store() {
      return now.store;
    },
    get guardian() {
      return now.guardian;
    },
    other(handle) {
      const known = others.get(handle) ?? asking(network, set, network.provision({ handle, tier: "pro", set }).key);
      others.set(handle, known);
      return known;
    },
    keyOf: (handle) => keys.get(handle) ?? "",
    as: (handle) => asking(network, set, keys.get(handle) ?? ""),
    async restart(changes, between) {
      await end();
      if (between !== undefined) {
        const store = openStore();
        await between(createGuardian({ store, clock }));
        await clock.run(store.close());
      }
      now = build(profileWith(changes));
      await clock.run(now.runtime.start());
    },
    end,
  };
}

/** The announced results of actions, in their order. */
export function announcedIntents({ announcer }: Runtime): readonly Announcements["intent"][] {
  const announced: Announcements["intent"][] = [];
  announcer.on("intent", (one) => void announced.push(one));
  return announced;
}
