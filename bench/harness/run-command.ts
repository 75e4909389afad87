/** `retinue run` as its users start it: a project folder, a child process, and somebody who reads what it prints. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { SECRET } from "../subjects/webhook.ts";
import { freePort } from "../../test/harness/free-port.ts";
import { modelUrl } from "./model.ts";
import { cpuMsOf } from "./server-usage.ts";
import { shippedNode } from "./shipped.ts";
import { endOf, late, memoryMb } from "./starts.ts";
import type { Subject } from "./subject.ts";

export interface RunSettings {
  readonly folder: string;
  /** Port of the network. */
  readonly sink: number;
  readonly specialists: number;
  /** Opens the console, with this token. */
  readonly consoleToken?: string;
  /** Default: a file in the folder. */
  readonly store?: string;
  /** Specialists that take webhooks and poll nothing. */
  readonly isQuiet?: boolean;
  /** Port of a model: each handler asks it, in a step, before it replies. */
  readonly model?: number;
}

export interface RunSubject extends Subject {
  /** Undefined without a console. */
  readonly consoleUrl: string | undefined;
  /** Objects that an action in doubt is about, as `retinue status` lists them. */
  inDoubt(): Promise<ReadonlySet<string>>;
}

const BIN = join(import.meta.dirname, "../../bin/retinue.js");
const LOOK_MS = 20;
const LARGEST_STATUS = 64 * 1_024 * 1_024;
const UNLIMITED = { perHour: 1e9, perDay: 1e9 };

/** Throws where the system has no `/proc`, which the processor time is read from. */
export async function startRunCommand({
  folder,
  sink,
  specialists,
  consoleToken,
  store = "sqlite:store.sqlite",
  isQuiet = false,
  model,
}: RunSettings): Promise<RunSubject> {
  const handles = Array.from({ length: specialists }, (_, n) => `s${n}`);
  mkdirSync(join(folder, "agents"), { recursive: true });
  for (const [n, handle] of handles.entries())
    writeFileSync(join(folder, `agents/${handle}.js`), definition(handle, n, { isQuiet, model }));
  writeFileSync(join(folder, "network.json"), JSON.stringify({ extends: "set-b", tiers: { pro: UNLIMITED } }));
  const port = await freePort();
  const consolePort = consoleToken === undefined ? undefined : await freePort();
  const { env, flags } = shippedNode();
  const network = ["--base-url", `http://127.0.0.1:${sink}/v1`, "--profile", "network.json", "--store", store];
  const variables = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    ...env,
    ...Object.fromEntries(handles.map((handle) => [`RETINUE_KEY_${handle.toUpperCase()}`, `sk_live_${handle}_abcdefghijkl`])),
    RETINUE_WEBHOOK_PORT: String(port),
    RETINUE_WEBHOOK_SECRET: SECRET,
    ...(consolePort === undefined ? {} : { RETINUE_CONSOLE_PORT: String(consolePort), RETINUE_CONSOLE_TOKEN: consoleToken }),
  };
  const command = [...flags, "--conditions=retinue-source", BIN];
  const child = spawn(process.execPath, [...command, "run", ...network], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: variables,
  });
  let printed = "";
  child.stdout?.on("data", (chunk: Buffer) => void (printed = (printed + chunk.toString()).slice(-2_000)));
  const ended = endOf(child);
  const said = (): string => `${printed}${ended.said()}`;
  try {
    await Promise.race([listening(port), ended.early, late(() => `retinue run did not start: ${said()}`)]);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return {
    port,
    consoleUrl: consolePort === undefined ? undefined : `http://127.0.0.1:${consolePort}`,
    pid: child.pid ?? 0,
    said,
    usage: async () => ({ cpuMs: cpuMsOf(child.pid ?? 0), rssMb: memoryMb(child.pid, "VmRSS") ?? 0, heapMb: 0 }),
    ask: () => Promise.reject(new Error("retinue run answers no questions of the bench")),
    stop: () => end(child, "SIGTERM"),
    kill: () => end(child, "SIGKILL"),
    async inDoubt() {
      const args = [...command, "status", "--json", "--store", store];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env: variables, maxBuffer: LARGEST_STATUS });
      const { doubts } = JSON.parse(stdout) as { readonly doubts: readonly { readonly target?: string }[] };
      return new Set(doubts.flatMap(({ target }) => target ?? []));
    },
  };
}

function definition(
  handle: string,
  n: number,
  { isQuiet, model }: { readonly isQuiet: boolean; readonly model: number | undefined },
): string {
  const reply = "act.reply(post, `thanks ${post.id}`)";
  const asked = `async (signal) => (await act.fetch(\`${modelUrl(model ?? 0)}/\${post.id}/\${process.pid}\`, { method: "POST", signal })).text()`;
  const handler =
    model === undefined ? `(post, act) => void ${reply}` : `async (post, act) => { await act.step("think", ${asked}); ${reply}; }`;
  return `import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "${handle}",
  id: "id${n}",
  tier: "pro",
  watch: { ${isQuiet ? "" : "feed: true, "}threads: false, mentions: false },
  may: ["posts.reply"],
  brakes: { repliesPerThread: 1000, repliesPerAuthorPerHour: 1000, repliesPerHour: 1000, sameTextWithin: 0 },
  on: { "${isQuiet ? "mention" : "post"}.created": ${handler} },
});
`;
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => (socket.destroy(), resolve(true)));
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
