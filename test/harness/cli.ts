/** Runs the real command line, in a process of its own or (many times faster) in this one. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { main } from "../../src/cli/main.ts";

const BIN = join(import.meta.dirname, "../../bin/retinue.js");

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: { readonly [name: string]: string };
  readonly nodeOptions?: readonly string[];
  /** Asks it to end once stdout or stderr has this, however slow the machine is. Without effect in this process. */
  readonly until?: RegExp;
}

/** `retinue <args>`, with only the variables given (and PATH). */
export function retinue(args: readonly string[], { cwd, env = {}, nodeOptions = [], until }: RunOptions): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...nodeOptions, BIN, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    let isAsked = false;
    const look = (): void => {
      if (isAsked || until === undefined || !(until.test(stdout) || until.test(stderr))) return;
      isAsked = true;
      child.kill("SIGTERM");
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      look();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      look();
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** The same in this process: for the second look at something that was also shown from outside. */
export async function inProcess(args: readonly string[], { cwd, env = {} }: RunOptions): Promise<Finished> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({ write: (text: string) => void (written[name] += text) });
  const code = await main(args, { cwd, env, stdout: stream("stdout"), stderr: stream("stderr") });
  return { code, ...written };
}
