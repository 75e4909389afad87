/** One life of the process that is killed: it is begun, it tells how it stands, and it ends. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isObject, parseJson } from "../../../src/core/json.ts";
import type { DriverReport, DriverSettings } from "./driver.ts";

export interface Life {
  kill(signal: NodeJS.Signals): void;
  /** Whether it came as far as to say that it works. */
  readonly began: Promise<boolean>;
  readonly ended: Promise<void>;
}

const DRIVER = join(import.meta.dirname, "driver.ts");

/** `under` is the command it runs under, if any. `told` hears all that it says of its store. */
export function begin(settings: DriverSettings, under: readonly string[], told: (report: DriverReport) => void): Life {
  const [program, ...words] = [...under, process.execPath, "--conditions=retinue-source", DRIVER, JSON.stringify(settings)];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(settings.folder, "code") }; // most of a start is reading our own source
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"], env });
  let alive = true;
  let pid = child.pid ?? 0;
  // What was written before it ended is read before it counts as ended.
  const ended = new Promise<void>((resolve) => void child.once("close", () => resolve())).then(() => void (alive = false));
  const ready = new Promise<boolean>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [word, number] = line.split(" ");
      if (word !== "ready") return tell(line, told);
      pid = Number(number); // not that of what it runs under
      resolve(true);
    });
  });
  return { kill: (signal) => void (alive && process.kill(pid, signal)), began: Promise.race([ready, ended.then(() => false)]), ended };
}

function tell(line: string, told: (report: DriverReport) => void): void {
  const report: unknown = line.endsWith("}") ? parseJson(line) : undefined; // the last line may be cut short
  if (isObject(report)) told(report as unknown as DriverReport); // the driver's own words, in one process tree with ours
}
