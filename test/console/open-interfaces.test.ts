/** Interfaces of a running runtime: opened as the settings say, all or none, and closed together. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { storeFile } from "../../src/config/store-address.ts";
import { openSurfaces, type Surfaces } from "../../src/console/open-interfaces.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { connectControl, controlPath } from "../../src/guardian/control-socket.ts";
import { harness } from "../harness/harness.ts";
import { project } from "../harness/project.ts";

const TOKEN = "a-token-of-the-console";

async function surfaces(env: { readonly [name: string]: string } = {}) {
  const { root } = project();
  const { runtime, guardian } = await harness({ specialists: [{ handle: "scout" }] });
  const config = await loadConfig({ cwd: root, env: { RETINUE_STORE: `sqlite:${join(root, "store.sqlite")}`, ...env } });
  const stops: string[] = [];
  const scrubber = new Scrubber();
  const open = (): Promise<Surfaces> =>
    openSurfaces({
      config,
      runtime,
      guardianOf: () => guardian,
      announcer: runtime.announcer,
      log: silentLogger(),
      scrubber,
      onStop: () => void stops.push("stop"),
    });
  return { open, scrubber, stops, path: storeFile(config.store) };
}

test("commands find the runtime by its store, and may stop it; without a port there is no console", async () => {
  const { open, stops, path } = await surfaces();
  const opened = await open();
  expect(opened.consoleUrl).toBeUndefined();
  const client = await connectControl(path, systemClock());
  expect(client).toBeDefined();
  void client?.stop();
  await expect.poll(() => stops).toEqual(["stop"]);
  await opened.close();
  expect([existsSync(controlPath(path)), await connectControl(path, systemClock())]).toEqual([false, undefined]);
});

test("without a port nothing of the console is loaded, nor its packages", () => {
  const loaded = execFileSync(
    process.execPath,
    [
      "--conditions=retinue-source",
      "--input-type=module",
      "--eval",
      `import { registerHooks } from "node:module";
       const seen = [];
       registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
       await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../src/cli/session.ts")).href)});
       console.log(JSON.stringify(seen.filter((url) => /prom-client|node_modules..?fastify|src.signals|src.console.(?!open-interfaces)/.test(url))), seen.length);`,
    ],
    { encoding: "utf8" },
  );
  expect(loaded).toMatch(/^\[\] \d{3}/);
});

test("a store in memory has no socket", async () => {
  const { open } = await surfaces({ RETINUE_STORE: "sqlite::memory:" });
  const opened = await open();
  expect(opened.consoleUrl).toBeUndefined();
  await opened.close();
});

test("a console's token is known as a secret, and its port ends with the rest", async () => {
  const { open, scrubber } = await surfaces({ RETINUE_CONSOLE_PORT: "0", RETINUE_CONSOLE_TOKEN: TOKEN });
  const opened = await open();
  expect(scrubber.holds(`Bearer ${TOKEN}`)).toBe(true);
  expect((await fetch(`${opened.consoleUrl}/healthz`)).status).toBe(200);
  await opened.close();
  await expect(fetch(`${opened.consoleUrl}/healthz`)).rejects.toThrow("fetch failed");
});

test("a console that cannot listen closes the socket of the commands too", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { open, path } = await surfaces({ RETINUE_CONSOLE_PORT: String(port) });
  await expect(open()).rejects.toMatchObject({ code: "port_in_use" });
  expect(await connectControl(path, systemClock())).toBeUndefined();
});
