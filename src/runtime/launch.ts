/** Turns checked settings into a runtime that is ready to start: everything is checked before anything begins. */
import { createKeys, type KeyProvider } from "../client/auth.ts";
import { CONNECTIONS, createTransport, type SocketTransport, type Transport } from "../client/transport.ts";
import { alertSecrets } from "../config/alert-settings.ts";
import type { Config } from "../config/config.ts";
import { declaredSecrets, environmentSecrets, keyReference, toolSecrets } from "../config/key-sources.ts";
import { modelSecrets } from "../config/model-settings.ts";
import type { SharedVariables } from "../config/environment.ts";
import { throwMistakes, type Problem } from "../config/problem.ts";
import { loadProfile } from "../config/profile-file.ts";
import { createDefinitionLoader, type DefinitionLoader } from "../config/definitions.ts";
import { checkRosterKeys, loadRoster, type Roster } from "../config/roster.ts";
import { storeFile, storeSecrets } from "../config/store-address.ts";
import { resolveProfile, type Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Misconfigured, type Fatal } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { Secret } from "../core/secret.ts";
import { checkCaps } from "../limits/caps.ts";
import { livePacer, type Pacer } from "../limits/pacing.ts";
import { checkCron } from "../schedule/cron.ts";
import { MEMORY } from "../store/sqlite/database.ts";
import type { SqliteStoreOptions } from "../store/sqlite/store-options.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { openStore } from "../store/open-store.ts";
import type { Recovered, Store } from "../store/store.ts";
import { createWorkerPool, type WorkerPool } from "../handlers/worker/worker-pool.ts";
import { keepHalts } from "./keep-halts.ts";
import { lazyTools } from "./lazy-tools.ts";
import { keepReloading, type ReloadingOptions } from "./reload.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import type { RuntimeOptions } from "./runtime-options.ts";
import { createSemaphore, type Semaphore } from "../gateway/semaphore.ts";
import type { UnkeptHalts } from "../gateway/unkept-halts.ts";
import type { ModelPaces } from "../model/models.ts";
import { bindToNetwork } from "../store/bind-network.ts";
import { networkSecretsIn } from "../webhooks/network-secrets.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { ReceiverSettings } from "../webhooks/receiver-settings.ts";

export interface LaunchOptions {
  readonly config: Config;
  readonly clock: Clock;
  /** Must not repeat over restarts: ids are drawn from it. */
  readonly random: Random;
  readonly log: Logger;
  /** Learns every secret. Give it to the logger as well. */
  readonly scrubber: Scrubber;
  readonly announcer?: Announcer;
  /** `refuse` for a dry run: it runs handlers and reads, sends no write, and stores only the charges of its reads. Default `send`. */
  readonly writes?: "send" | "refuse";
  /** Acts on commands only: nothing is polled, handled or sent on its own. */
  readonly passive?: boolean;
  /** Name of the network, if its address does not identify it. */
  readonly networkName?: string;
  /** Permits a store that belongs to another network, for commands that only read. A dry run permits it too. */
  readonly anyNetwork?: boolean;
  /** Wraps the function by which requests leave. */
  readonly transport?: (next: Transport) => Transport;
  /** Definitions are fixed: none is reloaded. */
  readonly fixed?: boolean;
  /** Called with the specialists of changed definitions, before they run. */
  readonly onLoaded?: (specialists: readonly Specialist[]) => void;
  /** Threads of definitions that were loaded in them. The launched closes them. Default: threads for those that ask for one. */
  readonly isolation?: WorkerPool;
  /** A person waits for each edit. */
  readonly isHasty?: boolean;
  /** The variables of `.env` that definitions see; read again while definitions are reloaded. */
  readonly variables?: SharedVariables;
  /** Text that definitions print in threads goes to the log, as `capturePrints` does for this one. */
  readonly capturesPrints?: boolean;
  /** Called when the store can no longer be written: nothing is sent from then on. */
  readonly onLost?: (error: Fatal) => void;
}

/** The checked parts, before anything is opened. */
export interface LaunchPlan {
  readonly config: Config;
  readonly baseUrl: string;
  readonly profile: Profile;
  readonly roster: Roster;
  /** Knows the definitions of the roster, and loads the changed ones. */
  readonly loader: DefinitionLoader;
  /** Problems that stop nothing, for a person to know. */
  readonly warnings: readonly Problem[];
}

