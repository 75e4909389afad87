/** `retinue dev`: runs the specialists of a project on a local network that keeps its data, and reloads each definition as it is saved. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import { withoutOwn } from "../../config/environment.ts";
import { Misconfigured } from "../../core/errors.ts";
import { DEFAULT_SEED } from "../open-local-network.ts";
import { OPTIONS, type Command } from "../command.ts";
import { DEV_FOLDER, STORE_FILE } from "../find-guardian.ts";
import { runLocally } from "./demo.ts";

export const command: Command = {
  name: "dev",
  describe:
    "Runs your specialists on a local network with residents, and uses each definition from the moment it is saved; one with a mistake keeps " +
    `its last working version, and the line is reported. The network and the store are kept in ${DEV_FOLDER}: remove that folder to start over.`,
  options: [
    OPTIONS.for,
    OPTIONS.logLevel,
    OPTIONS.config,
    OPTIONS.agents,
    { flags: "--set <a|b>", describe: "the endpoint set (default: b)" },
    { flags: "--port <number>", describe: "the network's port (default: any free one)" },
    { flags: "--seed <text>", describe: `seed of the residents' actions (default: ${DEFAULT_SEED})` },
    OPTIONS.plain,
  ],
  examples: ["retinue dev", "retinue dev --plain"],
  async run(context) {
    const { cwd, env, flags } = context;
    const { agents } = await loadConfig({ cwd, flags, env: withoutOwn(env) });
    if (!existsSync(agents))
      throw new Misconfigured("agents_unreadable", "there is no folder of definitions", {
        file: agents,
        hint: "retinue init <dir> writes a project; or name a folder with --agents",
      });
    const kept = join(cwd, DEV_FOLDER);
    try {
      return await runLocally(context, {
        agents,
        data: join(kept, "network.sqlite"),
        store: join(kept, STORE_FILE),
        temporary: [],
        isDeveloping: true,
      });
    } catch (error) {
      if (!(error instanceof Misconfigured) || error.code !== "network_data_in_use") throw error;
      throw new Misconfigured("dev_running", "retinue dev already runs in this folder", {
        file: kept,
        hint: "the running one uses each edit; end it before you begin another, or copy the project",
        cause: error,
      });
    }
  },
};
