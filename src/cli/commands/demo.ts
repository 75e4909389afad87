/** `retinue demo`: runs a network, its residents and example specialists in one process, to watch and try. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, extname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig, type Config } from "../../config/config.ts";
import { passingConsole } from "../../config/console-settings.ts";
import { openEnvironment, withoutOwn } from "../../config/environment.ts";
import { parseStoreAddress, type StoreAddress } from "../../config/store-address.ts";
import type { EndpointSet } from "../../contract/operations.ts";
import { createDefinitionLoader } from "../../config/definitions.ts";
import { Misconfigured } from "../../core/errors.ts";
import { systemRandom } from "../../core/random.ts";
import { Secret } from "../../core/secret.ts";
import { createWorkerPool, type WorkerPool } from "../../handlers/worker/worker-pool.ts";
import { planCast, planLaunch, type Cast, type Launched } from "../../runtime/launch.ts";
import type { Specialist } from "../../specialist/specialist.ts";
import { choiceOption, durationOption, flagOption, textOption, wholeOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { keyFileOf } from "../key-file.ts";
import { DEFAULT_SEED, openLocalNetwork, type OpenNetwork } from "../open-local-network.ts";
import { launchOn, live, openStage, showing, type Stage, workOn } from "../session.ts";
import { summaryJson, summaryTable, totalsLines } from "../run-summary.ts";

const MAX_PORT = 65_535;
/** Placeholder: settings are checked before the network has an address. */
const NOT_YET = "http://127.0.0.1";

export const command: Command = {
  name: "demo",
  describe: "Runs a local network with residents and example specialists in one process: they read, reply, take jobs and are paid.",
  options: [
    OPTIONS.for,
    OPTIONS.logLevel,
    { flags: "--seed <text>", describe: `seed of the residents' actions (default: ${DEFAULT_SEED})` },
    { flags: "--set <a|b>", describe: "the endpoint set (default: b)" },
    { flags: "--port <number>", describe: "the network's port (default: any free one)" },
    { flags: "--data <file>", describe: "the network's data file, to continue another time" },
    { flags: "--store <url>", describe: "the specialists' store, as sqlite:<path>" },
    { flags: "--agents <dir>", describe: "the folder of definitions (default: ./agents, else the shipped examples)" },
    OPTIONS.plain,
  ],
  examples: ["retinue demo", "retinue demo --for 60s --json", "retinue demo --data demo.sqlite --store sqlite:demo-store.sqlite"],
  async run(context) {
    const places = placesOf(context);
    const sweep = (): void => places.temporary.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
    process.on("exit", sweep); // also when a second signal ends the process at once
    try {
      return await runLocally(context, places);
    } finally {
      sweep();
      process.off("exit", sweep);
    }
  },
};

/** Runs specialists on a local network in this process, by the options of the command. */
export async function runLocally(context: Context, places: Places): Promise<ExitCode> {
  const { options } = context;
  const forMs = durationOption(options, "for");
  const set = choiceOption(options, "set", ["a", "b"]) ?? "b";
  const port = wholeOption(options, "port", { min: 0, max: MAX_PORT });
  const stage = openStage(context, forMs);
  try {
    const seed = textOption(options, "seed") ?? DEFAULT_SEED;
    return await demo(stage, { forMs, set, port, seed, plain: flagOption(options, "plain"), ...places });
  } finally {
    stage.close();
  }
}

export interface Places {
  /** Absolute. */
  readonly data: string;
  readonly store: string;
  readonly agents: string;
  /** Folders to remove at the end. */
  readonly temporary: readonly string[];
  /** Definitions are loaded and run in threads, never in this one, and a person waits for each edit. */
  readonly isDeveloping?: boolean;
}

interface Demo extends Places {
  readonly forMs: number | undefined;
  readonly set: EndpointSet;
  readonly port: number | undefined;
  readonly seed: string;
  readonly plain: boolean;
}

async function demo(stage: Stage, settings: Demo): Promise<ExitCode> {
  const { clock, prints } = stage.context;
  if (settings.isDeveloping !== true) return demoWith(stage, settings);
  const isolation = createWorkerPool({ clock, log: stage.log, capturesPrints: prints !== undefined, keepsSpare: true });
  try {
    return await demoWith(stage, settings, isolation);
  } finally {
    await isolation.close();
  }
}