export interface Launched extends LaunchPlan, Life {
  readonly runtime: Runtime;
  readonly store: Store;
}

/** The course of a launched runtime. */
export interface Life {
  /** Recovers from a crash, then begins. */
  start(): Promise<Recovered>;
  /** Begins no new work and waits for running work, at most `drainMs`. The store stays readable. */
  drain(): Promise<void>;
  /** Drains, then closes everything. Safe to call twice, and without a start. */
  stop(): Promise<void>;
}

/** The checked parts of a project without its keys. */
export type Cast = Pick<LaunchPlan, "profile" | "roster" | "loader">;

/** Checks settings, profile, definitions (unless `known`) and keys. Opens nothing. Throws `Misconfigured` with the first mistake. */
export async function planLaunch(config: Config, clock: Clock, known?: Cast): Promise<LaunchPlan> {
  const baseUrl = requireBaseUrl(config);
  const cast = known ?? (await planCast(config, clock));
  const problems = [...cast.roster.problems, ...checkRosterKeys(cast.roster, config)];
  throwMistakes(problems);
  return { config, baseUrl, ...cast, warnings: [...config.warnings, ...problems] };
}

/** Throws `Misconfigured` (`base_url_missing`). */
export function requireBaseUrl({ network: { baseUrl } }: Config): string {
  if (baseUrl !== undefined) return baseUrl;
  throw new Misconfigured("base_url_missing", "the network's address is not set", {
    expected: "its base address, such as https://api.example.com/v1",
    hint: "give --base-url, or set RETINUE_BASE_URL; `retinue demo` brings its own network",
  });
}

export interface CastOptions {
  /** Definitions in place of the folder. */
  readonly given?: readonly unknown[] | undefined;
  /** Default: one that evaluates modules in this thread. */
  readonly loader?: DefinitionLoader;
}

/** Checks profile and definitions alone, for a network that assigns keys later. */
export async function planCast(
  config: Config,
  clock: Clock,
  { given, loader = createDefinitionLoader(clock) }: CastOptions = {},
): Promise<Cast> {
  const profile = asConfigured(await loadProfile(config.network.profile), config);
  const roster = await readRoster(config, profile, clock, { given, loader });
  throwMistakes(roster.problems);
  if (roster.definitions.length === 0)
    throw new Misconfigured("agents_empty", "there is no specialist to run", {
      file: config.agents,
      hint: "add a file such as agents/scout.ts, or name another folder with --agents",
    });
  return { profile, roster, loader };
}

/** Definitions with their overrides, and every mistake in them. Throws for no mistake in a file. */
export function readRoster(config: Config, profile: Profile, clock: Clock, cast: CastOptions = {}): Promise<Roster> {
  return loadRoster({
    config,
    profile,
    ...cast,
    checkCron: (expression, zone) => checkCron(expression, zone, clock.now()),
    checkCaps,
  });
}

/** Opens the parts of a plan, and starts nothing yet. Throws `Misconfigured` if the store cannot be used. */
export async function launch(planned: LaunchPlan, options: LaunchOptions): Promise<Launched> {
  const { config, profile, baseUrl } = planned;
  const { clock, random } = options;
  learnSecrets(planned, options.scrubber);
  const real = await openStore(config.store, {
    clock,
    random,
    zone: () => config.guardian.zone,
    lateLandingMs: profile.timing.lateLandingMs,
    readsBeside: options.passive !== true,
    // A commit that nothing awaits may be lost, so the runtime is informed.
    onLost: (error) => {
      runtime?.storeLost(error);
      options.onLost?.(error);
    },
  });
  let common: CommonParts | undefined;
  let runtime: Runtime | undefined;
  try {
    const { allowMoved } = config.network;
    const isDry = options.writes === "refuse";
    if (!isDry && options.anyNetwork !== true)
      await bindToNetwork(real, { store: config.store, network: options.networkName ?? baseUrl, allowMoved });
    const store = isDry ? await openDryStore(real, { clock, random, zone: () => config.guardian.zone }) : real;
    common = openCommon(planned, options);
    runtime = createRuntime({
      ...(await runtimeOptions(planned, options, common, store)),
      specialists: planned.roster.definitions.map(({ specialist }) => specialist),
      ...(config.receiver.port === undefined || options.passive === true || isDry ? {} : { receiver: receiverOf(config) }),
    });
    const { isolation, tools, transport } = common;
    return {
      ...planned,
      runtime,
      store,
      ...lifeOf({ runtime, isolation, planned, options, close: [isolation, tools, store, ...(store === real ? [] : [real]), transport] }),
    };
  } catch (error) {
    await common?.transport.close();
    await real.close();
    throw error;
  }
}

