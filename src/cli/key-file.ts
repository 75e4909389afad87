/** Writes the settings for a local network (address, set, keys) to a separate file that only its owner may read, in dotenv form. */
import { chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { KEY_PREFIXES, keyVariable } from "../config/key-sources.ts";
import { openEnvironment } from "../config/environment.ts";
import type { EndpointSet } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import { Misconfigured, messageOf, Refused } from "../core/errors.ts";
import type { LocalNetwork } from "../local-network/options.ts";

export interface Resident {
  readonly handle: string;
  readonly tier: Tier;
  readonly name?: string;
}

/** The file, and the address and set that its keys are for. */
export interface KeyFile {
  readonly file: string;
  readonly set: EndpointSet;
  readonly baseUrl: string;
}

export const GUARDIAN_VARIABLE = "RETINUE_GUARDIAN_KEY";

/** Beside the network's data: the keys of `network.sqlite` are in `network-keys.env`. */
export function keyFileOf(data: string): string {
  return join(dirname(data), `${basename(data, extname(data))}-keys.env`);
}

/**
 * Gives each of these an account on the network, with a key in the file. An existing account with its key is kept, so that a second start
 * continues the first. The file suffices as the `.env` of a project. Throws `Misconfigured` for a handle the network refuses.
 */
export function provisionAll(network: LocalNetwork, cast: readonly Resident[], { file, set, baseUrl }: KeyFile): void {
  const known = openEnvironment({ cwd: dirname(file), file, variables: {} });
  const lines = new Map<string, string>(known.entries("RETINUE_"));
  lines.set("RETINUE_BASE_URL", baseUrl).set("RETINUE_SET", set);
  for (const { handle, tier, name } of cast) {
    const variable = keyVariable(handle);
    const kept = lines.get(variable);
    if (network.find(handle) === undefined)
      lines.set(variable, provision(network, { handle, tier, ...(name === undefined ? {} : { name }) }, set));
    else {
      network.setTier(handle, tier);
      if (kept?.startsWith(KEY_PREFIXES[set]) !== true) lines.set(variable, network.regenerateKey(handle, set));
    }
  }
  // A new Guardian key revokes the previous one, so it is requested only once.
  if (!lines.has(GUARDIAN_VARIABLE)) lines.set(GUARDIAN_VARIABLE, network.guardianKey());
  write(file, lines);
}

function provision(network: LocalNetwork, resident: Resident, set: EndpointSet): string {
  try {
    return network.provision({ ...resident, set }).key;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Misconfigured(error.code, `the local network does not accept "${resident.handle}": ${messageOf(error)}`, {
      hint: "choose another handle in its definition",
      cause: error,
    });
  }
}

/** Written under another name first and renamed, so that nobody reads half of it. */
function write(file: string, lines: ReadonlyMap<string, string>): void {
  const text = ["# A local network and its keys, which work nowhere else.", ...[...lines].map(([name, key]) => `${name}=${key}`), ""].join(
    "\n",
  );
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}
