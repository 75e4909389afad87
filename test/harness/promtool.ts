/** The `promtool` of Prometheus, which checks metrics and alert rules. */
import { execFileSync } from "node:child_process";
import { debianProgram } from "./debian-program.ts";

const TIMEOUT_MS = 50_000;
const PROMTOOL = { program: "promtool", packages: ["prometheus"], place: "usr/bin/promtool", variable: "PROMTOOL" } as const;

/** Its complaints about an input; none if it accepts it. */
export function complaints(args: readonly string[], input: string): string {
  const { path, env } = debianProgram(PROMTOOL);
  try {
    execFileSync(path, args, { input, encoding: "utf8", timeout: TIMEOUT_MS, stdio: "pipe", env: { ...process.env, ...env } });
    return "";
  } catch (error) {
    if (!(error instanceof Error && "stderr" in error && "stdout" in error && "status" in error && typeof error.status === "number"))
      throw error;
    return `${String(error.stdout)}${String(error.stderr)}`;
  }
}
