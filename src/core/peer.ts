/** Loads an optional package on first use; its absence is an error that names the command which installs it. */
import { Misconfigured } from "./errors.ts";

/** A package that this one works with, at the version it is tested with. */
export interface Peer {
  readonly name: string;
  readonly version: string;
}

/** Throws `Misconfigured` (`peer_missing`) if the package is not installed. */
export function loadPeer<Module>({ name, version }: Peer, load: () => Promise<Module>): Promise<Module> {
  return loadOptional(name, load, (cause) => {
    return new Misconfigured("peer_missing", `the package ${name} is not installed`, {
      expected: `${name} ${version} in this project`,
      hint: `npm install --save-exact ${name}@${version}`,
      cause,
    });
  });
}

/** Throws `missing` if the package is not installed, and any other failure as it is. */
export async function loadOptional<Module>(
  name: string,
  load: () => Promise<Module>,
  missing: (cause: unknown) => Misconfigured,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw isMissing(error, name) ? missing(error) : error;
  }
}

/** The package itself is missing, and not a file that it needs. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${name}'`);
}