/** Parts of a process that several runtimes share. */
export interface CommonParts {
  readonly transport: SocketTransport;
  readonly tools: ReturnType<typeof lazyTools>;
  readonly isolation: WorkerPool;
  readonly pacer: Pacer;
  /** As many as the transport has sockets. */
  readonly places: Semaphore;
  readonly modelPaces: ModelPaces;
}

export function openCommon({ config }: LaunchPlan, { clock, log, isolation, capturesPrints }: LaunchOptions): CommonParts {
  const spacing =
    config.spacing === undefined ? { spacingMs: 0 } : { concurrency: config.spacing.atOnce, spacingMs: config.spacing.apartMs };
  return {
    transport: createTransport({ clock }),
    tools: lazyTools({ config, clock, log }),
    isolation: isolation ?? createWorkerPool({ clock, log, capturesPrints }),
    pacer: livePacer(clock, spacing),
    places: createSemaphore(CONNECTIONS),
    modelPaces: new Map(),
  };
}

/** The options of a runtime on a store, but for its specialists and its receiver. */
export async function runtimeOptions(
  { config, profile, baseUrl }: LaunchPlan,
  options: LaunchOptions,
  { transport, tools, isolation, pacer, places, modelPaces }: CommonParts,
  store: Store,
): Promise<Omit<RuntimeOptions, "specialists">> {
  const { clock, random, log, scrubber } = options;
  return {
    isolation,
    tools,
    profile,
    baseUrl,
    store,
    transport: options.transport?.(transport.send) ?? transport.send,
    keys: keysOf(config, new Secret(await store.salt(() => random.word(SALT_LENGTH))), scrubber),
    pacer,
    places,
    clock,
    random,
    log,
    scrubber,
    zone: config.guardian.zone,
    guardianCaps: config.guardian.spend,
    drainMs: config.drainMs,
    models: { settings: config.models, readKey: config.readModelKey, paces: modelPaces },
    retention: config.retention,
    passive: options.passive ?? false,
    writes: options.writes ?? "send",
    ...defined({ announcer: options.announcer }),
  };
}

/**
 * Opens a store in memory for a dry run, which charges to the ledger of the project's store and knows its network state. Closing it leaves
 * the project's store open.
 */
export async function openDryStore(real: Store, options: Pick<SqliteStoreOptions, "clock" | "random" | "zone">): Promise<Store> {
  const store = openSqliteStore({ ...options, path: MEMORY, ledger: real });
  const now = options.clock.now();
  await store.saveNetworkState({ put: await real.networkState(), drop: [] }, now);
  for (const [handle, accountId] of await real.accounts()) await store.saveAccount(handle, accountId, now);
  return store;
}

/** The secrets that a network chooses for webhooks stand beside the store. */
export function receiverOf({ receiver, store }: Config): ReceiverSettings {
  const path = storeFile(store);
  return path === MEMORY ? receiver : { ...receiver, networkSecrets: networkSecretsIn(`${path}-webhook-secrets.json`) };
}

/** Characters of the salt of key fingerprints. */
export const SALT_LENGTH = 40;

export interface LifeParts extends Pick<ReloadingOptions, "onChange"> {
  readonly runtime: Pick<Runtime, "start" | "stop" | "put" | "retire" | "announcer"> & {
    readonly parts: { readonly unkeptHalts: Pick<UnkeptHalts, "all"> };
  };
  readonly isolation: WorkerPool;
  readonly planned: LaunchPlan;
  readonly options: LaunchOptions;
  /** Closed in this order. */
  readonly close: readonly { close(): Promise<void> }[];
}

