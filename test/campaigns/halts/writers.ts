/** A real process whose specialists always have more to write than sockets carry, and the real `retinue halt`. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CONNECTIONS } from "../../../src/client/transport.ts";
import { isObject, parseJson, type JsonObject } from "../../../src/core/json.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { PLANTED, textIn } from "../../harness/process.ts";

const BIN = join(import.meta.dirname, "../../../bin/retinue.js");
/** As many as there are sockets, since one specialist's pass ends before its next begins. */
export const SPECIALISTS = CONNECTIONS;
/** More than is sent while the gate is shut, so that there is always something to write. */
const EACH_SECOND = 4;

const handleOf = (i: number): string => `writer-${i}`;
const definition = (handle: string): string => `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "${handle}",
  tier: "pro",
  may: ["posts.create"],
  schedules: {
    write: {
      every: "1s",
      run: (act) => {
        for (let i = 0; i < ${EACH_SECOND}; i++) act.post(\`\${i} \${act.random()}\`, { expiresIn: "3s" });
      },
    },
  },
});
`;

export interface WritersOptions {
  /** The folder of the project. */
  readonly root: string;
  /** Its address. */
  readonly store: string;
  readonly baseUrl: string;
  readonly keys: Record<string, string>;
  /** A command that runs the command given to it. */
  readonly under?: readonly string[];
  /** Called when a specialist announces that it waits for a halt to end. */
  readonly onHalted?: (handle: string) => void;
  /** Called with the message of each log line. */
  readonly onLog?: (message: string) => void;
}

export interface Writers {
  readonly child: ChildProcess;
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  /** Rejects when it ends without a signal, with what it said. */
  readonly tooEarly: Promise<never>;
}

/** Writes the project, and gives each writer an account. Returns the variables with their keys. */
export function writeProject(network: LocalNetwork, root: string, specialists = SPECIALISTS): Record<string, string> {
  mkdirSync(join(root, "agents"));
  // No spacing: with it a key has two requests at a time, which is another bound.
  writeFileSync(join(root, "retinue.config.json"), JSON.stringify({ spacing: 0 }));
  return Object.fromEntries(
    Array.from({ length: specialists }, (_, i) => {
      const handle = handleOf(i);
      writeFileSync(join(root, "agents", `${handle}.ts`), definition(handle));
      return [`RETINUE_KEY_${handle.toUpperCase().replace("-", "_")}`, network.provision({ handle, tier: "pro", set: "b" }).key];
    }),
  );
}

export function startWriters({ root, store, baseUrl, keys, under = [], onHalted, onLog }: WritersOptions): Writers {
  const words = ["run", "--json", "--base-url", baseUrl, "--set", "b", "--store", store];
  const [program = "", ...args] = [...under, process.execPath, "--conditions=retinue-source", BIN, ...words];
  const child = spawn(program, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], ...PLANTED, ...keys },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
  const ended = new Promise<number | null>((resolve) => void child.once("close", (code) => resolve(code)));
  const tooEarly = new Promise<never>(
    (_, reject) => void child.once("close", (code) => code !== null && reject(new Error(`it ended with ${code}: ${stdout}`))),
  );
  tooEarly.catch(() => undefined);
  createInterface({ input: child.stderr }).on("line", (line) => {
    const said = parseJson(line);
    if (!isObject(said)) return;
    if (said["type"] === "wait" && said["rule"] === "halted") onHalted?.(textIn(said, "handle"));
    if (said["type"] === "log") onLog?.(textIn(said, "message"));
  });
  return { child, ended, tooEarly };
}

export interface HaltAnswer {
  readonly code: number | null;
  /** The ids that it lists as in flight. */
  readonly inFlight: ReadonlySet<string>;
  /** The code of its error, if it ended with one. */
  readonly error: string | undefined;
  readonly message: string | undefined;
}

type Place = Pick<WritersOptions, "root" | "store" | "under">;

/** `retinue halt`, a process of its own. */
export async function haltByCommand(place: Place): Promise<HaltAnswer> {
  const { code, said } = await command(place, ["halt", "--reason", "a test"]);
  const { inFlight, error } = said;
  return {
    code,
    inFlight: idsOf(Array.isArray(inFlight) ? inFlight : []),
    error: isObject(error) ? textIn(error, "code") : undefined,
    message: isObject(error) ? textIn(error, "message") : undefined,
  };
}

export async function liftByCommand(place: Place): Promise<void> {
  const { code } = await command(place, ["halt", "--lift"]);
  if (code !== 0) throw new Error(`the lift ended with ${code}`);
}

/** True if the store has a halt. */
export async function isHalted(place: Place): Promise<boolean> {
  const { said } = await command(place, ["status"]);
  return Array.isArray(said["halts"]) && said["halts"].length > 0;
}

async function command(
  { root, store, under = [] }: Place,
  words: readonly string[],
): Promise<{ readonly code: number | null; readonly said: JsonObject }> {
  const all = [...under, process.execPath, "--conditions=retinue-source", BIN, ...words, "--json", "--store", store];
  const [program = "", ...args] = all;
  const child = spawn(program, args, { cwd: root, env: { PATH: process.env["PATH"], ...PLANTED }, stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
  const code = await new Promise<number | null>((resolve) => void child.once("close", (ended) => resolve(ended)));
  const said: unknown = JSON.parse(stdout);
  if (!isObject(said)) throw new Error(`it said ${stdout}`);
  return { code, said };
}

export function idsOf(inFlight: readonly unknown[]): ReadonlySet<string> {
  return new Set(inFlight.map((one) => (isObject(one) ? textIn(one, "id") : "")));
}

/** Writes that came after a halt or were at the network then, and that it had not listed. */
export function unlisted(listed: ReadonlySet<string>, late: readonly string[], atTheGate: Iterable<string>): readonly string[] {
  return [
    ...late.filter((id) => !listed.has(id)).map((id) => `${id} came after the halt, which had not listed it`),
    ...[...atTheGate].filter((id) => !listed.has(id)).map((id) => `${id} was in flight, and the halt did not list it`),
  ];
}

export function doubled(network: LocalNetwork): readonly string[] {
  return network.truth.duplicates().map((same) => `${same[0]?.text} happened ${same.length} times`);
}
