/**
 * The `promtool` of Prometheus: that of `PROMTOOL`, that of the machine, or that of Debian's package, which is fetched and unpacked into
 * `node_modules/.cache`. Nothing is installed or started. Without any of them it throws, with the words that say what to do.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../src/core/errors.ts";

const CACHE = join(import.meta.dirname, "../../node_modules/.cache/promtool");
const CACHED = join(CACHE, "promtool");
const TIMEOUT_MS = 50_000;
const PACKAGE = "prometheus";

export function promtool(): string {
  const stated = process.env["PROMTOOL"];
  if (stated !== undefined && stated !== "") return stated;
  if (existsSync(CACHED)) return CACHED;
  try {
    execFileSync("promtool", ["--version"], { stdio: "ignore" });
    return "promtool";
  } catch {
    return fetched();
  }
}

function fetched(): string {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "fetch-"));
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync(program, args, { cwd: folder, encoding: "utf8", timeout: TIMEOUT_MS, stdio: ["ignore", "pipe", "pipe"] });
  try {
    try {
      run("apt-get", "download", PACKAGE);
    } catch {
      run("apt-get", "update"); // a fresh image has no lists; only root may fetch them
      run("apt-get", "download", PACKAGE);
    }
    run("sh", "-c", `dpkg-deb -x ${PACKAGE}_*.deb .`);
    renameSync(join(folder, "usr/bin/promtool"), CACHED);
    return CACHED;
  } catch (error) {
    throw new Error(
      `promtool is missing, and Debian's package could not be fetched (${messageOf(error)}): install Prometheus, such as by apt-get install --no-install-recommends ${PACKAGE}, or name the program in PROMTOOL`,
      { cause: error },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Its complaints about an input; none if it accepts it. */
export function complaints(args: readonly string[], input: string): string {
  try {
    execFileSync(promtool(), args, { input, encoding: "utf8", timeout: TIMEOUT_MS, stdio: "pipe" });
    return "";
  } catch (error) {
    if (!(error instanceof Error && "stderr" in error && "stdout" in error && "status" in error && typeof error.status === "number"))
      throw error;
    return `${String(error.stdout)}${String(error.stderr)}`;
  }
}
