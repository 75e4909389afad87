/** Simulates the machine a runtime runs on: it boots, dies, freezes and has a wall clock that may be wrong; its disk stays. */
import { createKeys } from "../client/auth.ts";
import type { Transport } from "../client/transport.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import { Secret } from "../core/secret.ts";
import { HOUR } from "../core/units.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import { virtualPacer } from "../limits/pacing.ts";
import { ConnectionLost } from "../local-network/server/exchange.ts";
import type { ReceiverSettings } from "../webhooks/receiver-settings.ts";
import type { ModelAccess } from "../runtime/open-models.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { SqliteStoreOptions } from "../store/sqlite/store-options.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import type { Disk } from "./disk.ts";
import { noFetch } from "./answering-fetch.ts";
import { downtimeMs } from "./faults.ts";
import { createCrashPoints, type CrashPointOptions } from "./crash-points.ts";
import type { StagedModels } from "./staged-models.ts";
import { beginProcess, storeOf, type SimulatedProcess, type ProcessOptions } from "./simulated-process.ts";

export interface MachineOptions extends CrashPointOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  readonly disk: Disk;
  readonly specialists: readonly Specialist[];
  readonly profile: Profile;
  readonly baseUrl: string;
  /** Returns the current content of a specialist's key file. */
  readonly keyOf: (handle: string) => string | undefined;
  readonly transport: Transport;
  readonly log: Logger;
  readonly announcer: Announcer;
  readonly fetch?: typeof globalThis.fetch;
  /** Default: none can be asked. */
  readonly models?: Pick<StagedModels, "settings" | "send">;
  /** Settings of the webhook receiver. Default: no receiver. */
  readonly receiver?: ReceiverSettings;
  readonly onCommit: (operation: string) => void;
  readonly onDeath: (point: string, downMs: number) => void;
  readonly onBoot: () => void;
  readonly onDrift: (what: string) => void;
  /** Commits between two comparisons of its memory with its rows. Default 23. */
  readonly comparedEvery?: number | undefined;
}

export interface Machine {
  boot(): void;
  /** Ends the process at once, like `kill -9`. It restarts after a while. */
  kill(): void;
  /** Freezes the process for this time. */
  freezeFor(ms: number): void;
  /** Resumes a frozen process. */
  resume(): void;
  /** Moves the wall clock; timers are not affected. */
  jump(ms: number): void;
  /** Corrects the wall clock. */
  setClockRight(): void;
  /** Hands a webhook delivery to the receiver and returns its status. Rejects if no process listens; stays pending if the process dies. */
  deliver(handle: string, delivery: RawDelivery): Promise<number>;
  /** The store of the running process, through which the Guardian acts. */
  store(): Store | undefined;
  /** The runtime of the running process. */
  runtime(): Runtime | undefined;
  /** Stops the process gracefully, without a restart. */
  stop(): Promise<void>;
  readonly lives: number;
  /**
   * Boundaries so far: the points before and after each call to store or network and each turn of the event loop, where the process may
   * die.
   */
  readonly boundaries: number;
}

const LATE_MS = 20;
/** Most by which a process starts with its clock ahead: schedules that such a clock deferred stay deferred as long. */
const MOST_AHEAD_MS = 12 * HOUR;
const BUSY_SHARE = 0.03;
const BUSY_MS = 500;

interface Process {
  readonly life: SimulatedProcess;
  readonly store: Store;
  readonly runtime: Runtime;
  /** Compares its memory with its rows. */
  readonly compare: () => void;
}

/** Commits between two comparisons. */
const COMPARED_EVERY = 23;
/** Differences reported of one comparison. */
const MAX_REPORTED = 3;

export function createMachine(options: MachineOptions): Machine {
  const { clock, random } = options;
  let skewMs = 0;
  let lives = 0;
  let running: Process | undefined;
  let stopped = false;
  const crashPoints = createCrashPoints(options);

  const onDeath = (point: string): void => {
    running?.compare(); // with all writes, committed or not
    running = undefined;
    if (options.disk.db.isTransaction) options.disk.db.exec("ROLLBACK"); // SQLite rolls back a half-written transaction when it opens the file
    if (stopped) return;
    const downMs = downtimeMs(random);
    options.onDeath(point, downMs);
    clock.after(downMs, boot);
  };

  function boot(): void {
    if (running !== undefined || stopped) return;
    lives++;
    skewMs = Math.min(skewMs, MOST_AHEAD_MS);
    crashPoints.arm();
    const chance = random.fork(`life ${lives}`);
    running = startProcess(
      options,
      { clock, skewMs: () => skewMs, latenessMs: latenessOf(chance.fork("timers")), dies: (point) => crashPoints.diesAt(point), onDeath },
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
    runtime: () => running?.runtime,
    async stop() {
      stopped = true;
      crashPoints.disarm();
      await running?.runtime.stop();
      running?.compare();
      await running?.store.close();
      running?.life.end("stop");
    },
    get lives() {
      return lives;
    },
    get boundaries() {
      return crashPoints.boundaries;
    },
  };
}

/** Draws how late timers fire: a few milliseconds, and now and then as long as a blocked event loop. */
function latenessOf(random: Random): () => number {
  return () => (random.next() < BUSY_SHARE ? random.int(BUSY_MS) : random.int(LATE_MS));
}

/** Starts one process of the runtime. Each process has its own random source, because its ids must differ. */
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
    log: life.logOf(options.log),
    announcer: options.announcer,
    fetch: options.fetch ?? noFetch,
    ...(options.models === undefined ? {} : { models: modelsOf(options.models, life) }),
    ...(options.receiver === undefined ? {} : { receiver: options.receiver }),
  });
  return { life, store, runtime, compare };
}

/** The process may die around a question to a model, too. */
function modelsOf({ settings, send }: NonNullable<MachineOptions["models"]>, life: SimulatedProcess): ModelAccess {
  return {
    settings,
    readKey: () => undefined,
    link: {
      send: (request) => life.outside("question to a model", () => send(request)),
      pacer: (pacing) => virtualPacer(life.clock, pacing),
    },
  };
}

/** Opens the store; its memory is compared with its rows every few commits, and when `compare` is called. */
function openStore(
  { disk, onDrift, comparedEvery = COMPARED_EVERY }: MachineOptions,
  settings: SqliteStoreOptions,
): { readonly raw: Store; readonly compare: () => void } {
  let commits = 0;
  let differences: () => readonly string[] = () => [];
  const compare = (): void => differences().slice(0, MAX_REPORTED).forEach(onDrift);
  const raw = openSqliteStore({
    ...settings,
    observe: disk.observe,
    onOpened: (found) => void (differences = found),
    onCommitted: () => void (++commits % comparedEvery === 0 && compare()),
  });
  return { raw, compare };
}

async function deliverTo(process: Process | undefined, handle: string, delivery: RawDelivery): Promise<number> {
  const webhooks = process?.runtime.phase === "working" ? process.runtime.webhooks : undefined;
  if (process === undefined || webhooks === undefined) throw new ConnectionLost("nobody listens");
  const { status } = await process.life.into("delivery", () => webhooks.accept(handle, delivery));
  return status;
}
