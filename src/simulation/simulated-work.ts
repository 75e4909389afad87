/** The runtime of some specialists in a simulated process, on the disk that has their rows. */
import { createKeys } from "../client/auth.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import { Secret } from "../core/secret.ts";
import { virtualPacer } from "../limits/pacing.ts";
import type { ModelAccess } from "../runtime/open-models.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { SqliteStoreOptions } from "../store/sqlite/store-options.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import type { ReceiverSettings } from "../webhooks/receiver-settings.ts";
import { noFetch } from "./answering-fetch.ts";
import type { Disk } from "./disk.ts";
import type { NetworkTransport } from "./network-transport.ts";
import { beginProcess, storeOf, type ProcessOptions, type SimulatedProcess } from "./simulated-process.ts";
import type { StagedModels } from "./staged-models.ts";
import type { StoreSession } from "./store-session.ts";

/** Specialists that are in one process at a time, and the disk of their rows. */
export interface SimulatedPart {
  readonly disk: Disk;
  readonly specialists: readonly Specialist[];
  readonly transport: NetworkTransport;
  readonly announcer: Announcer;
  readonly onCommit: (operation: string) => void;
  readonly onBoot: () => void;
  readonly onDrift: (what: string) => void;
}

/** The same for every runtime of a simulation. */
export interface WorkOptions {
  readonly profile: Profile;
  readonly baseUrl: string;
  /** Returns the current content of a specialist's key file. */
  readonly keyOf: (handle: string) => string | undefined;
  readonly log: Logger;
  readonly fetch?: typeof globalThis.fetch;
  /** Default: none can be asked. */
  readonly models?: Pick<StagedModels, "settings" | "send">;
  /** Settings of the webhook receiver. Default: no receiver. */
  readonly receiver?: ReceiverSettings;
  /** Commits between two comparisons of its memory with its rows. Default 23. */
  readonly comparedEvery?: number | undefined;
}

export interface Start {
  readonly process: ProcessOptions;
  readonly chance: Random;
  /** Default: the store is a file of this process alone. */
  readonly session?: StoreSession | undefined;
  /** The time until which another process may have sent what it had begun; infinite while that process is stopped. */
  readonly sentElsewhereUntil: () => number;
  /** Resolves when the process goes on; undefined while it does. */
  readonly departs: () => Promise<void> | undefined;
}

export interface Work {
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

/** Starts the runtime of a part. Each start has its own random source, because its ids must differ. */
export function startWork(options: WorkOptions, part: SimulatedPart, start: Start): Work {
  const { process, chance, session, sentElsewhereUntil, departs } = start;
  const { profile } = options;
  const life = beginProcess(process);
  const database = part.disk.openFor(life);
  const settings = {
    path: "",
    database: session === undefined ? database : { ...database, sync: () => session.within(database.sync?.() ?? Promise.resolve()) },
    clock: session === undefined ? life.clock : session.clockOf(life.clock),
    random: chance.fork("store"),
    lateLandingMs: profile.timing.lateLandingMs,
  };
  const { raw, compare } = openStore(part, settings, options.comparedEvery);
  const store = storeOf(life, raw, { onCommit: part.onCommit, session });
  const runtime = createRuntime({
    specialists: part.specialists,
    profile,
    baseUrl: options.baseUrl,
    store,
    transport: (request) => life.outside("request", () => part.transport(request, departs())),
    keys: createKeys({ read: options.keyOf, salt: new Secret("simulation") }),
    pacer: virtualPacer(life.clock),
    clock: life.clock,
    random: chance.fork("runtime"),
    log: life.logOf(options.log, () => session?.lost === undefined), // later errors are of that
    announcer: part.announcer,
    sentElsewhereUntil,
    fetch: options.fetch ?? noFetch,
    ...(options.models === undefined ? {} : { models: modelsOf(options.models, life) }),
    ...(options.receiver === undefined ? {} : { receiver: options.receiver }),
  });
  return { life, store, runtime, compare };
}

/** The process may die around a question to a model, too. */
function modelsOf({ settings, send }: NonNullable<WorkOptions["models"]>, life: SimulatedProcess): ModelAccess {
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
  { disk, onDrift }: SimulatedPart,
  settings: SqliteStoreOptions,
  comparedEvery = COMPARED_EVERY,
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
