/** A network that loses every packet between a process and its server, and closes no connection. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/cli/command.ts";
import { inProcess } from "../harness/cli.ts";
import { startCuttingProxy } from "../harness/cutting-proxy.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { freePort } from "../harness/free-port.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { textIn } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

test("a process says that its server does not answer, holds a halt meanwhile, and goes on by itself", async (context) => {
  const proxy = await startCuttingProxy(context, server.port);
  const store = `${proxy.through(await server.database())}?session_timeout=2`;
  const lab = await fleetLab(context, { store, specialists: 2 });
  const port = await freePort();
  const process = lab.run({ env: { RETINUE_CONSOLE_PORT: `${port}`, RETINUE_CONSOLE_TOKEN: "a-token-for-the-console-of-this-test" } });
  await lab.answered(await lab.news("one"));
  const ready = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  expect(await ready()).toBe(200);

  proxy.silence(true);
  const post = await lab.news("two");
  await expect.poll(ready).toBe(503);
  const lost = await process.saying((line) => textIn(line, "message").startsWith("nothing is sent until the store can be used again"));
  expect(JSON.stringify(lost)).toMatch(/has not answered for|cannot be reached/);
  const order = (...words: readonly string[]) => inProcess([...words, "--store", store], { cwd: process.root });
  // A process that is slow to take it is asked through the server, which does not answer.
  const halt = async (): Promise<string> => {
    const { stdout, stderr } = await order("halt", "--reason", "now");
    return stdout + stderr;
  };
  await expect.poll(halt).toContain(`it holds in process ${process.pid}`);
  const status = async (): Promise<string> => (await order("status")).stdout;
  await expect.poll(status).toMatch(/Nothing is sent: [^]*now/);

  proxy.silence(false);
  await expect.poll(ready).toBe(200);
  await expect.poll(async () => (await order("status", "--json")).stdout).toContain("now");
  const repliesTo = (): number => lab.network.truth.effects({ operation: "posts.reply" }).filter(({ target }) => target === post).length;
  expect(repliesTo()).toBe(0);
  expect((await order("halt", "--lift")).code).toBe(EXIT.done);
  await lab.answered(post);
  expect(lab.doubled()).toEqual([]);
  process.kill("SIGTERM");
  expect((await process.ended).code).toBe(EXIT.done);
});
