/** Prism, an independent mock server, as a child process that serves one OpenAPI document on the loopback address. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/core/json.ts";

const PRISM = fileURLToPath(import.meta.resolve("@stoplight/prism-cli/dist/index.js"));
const LISTENING = /Prism is listening on (http:\/\/127\.0\.0\.1:\d+)/;

export interface Prism {
  /** Without a path, as its document's server has it. */
  readonly url: string;
  /** What it found wrong with requests so far, in its own words. */
  readonly violations: readonly string[];
  stop(): Promise<void>;
}

/** Starts one. Port 0 lets the system choose, so that tests beside this one cannot meet it. */
export async function startPrism(document: JsonObject): Promise<Prism> {
  const folder = mkdtempSync(join(tmpdir(), "retinue-prism-"));
  const file = join(folder, "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  // A request that breaks the document is answered as the document says, and told on its output as a violation.
  const child = spawn(process.execPath, [PRISM, "mock", "--port", "0", "--host", "127.0.0.1", file], {
    env: { PATH: process.env["PATH"], NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  const violations: string[] = [];
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const listening = new Promise<string>((resolve) => {
    const hear = (line: string): void => {
      said.push(line);
      if (line.includes("Violation:")) violations.push(line.slice(line.indexOf("Violation:")));
      const url = LISTENING.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    };
    createInterface({ input: child.stdout }).on("line", hear);
    createInterface({ input: child.stderr }).on("line", hear);
  });
  const url = await Promise.race([listening, ended.then(() => undefined)]);
  if (url !== undefined) return { url, violations, stop };
  await stop();
  throw new Error(`prism ended before it listened:\n${said.join("\n")}`);
}