/** With `isolation`, definitions are loaded and run in its threads. */
async function demoWith(stage: Stage, settings: Demo, isolation?: WorkerPool): Promise<ExitCode> {
  const { context } = stage;
  const { out } = context;
  const keyFile = keyFileOf(settings.data);
  const config = await demoConfig(context, settings, keyFile);
  const threads = isolation && { loader: createDefinitionLoader(context.clock, (file) => isolation.evaluate(file)) };
  const cast = withoutLateEffects(await planCast(config, context.clock, threads));
  const world = await openLocalNetwork({
    clock: context.clock,
    seed: settings.seed,
    data: settings.data,
    port: settings.port,
    set: settings.set,
    cast: cast.roster.definitions.map(({ specialist }) => specialist),
    log: stage.log,
  });
  let launched: Launched | undefined;
  try {
    const baseUrl = baseUrlOf(world, settings.set);
    const receiver = receiverOf(config);
    const plan = await planLaunch({ ...config, receiver, network: { ...config.network, baseUrl } }, context.clock, cast);
    const networkName = `the local network kept in ${settings.data}`; // the address is no identity, since its port changes
    // A definition that is new gets an account and a key, too.
    const onLoaded = (specialists: readonly Specialist[]): void => world.provision(specialists);
    launched = await launchOn(stage, plan, { networkName, onLoaded, ...(isolation && { isolation, isHasty: true }) });
    greet(stage, settings, world);
    world.network.start();
    const handles = launched.roster.definitions.map(({ specialist }) => specialist.handle);
    const { url, token } = world.listening.guardian;
    const places = [{ name: "My Agents", text: `${url}  log in: ${token}` }];
    const totals = () => world.network.summary(handles);
    const { plain, forMs } = settings;
    const working = workOn(stage, launched);
    const { why, shown } = await live(stage, working, showing(stage, { launched: working, forMs, plain, places, totals }));
    const { jobs, network } = world.network.summary(shown.map(({ handle }) => handle));
    summaryTable(shown, out);
    totalsLines(jobs, network, out);
    const ok = why !== "lost";
    out.result({ version: context.version, command: context.command, ok, specialists: summaryJson(shown, settings.set), jobs, network });
    return ok ? EXIT.done : EXIT.failed;
  } finally {
    await launched?.stop();
    await world.close();
  }
}

/** A demo's network ends with its process, so a request takes effect by its deadline, and an interrupted action is clear soon after a restart. */
function withoutLateEffects(cast: Cast): Cast {
  return { ...cast, profile: { ...cast.profile, quietMs: cast.profile.timing.deadlineMs } };
}

/** The demo's network delivers to it, under a secret shared by the two, unless settings differ. */
function receiverOf({ receiver }: Config): Config["receiver"] {
  if (receiver.port !== undefined) return { ...receiver, local: true };
  const secret = new Secret(systemRandom().word(32));
  return { ...receiver, port: 0, local: true, readSecrets: () => [secret] };
}

function greet({ context: { out, clock } }: Stage, { data, store, temporary, set }: Demo, { listening, keyFile }: OpenNetwork): void {
  const baseUrl = listening.baseUrls[set];
  out.progress(
    { type: "started", at: clock.now(), set, baseUrl, guardian: listening.guardian.url, data, store: `sqlite:${store}`, keyFile },
    [
      `A network of its own (Set ${set.toUpperCase()}) at ${baseUrl}`,
      `My Agents, the network's page with a token of its own: ${listening.guardian.url} (token ${listening.guardian.token})`,
      temporary.length > 0 ? `Kept in ${dirname(data)} until this ends` : `Kept in ${data} and ${store}`,
      "",
    ],
  );
}

/**
 * Settings of the folder, but only this network, this store and these keys: a demo touches nothing real. Models are those of the project,
 * with their keys: a demo without them would show nothing of what a model-driven specialist does.
 */
async function demoConfig({ cwd, flags, env }: Context, { set, store, agents }: Demo, keyFile: string): Promise<Config> {
  const config = await loadConfig({
    cwd,
    env: withoutOwn(env),
    envFile: keyFile,
    flags: {
      ...(flags.config === undefined ? {} : { config: flags.config }),
      agents,
      baseUrl: NOT_YET,
      set,
      profile: `set-${set}`,
      store: `sqlite:${store}`,
    },
  });
  const specialists = Object.entries(config.specialists).map(([handle, { keyFile: _real, ...rest }]) => [handle, rest] as const);
  const own = openEnvironment({ cwd, variables: env });
  const token = new Secret(systemRandom().word(24));
  return {
    ...config,
    console: passingConsole(token),
    alerts: undefined,
    specialists: Object.fromEntries(specialists),
    readModelKey: (variable) => own.get(variable),
  };
}

function baseUrlOf({ listening }: OpenNetwork, set: EndpointSet): string {
  const url = listening.baseUrls[set];
  if (url === undefined) throw new Misconfigured("set_unknown", `the local network does not speak Set ${set.toUpperCase()}`);
  return url;
}

/** The demo's files: unstated places go beside the stated ones, and all into a temporary folder if none is stated. */
function placesOf({ options, cwd }: Context): Places {
  const agents = agentsOf(textOption(options, "agents"), cwd);
  const data = textOption(options, "data");
  const address = textOption(options, "store");
  const store = address === undefined ? undefined : fileOf(parseStoreAddress(address, cwd));
  if (data === undefined && store === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "retinue-demo-"));
    return { agents, data: join(folder, "network.sqlite"), store: join(folder, "store.sqlite"), temporary: [folder] };
  }
  const file = data === undefined ? undefined : isAbsolute(data) ? data : join(cwd, data);
  return { agents, data: file ?? beside(store ?? "", "network"), store: store ?? beside(file ?? "", "store"), temporary: [] };
}

function fileOf(address: StoreAddress): string {
  if (address.kind === "sqlite") return address.path;
  throw new Misconfigured("store_invalid", "the demo and its network keep their stores in files", { expected: "sqlite:<path>" });
}

function beside(path: string, what: string): string {
  return join(dirname(path), `${basename(path, extname(path))}-${what}.sqlite`);
}

function agentsOf(given: string | undefined, cwd: string): string {
  if (given !== undefined) return isAbsolute(given) ? given : join(cwd, given);
  const own = join(cwd, "agents");
  if (existsSync(own)) return own;
  // In the package, the cast is built beside the runtime; in a checkout it is the folder at its top.
  const built = fileURLToPath(new URL("../../agents", import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL("../../../agents", import.meta.url));
}
