/** A real `retinue` process: what it says as it says it, what it ended with, and a way to end it. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";

const ROOT = join(import.meta.dirname, "../..");
const BIN = join(ROOT, "bin/retinue.js");
/** A bug that is planted in this process is in those that it starts too. */
const { RETINUE_PLANTED, NODE_OPTIONS } = process.env;
export const PLANTED: { readonly [name: string]: string | undefined } =
  RETINUE_PLANTED === undefined ? {} : { RETINUE_PLANTED, NODE_OPTIONS };
/** Lines shown of a process whose test failed. */
const LAST_WORDS = 30;
const MOST_STDOUT = 4_000;

export interface Process {
  readonly pid: number;
  /** The objects of stderr so far. */
  readonly said: readonly JsonObject[];
  /** Lines of stderr that were no JSON objects. */
  readonly strays: readonly string[];
  /** The first object that fits, past or to come. Rejects when the process ends without it. */
  saying(fits: (said: JsonObject) => boolean): Promise<JsonObject>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string | undefined };
  /** Through `npm start`, as people do. */
  readonly npm?: boolean;
  /** A command that runs the command given to it: `strace …`, `nsenter …`. */
  readonly under?: readonly string[];
}

/** A folder that goes away with its test. */
export function folder({ onTestFinished }: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), "retinue-flow-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** `retinue <args> --json`, killed when its test is over. */
export function start(
  { onTestFinished, onTestFailed }: TestContext,
  args: readonly string[],
  { cwd = ROOT, env = {}, npm = false, under = [] }: StartOptions = {},
): Process {
  const [program, ...words] = [...under, process.execPath, "--conditions=retinue-source", BIN, ...args, "--json"];
  const child = npm
    ? spawn("npm", ["start", "--silent", "--", ...args, "--json"], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] })
    : spawn(program, words, {
        cwd,
        env: { PATH: process.env["PATH"], ...PLANTED, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
  const said: JsonObject[] = [];
  const strays: string[] = [];
  const waiting = new Set<{ readonly fits: (said: JsonObject) => boolean; readonly found: (said: JsonObject) => void }>();
  let stdout = "";
  let rest = "";
  const hear = (line: string): void => {
    const value = parseJson(line);
    if (!isObject(value)) return void (line.trim() !== "" && strays.push(line));
    said.push(value);
    for (const one of waiting)
      if (one.fits(value)) {
        waiting.delete(one);
        one.found(value);
      }
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(hear);
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout }));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  onTestFailed(() => {
    const last = [...said.slice(-LAST_WORDS).map((one) => JSON.stringify(one)), ...strays.slice(-LAST_WORDS), stdout.slice(-MOST_STDOUT)];
    process.stderr.write(`retinue ${args.join(" ")}: the last it said\n${last.join("\n")}\n`);
  });
  return {
    pid: child.pid ?? 0,
    said,
    strays,
    async saying(fits) {
      const known = said.find(fits);
      if (known !== undefined) return known;
      return Promise.race([
        new Promise<JsonObject>((found) => waiting.add({ fits, found })),
        ended.then(({ code, stdout: out }) => {
          throw new Error(`it ended with ${code} before it said so: ${out}${strays.join("\n")}`);
        }),
      ]);
    },
    kill(signal) {
      child.kill(signal);
    },
    ended,
  };
}

/** The one final object. */
export function resultOf({ stdout }: Ended): JsonObject {
  const value = parseJson(stdout);
  if (!isObject(value)) throw new Error(`expected one JSON object, got ${stdout}`);
  return value;
}

/** An intent that came to this state, of one of these operations. */
export function became(state: string, ...operations: readonly string[]): (said: JsonObject) => boolean {
  return (said) => said["type"] === "intent" && said["state"] === state && operations.includes(textIn(said, "operation"));
}

/** A text of an object, or an empty one. */
export function textIn(said: JsonObject, name: string): string {
  const value = said[name];
  return typeof value === "string" ? value : "";
}
