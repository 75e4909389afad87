/** Launches a process of a fleet: the checked plan as runtimes on the shards that it has, one receiver for all, and all of it as one. */
import PQueue from "p-queue";
import { placeOf, type PostgresAddress } from "../config/postgres-address.ts";
import { sleep } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Fatal, isRetinueError, messageOf, type RetinueError, Retryable } from "../core/errors.ts";
import { createAnnouncer } from "../core/events.ts";
import { asHandle, type Handle } from "../core/ids.ts";
import type { Logger } from "../core/log.ts";
import { SECOND, showDuration } from "../core/units.ts";
import { createSharedLists } from "../polling/shared-lists.ts";
import type { Stop } from "../limits/verdict.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { bindToNetwork } from "../store/bind-network.ts";
import { leftBehind } from "../store/left-behind.ts";
import { isStoreLost, type LostStore } from "../store/store-lost.ts";
import { requireLocalFolder } from "../store/postgres/local-folder.ts";
import type { Membership } from "../store/postgres/membership.ts";
import { isConnectionLost } from "../store/postgres/server-errors.ts";
import { claimNetwork, haltsOf, useOf } from "../store/postgres/server-use.ts";
import { sessionTimes } from "../store/postgres/session-settings.ts";
import { ServerTime } from "../store/postgres/server-time.ts";
import type { Backlog, OverviewStore } from "../store/overview.ts";
import type { GateAnswer } from "../webhooks/receiver/accept.ts";
import type { Receiver } from "../webhooks/receiver/http.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import { definitionsDigest } from "./definitions-digest.ts";
import { Fleet } from "./fleet.ts";
import type { Part } from "./fleet-options.ts";
import { createFleetNews, type FleetNews } from "./fleet-news.ts";
import type { DefinitionsChanged } from "./reload.ts";
import { learnSecrets, lifeOf, openCommon, receiverOf, type LaunchOptions, type LaunchPlan, type Life } from "./launch.ts";
import { DEFAULT_HANDLERS, type Runtime } from "./runtime.ts";
import type { SeenRuntime } from "./seen-runtime.ts";
import { groupByKey } from "./shared-keys.ts";

export interface LaunchedFleet extends LaunchPlan, Life {
  readonly fleet: Fleet;
  readonly runtime: FleetRuntime;
  readonly log: Logger;
  /** The halts in force when the process joined. */
  readonly halts: () => readonly Stop[];
}

export interface FleetLaunchOptions extends LaunchOptions {
  readonly address: PostgresAddress;
  /** Answers a request of another process. */
  readonly answer: (fleet: LaunchedFleet, body: string, leftMs: number) => Promise<string | undefined>;
  /** Passes a delivery to the process that has its specialist. */
  readonly passOn: (fleet: LaunchedFleet, handle: Handle, delivery: RawDelivery) => Promise<GateAnswer>;
}

