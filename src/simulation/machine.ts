/** The machine a simulated runtime runs on: it boots, dies, stands still and has a wall clock that may be wrong; its disk stays. */
import { createKeys } from "../client/auth.ts";
import type { Transport } from "../client/transport.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf, Refused } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import { Secret } from "../core/secret.ts";
import { HOUR } from "../core/units.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import { virtualPacer } from "../limits/pacing.ts";
import { ConnectionLost } from "../local-network/server/exchange.ts";
import type { ReceiverSettings } from "../webhooks/receiver-settings.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { openFactStore } from "../store/sqlite/facts/store.ts";
import type { SqliteStoreOptions } from "../store/sqlite/options.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import type { Disk } from "./disk.ts";
import { downtimeMs } from "./faults.ts";
import { createCrashPoints, type CrashPointOptions } from "./crash-points.ts";
import { beginProcess, storeOf, type SimulatedProcess, type ProcessOptions } from "./simulated-process.ts";

export interface MachineOptions extends CrashPointOptions {
  /** The world's. */
  readonly clock: Clock;
  readonly disk: Disk;
  readonly specialists: readonly Specialist[];
  readonly profile: Profile;
  readonly baseUrl: string;
  /** What stands in each specialist's key file now. */
  readonly keyOf: (handle: string) => string | undefined;
  readonly transport: Transport;
  readonly log: Logger;
  readonly announcer: Announcer;
  readonly fetch?: typeof globalThis.fetch;
  /** How the process receives webhooks. Default: it does not. */
  readonly receiver?: ReceiverSettings;
  readonly onCommit: (operation: string) => void;
  readonly onDeath: (point: string, downMs: number) => void;
  readonly onBoot: () => void;
  readonly onDrift: (what: string) => void;
}

export interface Machine {
  boot(): void;
  /** Ends the process at once, as `kill -9` does. It is started again after a while. */
  kill(): void;
  /** The process stands still for so long. */
  freezeFor(ms: number): void;
  /** It goes on, if it stands still. */
  resume(): void;
  /** The wall clock jumps; timers do not notice. */
  jump(ms: number): void;
  /** Somebody sets the wall clock right. */
  setClockRight(): void;
  /** A webhook's delivery at the door: its status. Rejects where nobody listens; never settles where the process dies over it. */
  deliver(handle: string, delivery: RawDelivery): Promise<number>;
  /** The Guardian's way to the store: that of the process, while there is one. */
  store(): Store | undefined;
  /** A graceful end, with no new start. */
  stop(): Promise<void>;
  readonly lives: number;
  /** Calls to store and network and turns of the event loop so far, before and after: each is a place to die. */
  readonly boundaries: number;
}

const LATE_MS = 20;
/** A process starts with its clock ahead by this at most: schedules that such a clock has put off stay so for as long. */
const MOST_AHEAD_MS = 12 * HOUR;
const BUSY_SHARE = 0.03;
const BUSY_MS = 500;

interface Process {
  readonly life: SimulatedProcess;
  readonly store: Store;
  readonly runtime: Runtime;
  /** Compares what is in its memory with what rows say. */
  readonly compare: () => void;
}

/** Commits between two comparisons. */
const COMPARED_EVERY = 23;
/** Differences that are told of one comparison. */
const MAX_TOLD = 3;

