/** Interfaces of a running runtime: opened as the settings say, all or none, and closed together. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { storeFile } from "../../src/config/store-address.ts";
import { openSurfaces, type Surfaces } from "../../src/console/open-interfaces.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { SECOND } from "../../src/core/units.ts";
import { connectControl, controlPath } from "../../src/guardian/control-socket.ts";
import { harness } from "../harness/harness.ts";
import { project } from "../harness/project.ts";

const TOKEN = "a-token-of-the-console";

async function surfaces(env: { readonly [name: string]: string } = {}) {
  const { root } = project();
  const { clock, runtime, guardian } = await harness({ specialists: [{ handle: "scout" }] });
  const config = await loadConfig({ cwd: root, env: { RETINUE_STORE: `sqlite:${join(root, "store.sqlite")}`, ...env } });
  const stops: string[] = [];
  const scrubber = new Scrubber();
  const open = (name = "stop"): Promise<Surfaces> =>
    openSurfaces({
      config,
      runtime,
      guardianOf: () => guardian,
      announcer: runtime.announcer,
      log: silentLogger(),
      scrubber,
      onStop: () => void stops.push(name),
    });
  return { open, clock, scrubber, stops, path: storeFile(config.store) };
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

describe("of the processes in one folder", () => {
  /** Opened by name. Each command to stop reaches the one that serves. */
  async function sharing() {
    const here = await surfaces({ RETINUE_STORE: "postgres://retinue@127.0.0.1:9/retinue" });
    const { path, stops, clock } = here;
    mkdirSync(dirname(path));
    const reached = async (): Promise<string> => {
      const client = await connectControl(path, systemClock());
      if (client === undefined) return "nobody";
      const before = stops.length;
      const stopping = client.stop();
      await expect.poll(() => stops.length).toBe(before + 1);
      client.close();
      await stopping;
      return stops.at(-1) ?? "";
    };
    /** One look of each process, which takes real time. */
    const look = (): Promise<void> => clock.advance(5 * SECOND);
    /** Ends the last one, with its timer and its socket. */
    const end = async (last: Surfaces): Promise<void> => {
      const timers = clock.pending();
      await last.close();
      expect([clock.pending(), existsSync(controlPath(path))]).toEqual([timers - 1, false]);
    };
    return { ...here, reached, look, end };
  }

  test("the first serves commands until it ends, and the next one from then on", async () => {
    const { open, reached, look, end } = await sharing();
    const first = await open("first");
    const second = await open("second");
    await look();
    expect(await reached()).toBe("first");
    await first.close();
    expect(await reached()).toBe("nobody");
    await look();
    await expect.poll(reached).toBe("second");
    await end(second);
  });

  test("one whose socket was removed serves again", async () => {
    const { open, path, reached, look, end } = await sharing();
    const only = await open("only");
    rmSync(controlPath(path));
    expect(await reached()).toBe("nobody");
    await look();
    await expect.poll(reached).toBe("only");
    await end(only);
  });
});