/** Joins the others, and takes nothing yet. Throws `Retryable` or `Misconfigured` if the server or the local folder cannot be used. */
export async function launchFleet(planned: LaunchPlan, options: FleetLaunchOptions): Promise<LaunchedFleet> {
  const { config, baseUrl, roster } = planned;
  const { address, random, log, announcer = createAnnouncer() } = options;
  requireLocalFolder(address);
  const time = new ServerTime(options.clock);
  const { clock } = time;
  learnSecrets(planned, options.scrubber);
  const common = openCommon(planned, options);
  const specialists = new Map(roster.definitions.map(({ specialist }) => [specialist.handle, specialist]));
  const receives = config.receiver.port !== undefined;
  const sharedLists = createSharedLists(random);
  const use = { store: address, network: options.networkName ?? baseUrl, allowMoved: config.network.allowMoved };
  let halts: readonly Stop[] | undefined;
  const fleet: Fleet = new Fleet({
    planned,
    options: { ...options, announcer, clock },
    time,
    wall: options.clock,
    address,
    common,
    specialists: () => [...specialists.values()].toSorted((a, b) => (a.handle < b.handle ? -1 : 1)),
    keyGroups: (salt) => groupByKey([...specialists.keys()], config, { scrubber: options.scrubber, salt }),
    perRuntime: {
      handlerQueue: new PQueue({ concurrency: DEFAULT_HANDLERS }),
      sharedLists,
      spread: (page, by) => news.spread(page, by),
      ...(receives ? { receiver: { ...receiverOf(config), port: undefined } } : {}),
    },
    answer: (body, leftMs) => options.answer(launched, body, leftMs),
    async admit(connection) {
      if (halts === undefined) {
        const begins = (await useOf(connection, address.schema)).isUnused;
        if (begins) beginNew(leftBehind({ ...use, cwd: config.cwd }), address, log);
      }
      await claimNetwork(connection, address.schema, use);
      halts ??= await haltsOf(connection, address.schema);
    },
    onPart: ({ store }) => bindToNetwork(store, use),
  });
  const patiently = patient(options, { address, isStopping: () => runtime.phase === "stopping" });
  const news = createFleetNews({ fleet, shared: sharedLists, log, now: () => clock.now() });
  const runtime = new FleetRuntime({
    fleet,
    news,
    planned,
    specialists,
    clock,
    log,
    announcer,
    receiver: receives ? { port: config.receiver.port ?? 0, host: config.receiver.host } : undefined,
    passOn: (handle, delivery) => options.passOn(launched, handle, delivery),
    patiently,
  });
  const close = [common.isolation, common.tools, common.transport];
  const life = { runtime, isolation: common.isolation, planned, options: { ...options, announcer }, close };
  const launched: LaunchedFleet = {
    ...planned,
    fleet,
    runtime,
    log,
    halts: () => halts ?? [],
    ...lifeOf({ ...life, onChange: (changes) => runtime.changing(changes) }),
  };
  await patiently(() => fleet.join()).catch(async (error: unknown) => {
    await Promise.all([fleet.stop(), common.transport.close()]);
    throw error;
  });
  return launched;
}

/** Throws the refusal, if there is one. */
function beginNew(refusal: RetinueError | undefined, address: PostgresAddress, log: Logger): void {
  if (refusal !== undefined) throw refusal;
  log.warn(`the store at ${placeOf(address)} is new, so nothing is known of what was done before`, { hint: NEW_STORE });
}

/** An address with a mistake may lead to another database. */
const NEW_STORE = "if there was a store before, end this process at once and correct RETINUE_STORE, or restore that store";

/** A failover is over within so many session timeouts. */
const FAILOVER_TIMEOUTS = 3;

/**
 * A start is tried again for a while if the server takes no writes, because a failover may be under way (later the address is wrong), or if a
 * session of the process ended meanwhile.
 */
function patient(
  { clock, log }: Pick<LaunchOptions, "clock" | "log">,
  { address: { sessionTimeoutMs }, isStopping }: { readonly address: PostgresAddress; readonly isStopping: () => boolean },
): <Result>(start: () => Promise<Result>) => Promise<Result> {
  const patienceMs = FAILOVER_TIMEOUTS * sessionTimes(sessionTimeoutMs).timeoutMs;
  const until = clock.monotonic() + patienceMs;
  const told = new Set<string>();
  return async (start) => {
    for (;;) {
      try {
        return await start();
      } catch (error) {
        if (!mayPass(error) || clock.monotonic() >= until) throw error;
        const why = error.code === "store_read_only" ? ", because a failover may be under way" : "";
        if (!told.has(error.code)) log.warn(`${error.message}: it is tried again for ${showDuration(patienceMs)}${why}`);
        told.add(error.code);
        await sleep(clock, SECOND);
        if (isStopping()) throw error;
      }
    }
  };
}

/** True for a server that takes no writes, and for a session that ended, also that of a store just opened. */
function mayPass(error: unknown): error is RetinueError {
  if (isStoreLost(error)) return isConnectionLost(error.details.cause);
  return isConnectionLost(error) || (isRetinueError(error) && error.code === "store_read_only");
}

interface FleetRuntimeOptions {
  readonly fleet: Fleet;
  readonly news: FleetNews;
  readonly planned: LaunchPlan;
  readonly specialists: Map<Handle, Specialist>;
  readonly clock: LaunchOptions["clock"];
  readonly log: Logger;
  readonly announcer: Runtime["announcer"];
  /** The receiver's own address. */
  readonly receiver: { readonly port: number; readonly host: string } | undefined;
  readonly passOn: (handle: Handle, delivery: RawDelivery) => Promise<GateAnswer>;
  readonly patiently: ReturnType<typeof patient>;
}

