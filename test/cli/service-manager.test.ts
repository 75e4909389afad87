/** A service manager that waits for messages hears that the work has begun, that the process is alive, and that it stops. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { SECOND } from "../../src/core/units.ts";
import { textIn, type Process } from "../harness/process.ts";
import { runLab } from "../harness/run-command.ts";

const SCOUT = 'export default { handle: "scout", tier: "pro", watch: { feed: true }, on: { "post.created"() {} } };';

interface Managed {
  readonly run: Process;
  /** One line for each call of `systemd-notify`. */
  heard(): readonly string[];
}

/** `systemd-notify` is a script in its place. */
async function managed(context: TestContext, script: string, env: { readonly [name: string]: string }): Promise<Managed> {
  const lab = await runLab(context, SCOUT);
  const [tools, calls] = [join(lab.root, "tools"), join(lab.root, "calls")];
  mkdirSync(tools);
  writeFileSync(join(tools, "systemd-notify"), `#!/bin/sh\n${script.replace("CALLS", calls)}\n`, { mode: 0o755 });
  const path = [tools, process.env["PATH"]].join(delimiter);
  return {
    run: lab.run({ env: { PATH: path, NOTIFY_SOCKET: join(lab.root, "socket"), ...env } }),
    heard: () => (existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : []),
  };
}

test("it hears of the start, of each third of the watchdog's time, and of the stop", async (context) => {
  const { run, heard } = await managed(context, 'echo "$*" >> CALLS', { WATCHDOG_USEC: "600000" });
  await expect.poll(() => heard().length, { timeout: 20 * SECOND }).toBeGreaterThan(5);
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(0);
  expect(heard()).toContain("STOPPING=1 STATUS=waiting for answers in flight");
  expect(new Set(heard())).toEqual(new Set(["READY=1 STATUS=working", "WATCHDOG=1", "STOPPING=1 STATUS=waiting for answers in flight"]));
});

test("a watchdog of another process gets no messages", async (context) => {
  const { run, heard } = await managed(context, 'echo "$*" >> CALLS', { WATCHDOG_USEC: "30000", WATCHDOG_PID: "1" });
  await expect.poll(() => heard().length, { timeout: 20 * SECOND }).toBeGreaterThan(0);
  run.kill("SIGTERM");
  await run.ended;
  expect(heard()).not.toContain("WATCHDOG=1");
});

test("messages that cannot be sent are told, and stop nothing", async (context) => {
  const { run } = await managed(context, "echo no such socket >&2; exit 1", {});
  const line = await run.saying((said) => textIn(said, "message") === "the service manager could not be notified");
  expect(line).toMatchObject({
    level: "warn",
    fields: { sent: "READY=1 STATUS=working", message: expect.stringContaining("no such socket") as string },
  });
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(0);
});
