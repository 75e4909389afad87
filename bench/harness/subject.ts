/** What is measured, in a process of its own: started with its settings, asked for what it used, stopped. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { shippedNode, type NodeSettings } from "./shipped.ts";

export interface Usage {
  /** User and system time of the process so far. */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly heapMb: number;
}

export interface Subject {
  readonly port: number;
  readonly pid: number;
  usage(): Promise<Usage>;
  /** The end of what it wrote, for errors. */
  said(): string;
  /** Resolves with anything else it is asked and answers. */
  ask(question: string): Promise<unknown>;
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
}

const START_MS = 60_000;
const STOP_MS = 15_000;

/** Whose code runs in it: Retinue's under Node as its command starts it, everybody else's under Node's own defaults. */
export type Whose = "retinue" | "peer";

const PLAIN: NodeSettings = { env: {}, flags: [] };

/** Starts `bench/subjects/<file>`. Throws with what it wrote when it does not come up, and ends it. */
export async function startSubject(file: string, settings: Readonly<Record<string, unknown>>, whose: Whose): Promise<Subject> {
  const { env, flags } = whose === "retinue" ? shippedNode() : PLAIN;
  const child = fork(join(import.meta.dirname, "../subjects", file), [JSON.stringify(settings)], {
    execArgv: ["--conditions=retinue-source", "--disable-warning=ExperimentalWarning", ...flags, ...profiling()],
    env: { ...process.env, NODE_ENV: "production", LOG_LEVEL: "fatal", ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let said = "";
  const hear = (chunk: Buffer): void => void (said = (said + chunk.toString()).slice(-4_000));
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  const ready = await Promise.race([
    answer(child),
    once(child, "exit").then(() => Promise.reject(new Error(`${file} did not start: ${said}`))),
    new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error(`${file} took more than ${START_MS / 1_000} s to start: ${said}`)), START_MS).unref(),
    ),
  ]).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  const gone = once(child, "exit");
  const ask = async (question: string): Promise<unknown> => {
    if (!child.connected) throw new Error(`${file} ended by itself: ${said}`);
    const heard = answer(child);
    child.send(question);
    return Promise.race([heard, gone.then(() => Promise.reject(new Error(`${file} ended by itself: ${said}`)))]);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  return {
    port: Number(field(ready, "port")),
    pid: child.pid ?? 0,
    ask,
    said: () => said,
    async usage() {
      const told = await ask("usage");
      return { cpuMs: Number(field(told, "cpuMs")), rssMb: Number(field(told, "rssMb")), heapMb: Number(field(told, "heapMb")) };
    },
    async stop() {
      if (!child.connected) throw new Error(`${file} ended by itself: ${said}`);
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      child.send("stop");
      await gone;
      clearTimeout(late);
    },
    kill: () => end("SIGKILL"),
  };
}

function profiling(): readonly string[] {
  const folder = process.env["BENCH_PROFILE"];
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

async function answer(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, "message")) as unknown[];
  return message;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