/** The runtimes of a process as one. */
export class FleetRuntime implements SeenRuntime, Pick<Runtime, "start" | "stop" | "put" | "retire" | "announcer"> {
  readonly announcer: Runtime["announcer"];
  readonly parts: SeenRuntime["parts"];
  readonly #with: FleetRuntimeOptions;
  #phase: "starting" | "working" | "stopping" = "starting";
  #receiver: Receiver | undefined;
  #toldHandles: string;
  #digest: string | undefined;

  constructor(options: FleetRuntimeOptions) {
    const { fleet, planned, clock, announcer, specialists } = options;
    this.#with = options;
    this.#toldHandles = [...specialists.keys()].toSorted().join(" "); // by joining
    this.announcer = announcer;
    const partsOf = (handle: string): Runtime["parts"] | undefined => fleet.partOf(asHandle(handle))?.runtime.parts;
    this.parts = {
      clock,
      profile: planned.profile,
      zone: planned.config.guardian.zone,
      storeLost: () => this.#lost(),
      breakers: {
        trust: {
          of: (handle) => partsOf(handle)?.breakers.trust.of(handle),
          report: (handle) => partsOf(handle)?.breakers.trust.report(handle),
        },
      },
      coverage: { of: (handle) => partsOf(handle)?.coverage.of(asHandle(handle)) ?? { state: "unknown" } },
      unkeptHalts: { all: () => [...fleet.orders.unkept, ...fleet.parts.flatMap(({ runtime }) => runtime.parts.unkeptHalts.all())] },
      store: {
        networkState: async () => this.#joined().networkState(),
        saveNetworkState: async (change, now) => this.#joined().saveNetworkState(change, now),
        reads: {
          backlog: () => backlogOf(fleet.parts.map(({ store }) => store.reads)),
          eventOf: async (intent) => {
            for (const { store } of fleet.parts) {
              const found = await store.reads.eventOf(intent);
              if (found !== undefined) return found;
            }
            return undefined;
          },
        },
      },
    };
  }