export function createMachine(options: MachineOptions): Machine {
  const { clock, random } = options;
  let skewMs = 0;
  let lives = 0;
  let running: Process | undefined;
  let stopped = false;
  const fuse = createCrashPoints(options);

  const onDeath = (point: string): void => {
    running?.compare(); // with all that was written, committed or not
    running = undefined;
    if (options.disk.db.isTransaction) options.disk.db.exec("ROLLBACK"); // as SQLite does with what it finds half written
    if (stopped) return;
    const downMs = downtimeMs(random);
    options.onDeath(point, downMs);
    clock.after(downMs, boot);
  };

  function boot(): void {
    if (running !== undefined || stopped) return;
    lives++;
    skewMs = Math.min(skewMs, MOST_AHEAD_MS);
    fuse.light();
    const chance = random.fork(`life ${lives}`);
    running = startProcess(
      options,
      { clock, skewMs: () => skewMs, latenessMs: latenessOf(chance.fork("timers")), dies: (point) => fuse.burns(point), onDeath },
      chance,
    );
    options.onBoot();
    running.runtime.start().catch((error: unknown) => options.log.error("the runtime could not start", { message: messageOf(error) }));
  }

  return {
    boot,
    kill: () => running?.life.end("kill"),
    freezeFor(ms) {
      const life = running?.life;
      life?.freeze();
      clock.after(ms, () => life?.resume());
    },
    resume: () => running?.life.resume(),
    jump(ms) {
      skewMs += ms;
    },
    setClockRight() {
      skewMs = 0;
    },
    deliver: (handle, delivery) => deliverTo(running, handle, delivery),
    store: () => running?.store,
    async stop() {
      stopped = true;
      fuse.out();
      await running?.runtime.stop();
      running?.compare();
      await running?.store.close();
      running?.life.end("stop");
    },
    get lives() {
      return lives;
    },
    get boundaries() {
      return fuse.boundaries;
    },
  };
}

/** Timers are late by a few milliseconds, and now and then by as long as something keeps the event loop busy. */
function latenessOf(random: Random): () => number {
  return () => (random.next() < BUSY_SHARE ? random.int(BUSY_MS) : random.int(LATE_MS));
}

/** One life of the runtime on this machine. Its chance differs from life to life, as ids must. */
function startProcess(options: MachineOptions, living: ProcessOptions, chance: Random): Process {
  const { profile } = options;
  const life = beginProcess(living);
  const settings = {
    path: "",
    database: options.disk.openFor(life),
    clock: life.clock,
    random: chance.fork("store"),
    lateLandingMs: profile.timing.lateLandingMs,
  };
  const { raw, compare } = openStore(options, settings);
  const store = storeOf(life, raw, options.onCommit);
  const runtime = createRuntime({
    specialists: options.specialists,
    profile,
    baseUrl: options.baseUrl,
    store,
    transport: (request) => life.outside("request", () => options.transport(request)),
    keys: createKeys({ read: options.keyOf, salt: new Secret("simulation") }),
    pacer: virtualPacer(life.clock),
    clock: life.clock,
    random: chance.fork("runtime"),
    log: options.log,
    announcer: options.announcer,
    fetch: options.fetch ?? noFetch,
    ...(options.receiver === undefined ? {} : { receiver: options.receiver }),
  });
  return { life, store, runtime, compare };
}

/** The store, and what compares its memory with its rows, which is done after every few commits as well. */
function openStore({ disk, onDrift }: MachineOptions, settings: SqliteStoreOptions): { readonly raw: Store; readonly compare: () => void } {
  const { observe } = disk;
  if (observe === undefined) return { raw: openSqliteStore(settings), compare: () => undefined };
  let commits = 0;
  let differences: () => readonly string[] = () => [];
  const compare = (): void => differences().slice(0, MAX_TOLD).forEach(onDrift);
  const raw = openFactStore({
    ...settings,
    observe,
    onOpened: (found) => void (differences = found),
    onCommitted: () => void (++commits % COMPARED_EVERY === 0 && compare()),
  });
  return { raw, compare };
}

async function deliverTo(process: Process | undefined, handle: string, delivery: RawDelivery): Promise<number> {
  const webhooks = process?.runtime.phase === "working" ? process.runtime.webhooks : undefined;
  if (process === undefined || webhooks === undefined) throw new ConnectionLost("nobody listens");
  const { status } = await process.life.into("delivery", () => webhooks.accept(handle, delivery));
  return status;
}

/** A definition that asks other services has to bring a stand-in for them. */
const noFetch: typeof globalThis.fetch = () =>
  Promise.reject(new Refused("no_fetch", "there is nothing to fetch in a simulation", { hint: "give simulate() a `fetch` of your own" }));
