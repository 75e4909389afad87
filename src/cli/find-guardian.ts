/** Finds the Guardian's hand for a command: the live runtime's, or else the store's own. */
import { existsSync } from "node:fs";
import { readConfig, type Config } from "../config/config.ts";
import { throwMistakes } from "../config/problem.ts";
import { Misconfigured } from "../core/errors.ts";
import { connectControl, type ControlClient } from "../guardian/control-socket.ts";
import type { Guardian } from "../guardian/guardian.ts";
import type { Context } from "./command.ts";

/** Runs `work` over the runtime that is live on the configured store, or over the store itself where none is. */
export async function withGuardian<Result>(
  context: Context,
  work: (guardian: Guardian, client: ControlClient | undefined) => Promise<Result>,
): Promise<Result> {
  const config = await storeConfig(context);
  const client = await connectControl(config.store.path, context.clock);
  if (client === undefined) {
    requireStore(config);
    // Loaded only now: it takes as long as all the rest, and whoever orders a halt waits for it.
    const { overStore } = await import("./offline-guardian.ts");
    return overStore(config, context, (guardian) => work(guardian, undefined));
  }
  try {
    return await work(client.guardian, client);
  } finally {
    client.close();
  }
}

/** The settings as far as the store goes: a mistake elsewhere must not keep anybody from the kill switch. */
export async function storeConfig({ flags, env, cwd }: Context): Promise<Config> {
  const { config, problems } = await readConfig({ flags, env, cwd });
  throwMistakes(problems.filter(({ code }) => code.startsWith("store_") || code.startsWith("config_")));
  return config;
}

/** Looking at a store must not make one. */
export function requireStore({ store: { path } }: Config): void {
  if (!existsSync(path))
    throw new Misconfigured("store_missing", "there is no store yet, so there is nothing to look at", {
      file: path,
      hint: "start one with retinue run, or name another with --store sqlite:<path> (a demo prints its own)",
    });
}