  get phase(): Runtime["phase"] {
    if (this.#phase === "working" && this.#lost() !== undefined) return "store_lost";
    return this.#phase;
  }

  get isDrained(): boolean {
    return this.#with.fleet.isDraining;
  }

  readonly tellingTerm = (): number | undefined => this.#with.fleet.tellingTerm;

  members(): ReturnType<Runtime["members"]> {
    return this.#with.fleet.parts.flatMap(({ runtime }) => runtime.members());
  }

  get unsigned(): boolean {
    return this.#with.fleet.parts.some(({ runtime }) => runtime.webhooks?.unsigned === true);
  }

  async start(): ReturnType<Runtime["start"]> {
    const { fleet, receiver, patiently } = this.#with;
    const recovered = await patiently(() => fleet.start());
    if (receiver !== undefined) await this.#listen(receiver);
    if (this.#phase === "starting") this.#phase = "working";
    return recovered;
  }

  async stop(): Promise<void> {
    this.#phase = "stopping";
    await this.#receiver?.close();
    await this.#with.fleet.stop();
  }

  /** Read by the process itself: whoever asks if it works does not wait for a thread to begin. */
  backlogNow(): Promise<Backlog> {
    return backlogOf(this.#with.fleet.parts.map(({ store }) => store));
  }

  /** Of its definitions and the Guardian's settings. */
  get digest(): string {
    return (this.#digest ??= definitionsDigest(this.#with.specialists.values(), this.#with.planned.config.guardian));
  }

  /** Called before these are put and retired one after another: the other processes hear of all at once, and keys are placed once. */
  async changing({ put, retired }: DefinitionsChanged): Promise<void> {
    const { specialists } = this.#with;
    this.#digest = undefined;
    for (const specialist of put) specialists.set(specialist.handle, specialist);
    for (const handle of retired) specialists.delete(handle);
    await this.#told();
  }

  async put(specialist: Specialist): Promise<void> {
    const { fleet, specialists } = this.#with;
    const { handle } = specialist;
    if (specialists.get(handle) !== specialist) await this.changing({ put: [specialist], retired: [] });
    const part = fleet.partOf(handle);
    if (fleet.sharedKeys.mayRun(handle)) await part?.runtime.put(specialist);
    this.#whenOpened(handle, part);
  }

  retire(handle: Handle): void {
    const { fleet, specialists } = this.#with;
    if (specialists.has(handle)) void this.changing({ put: [], retired: [handle] });
    const part = fleet.partOf(handle);
    part?.runtime.retire(handle);
    this.#whenOpened(handle, part);
  }

  /** A store that is being opened may have begun with the definition of before. */
  #whenOpened(handle: Handle, before: Part | undefined): void {
    const { fleet, specialists, log } = this.#with;
    const apply = async (): Promise<void> => {
      await fleet.settled();
      const part = fleet.partOf(handle);
      if (part === before) return;
      const specialist = specialists.get(handle);
      if (specialist === undefined) part?.runtime.retire(handle);
      else if (fleet.sharedKeys.mayRun(handle)) await part?.runtime.put(specialist);
    };
    apply().catch((error: unknown) => log.error(`${handle} keeps its previous definition`, { message: messageOf(error) }));
  }

  /** Takes a delivery for a specialist of this process, also of a store that is being opened; undefined if it has not the specialist. */
  async accept(handle: Handle, delivery: RawDelivery): Promise<GateAnswer | undefined> {
    if (this.#with.fleet.partOf(handle) === undefined) await this.#with.fleet.settled();
    return this.#acceptNow(handle, delivery);
  }

  async #acceptNow(handle: Handle, delivery: RawDelivery): Promise<GateAnswer | undefined> {
    return this.#with.fleet.partOf(handle)?.runtime.webhooks?.accept(handle, delivery);
  }

  /** Takes a page of a public list that another process has polled. */
  hear(page: unknown): Promise<void> {
    return this.#with.news.hear(page);
  }

  async #told(): Promise<void> {
    const { fleet, specialists, log } = this.#with;
    try {
      const handles = [...specialists.keys()].toSorted();
      if (handles.join(" ") !== this.#toldHandles) {
        await fleet.membership?.canRun(handles);
        await fleet.membership?.notify(); // shards go to those who can run what is in them
        this.#toldHandles = handles.join(" ");
      }
      await fleet.place();
    } catch (error) {
      log.warn("the other processes do not know of the changed definitions yet", { message: messageOf(error) });
    }
  }

  #lost(): LostStore | undefined {
    const { trouble, parts } = this.#with.fleet;
    if (trouble === undefined || parts.length > 0) return undefined;
    const { message, hint, since } = trouble;
    return { error: new Fatal("store_lost", message, defined({ hint })), since };
  }

  #joined(): Membership {
    const { membership } = this.#with.fleet;
    if (membership === undefined) throw new Retryable("store_connection_lost", "this process has no session on the server now");
    return membership;
  }

  async #listen(address: { readonly port: number; readonly host: string }): Promise<void> {
    const { clock, log, specialists, fleet, passOn } = this.#with;
    const { createReceiver } = await import("../webhooks/receiver/http.ts"); // as in a runtime: most run without it
    this.#receiver = createReceiver({
      clock,
      gate: {
        knows: (handle) => specialists.has(asHandle(handle)) || fleet.isElsewhere(asHandle(handle)),
        accept: async (handle, delivery) => (await this.#acceptNow(asHandle(handle), delivery)) ?? passOn(asHandle(handle), delivery),
      },
      onError: (error) => log.error("the webhook receiver failed", { message: messageOf(error) }),
    });
    const { url } = await this.#receiver.listen(address);
    log.info(`webhooks: this process listens at ${url}`);
  }
}

async function backlogOf(stores: readonly Pick<OverviewStore, "backlog">[]): Promise<Backlog> {
  const all = await Promise.all(stores.map((store) => store.backlog()));
  const oldest = (times: readonly (number | undefined)[]): number | undefined => {
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  return {
    events: all.reduce((sum, { events }) => sum + events, 0),
    oldestEventAt: oldest(all.map(({ oldestEventAt }) => oldestEventAt)),
    actions: all.reduce((sum, { actions }) => sum + actions, 0),
    oldestActionAt: oldest(all.map(({ oldestActionAt }) => oldestActionAt)),
  };
}
