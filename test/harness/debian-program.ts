/**
 * A program of Debian for a test: the one that a variable names, that of the machine, or that of the packages, which are fetched and unpacked
 * into `node_modules/.cache`. Nothing is installed or started. Without any of them it throws, with the words that say what to do.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../src/core/errors.ts";

export interface DebianProgram {
  readonly program: string;
  /** The package that holds it, and those with its libraries. */
  readonly packages: readonly [string, ...string[]];
  /** Its place in the package. */
  readonly place: string;
  /** A variable of the environment that names the program. */
  readonly variable: string;
}

export interface FoundProgram {
  readonly path: string;
  /** Variables that it needs to find its libraries. */
  readonly env: Readonly<Record<string, string>>;
}

const CACHE = join(import.meta.dirname, "../../node_modules/.cache");
const TIMEOUT_MS = 50_000;

export function debianProgram(wanted: DebianProgram): FoundProgram {
  const { program, variable, place } = wanted;
  const stated = process.env[variable];
  if (stated !== undefined && stated !== "") return { path: stated, env: {} };
  const root = join(CACHE, program);
  if (!existsSync(join(root, place))) {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
      return { path: program, env: {} };
    } catch {
      fetch(wanted, root);
    }
  }
  return { path: join(root, place), env: { LD_LIBRARY_PATH: join(root, "libraries") } };
}

function fetch({ program, packages, variable }: DebianProgram, root: string): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "fetch-"));
  const run = (command: string, ...args: readonly string[]): string =>
    execFileSync(command, args, { cwd: folder, encoding: "utf8", timeout: TIMEOUT_MS, stdio: ["ignore", "pipe", "pipe"] });
  try {
    try {
      run("apt-get", "download", ...packages);
    } catch {
      run("apt-get", "update"); // a fresh image has no lists; only root may fetch them
      run("apt-get", "download", ...packages);
    }
    run("sh", "-c", "for one in *.deb; do dpkg-deb -x $one .; done; mkdir libraries; find usr -name '*.so*' -exec cp -P {} libraries/ ';'");
    renameSync(folder, root);
  } catch (error) {
    throw new Error(
      `${program} is missing, and Debian's package could not be fetched (${messageOf(error)}): install it, such as by apt-get install --no-install-recommends ${packages[0]}, or name the program in ${variable}`,
      { cause: error },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
