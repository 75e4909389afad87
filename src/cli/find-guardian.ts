/** Finds the Guardian's interface for a command: that of the live runtime, or else of the store. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfig, type Config } from "../config/config.ts";
import { throwMistakes } from "../config/problem.ts";
import { storeFile } from "../config/store-address.ts";
import { sleep } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { isRetinueError, Misconfigured, type RetinueError } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";
import { connectControl, isSocketSilent, type ControlClient } from "../guardian/control-socket.ts";
import type { Guardian } from "../guardian/guardian.ts";
import { BrieflyTaken } from "../store/briefly-taken.ts";
import type { Caller } from "../store/orders.ts";
import { shellUser } from "./shell-user.ts";
import type { Context } from "./command.ts";

/** A halt must not wait for long. */
const SOON_MS = SECOND / 2;

/** Runs `work` over the live runtime of the configured store, or over the store itself if there is none. */
export async function withGuardian<Result>(
  context: Context,
  work: (guardian: Guardian, client: ControlClient | undefined) => Promise<Result>,
): Promise<Result> {
  const config = await storeConfig(context);
  const client = await connected(config, context, shellUser(context.env));
  if (client === undefined) return withoutClient(config, context, work);
  let nobody: RetinueError;
  try {
    return await work(client.guardian, client);
  } catch (error) {
    if (config.store.kind !== "postgres" || !isRetinueError(error) || error.code !== "nobody_at_work") throw error;
    nobody = error;
  } finally {
    client.close();
  }
  return withoutClient(config, context, work, nobody);
}

/** `nobody` is the answer of a process: unless all are drained, one of them is about to take the specialists, and the store is left to it. */
async function withoutClient<Result>(
  config: Config,
  context: Context,
  work: (guardian: Guardian, client: undefined) => Promise<Result>,
  nobody?: RetinueError,
): Promise<Result> {
  requireStore(config);
  const over = (guardian: Guardian): Promise<Result> => work(guardian, undefined);
  const alone = async (): Promise<Result> => {
    // Loaded on demand: it takes as long as everything else, and a halt must not wait for it.
    const { overStore } = await import("./offline-guardian.ts");
    return overStore(config, context, over);
  };
  const { store } = config;
  if (store.kind === "sqlite") return alone();
  const [{ overProcesses }, { inTurn }] = await Promise.all([import("./fleet-session.ts"), import("./command-turns.ts")]);
  const quiet = { ...context, out: { ...context.out, paragraph: () => undefined } }; // told once
  return inTurn(context.clock, async ({ isFirst, until }) => {
    const asked = await overProcesses(store, isFirst ? context : quiet, over, { nobody, until });
    if (asked !== undefined) return asked.result;
    try {
      return await alone();
    } catch (error) {
      if (!isTaken(error) || error instanceof BrieflyTaken) throw error;
      const since = await overProcesses(store, quiet, over, { nobody }); // a process that has taken it after the look
      if (since !== undefined) return since.result;
      throw error;
    }
  });
}

function isTaken(error: unknown): boolean {
  return isRetinueError(error) && error.code === "store_in_use";
}

/**
 * Runs `work` over the live runtime alone, also over the processes of a fleet on other machines; undefined if none has the store. Throws
 * `Retryable` (`nobody_at_work`) while one of them is about to take the specialists. A command is waited for until `until`, by the monotonic
 * clock.
 */
export async function overRunning<Result>(
  config: Config,
  context: Context,
  work: (guardian: Guardian) => Promise<Result>,
  { caller = shellUser(context.env), until }: { readonly caller?: Caller; readonly until?: number } = {},
): Promise<{ readonly result: Result } | undefined> {
  const client = await connected(config, context, caller);
  if (client !== undefined)
    try {
      return { result: await work(client.guardian) };
    } finally {
      client.close();
    }
  if (config.store.kind !== "postgres") return undefined;
  const [{ overProcesses }, { nobodyAtWork }] = await Promise.all([import("./fleet-session.ts"), import("../guardian/join-guardians.ts")]);
  try {
    return await overProcesses(config.store, context, work, { nobody: nobodyAtWork(), caller, ...defined({ until }) });
  } catch (error) {
    if (isRetinueError(error) && error.code === "store_missing") return undefined;
    throw error;
  }
}

/**
 * Of a fleet, a process that does not answer here is asked through the server, like the others; without the server it is waited for. Undefined
 * also if it never answers: the command then tells the error of the server.
 */
async function connected({ store }: Config, { clock }: Context, { who }: Caller): Promise<ControlClient | undefined> {
  const file = storeFile(store);
  if (store.kind === "sqlite") return connectControl(file, clock, who);
  const over = new AbortController();
  const own = connectControl(file, clock, who, over.signal).catch((error: unknown) => {
    if (isSocketSilent(error)) return undefined;
    throw error;
  });
  const throughServer = async (): Promise<ControlClient | undefined> => {
    await sleep(clock, SOON_MS, over.signal);
    if (over.signal.aborted) return undefined;
    const { canVisit } = await import("./fleet-session.ts");
    return (await canVisit(store, clock)) ? undefined : own;
  };
  try {
    const client = await Promise.race([own, throughServer()]);
    if (client === undefined) void own.then((late) => late?.close());
    return client;
  } finally {
    over.abort();
  }
}

/** The settings for finding the store: a mistake elsewhere must not block the kill switch. A mistyped variable may have named another. */
export async function storeConfig({ flags, env, cwd, out }: Context): Promise<Config> {
  const { config, problems } = await readConfig({ flags, env, cwd });
  out.problems(problems.filter(({ code }) => code === "variable_unknown"));
  throwMistakes(problems.filter(({ code }) => code.startsWith("store_") || code.startsWith("config_")));
  return config;
}

/** The folder that keeps the network and the store of `retinue dev`, apart from those of `run`; relative to the project. */
export const DEV_FOLDER = join(".retinue", "dev");
export const STORE_FILE = "store.sqlite";

/** A query must not create a store. */
export function requireStore({ cwd, store }: Config): void {
  const path = storeFile(store);
  if (store.kind === "postgres" || existsSync(path)) return;
  const ofDev = join(DEV_FOLDER, STORE_FILE);
  throw new Misconfigured("store_missing", "there is no store yet", {
    file: path,
    hint: existsSync(join(cwd, ofDev))
      ? `start one with retinue run; that of retinue dev is named by --store sqlite:${ofDev}`
      : "start one with retinue run, or name another with --store sqlite:<path> (a demo prints its own)",
  });
}