/** The course of a runtime, or of several as one: starts, reloads its definitions, drains, and closes its parts. */
export function lifeOf({ runtime, isolation, planned, options, close, onChange }: LifeParts): Life {
  const { config, profile, roster, loader } = planned;
  const { clock, random, log } = options;
  const draining = new AbortController();
  let reloading: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    draining.abort();
    await reloading;
    await runtime.stop();
  };
  const stop = async (): Promise<void> => {
    await drain();
    for (const part of close) await part.close();
    await keepHalts(runtime.parts.unkeptHalts.all(), { store: config.store, clock, random, log, newSalt: () => random.word(SALT_LENGTH) });
  };
  return {
    async start() {
      const recovered = await runtime.start();
      const load = async (): Promise<Roster> => {
        const loaded = await readRoster(config, profile, clock, { loader });
        learnDeclared(planned, loaded, options.scrubber);
        options.onLoaded?.(loaded.definitions.map(({ specialist }) => specialist));
        return loaded;
      };
      const refresh = (): boolean => {
        const isChanged = options.variables?.refresh() === true;
        if (isChanged) isolation.renew();
        return isChanged;
      };
      if (options.passive !== true && options.fixed !== true)
        reloading = keepReloading(
          { config, roster, runtime, clock, log, load, loader, refresh, ...defined({ isHasty: options.isHasty, onChange }) },
          draining.signal,
        );
      return recovered;
    },
    drain,
    stop: () => (stopped ??= stop()),
  };
}

/** Lets the scrubber know every secret of the settings, before anything is opened. */
export function learnSecrets(planned: LaunchPlan, scrubber: Scrubber): void {
  const { config } = planned;
  const { environment, mcp, alerts } = config;
  const named = [...toolSecrets(environment, mcp), ...alertSecrets(environment, alerts), ...storeSecrets(config.store)];
  for (const secret of [...environmentSecrets(environment), ...modelSecrets(config), ...named]) scrubber.add(secret);
  learnDeclared(planned, planned.roster, scrubber);
}

/** Lets the scrubber know the values of the variables that definitions name under `secrets`. */
function learnDeclared({ config }: LaunchPlan, { definitions }: Roster, scrubber: Scrubber): void {
  const specialists = definitions.map(({ specialist }) => specialist);
  for (const secret of declaredSecrets(config.environment, specialists)) scrubber.add(secret);
}

/** Applies the Guardian's network settings to the profile. Throws `Misconfigured` (`operation_unknown`, `token_unsupported`). */
export function asConfigured(profile: Profile, { prices, network: { drift, auth } }: Config): Profile {
  const stated = Object.entries(prices);
  const unknown = stated.find(([name]) => !profile.operations.has(name));
  if (unknown !== undefined)
    throw new Misconfigured("operation_unknown", `prices: there is no operation "${unknown[0]}"`, {
      expected: "names such as posts.create",
      hint: "fix prices in the config file",
    });
  const settings = {
    ...(stated.length === 0 ? {} : { operations: Object.fromEntries(stated.map(([name, price]) => [name, { price }])) }),
    ...defined({ drift }),
    ...(auth === undefined ? {} : { auth: { exchange: auth === "token" } }),
  };
  const missing = auth === "token" ? profile.operations.get("auth.token")?.unsupported : undefined;
  if (missing !== undefined)
    throw new Misconfigured("token_unsupported", `keys cannot be exchanged for tokens: ${missing}`, {
      expected: 'a network with auth.token, or network: { auth: "key" }',
      hint: "remove auth: token, or give auth.token a path in the profile",
    });
  return Object.keys(settings).length === 0
    ? profile
    : resolveProfile({ extends: profile.set === "a" ? "set-a" : "set-b", ...settings }, profile);
}

/** Keys by reference: each is read from its source on every use. */
export function keysOf(config: Config, salt: Secret, scrubber: Scrubber): KeyProvider {
  const reference = (handle: string) => {
    const keyFile = config.specialists[handle]?.keyFile;
    return keyReference(defined({ handle, keyFile }), config.environment, config.cwd);
  };
  return createKeys({ read: (handle) => reference(handle).read(), nameOf: (handle) => reference(handle).source, salt, scrubber });
}
