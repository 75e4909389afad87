/** A process that is stopped may still send what it had begun: nobody sends it again in its place until it is gone. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { openGate } from "../harness/gated-network.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

test("what a stopped process was sending waits for its end, and is then sent once", { timeout: 150_000 }, async (context) => {
  const address = await server.database();
  const lab = await fleetLab(context, { store: `${address}?session_timeout=2`, specialists: 4 });
  const gate = await openGate(lab.network);
  context.onTestFinished(() => gate.close());
  const stopped = lab.run({ args: ["--base-url", gate.baseUrl] });
  await stopped.saying(({ type }) => type === "started");
  await lab.answered(await lab.news("earlier"));
  gate.hold(() => "forever");
  const post = await lab.news("one");
  await gate.until(() => gate.stuck === lab.handles.length);
  stopped.kill("SIGSTOP");
  const other = lab.run({ args: ["--base-url", gate.baseUrl] });
  gate.hold(() => 0);

  // Taken over and read back: the network shows none of it.
  const said = async (): Promise<readonly unknown[]> =>
    (JSON.parse((await lab.ask("status", "--json")).stdout || "{}").doubts ?? []).map(
      ({ message }: { readonly message: unknown }) => message,
    );
  await expect.poll(said).toEqual(lab.handles.map(() => "the process that began to send it is stopped, and may still send it"));
  // The shards that the stopped process would have a right to are not waited for.
  expect(JSON.parse((await lab.ask("fleet", "--json")).stdout)).toMatchObject({ freeShards: 0 });
  expect(gate.came).toHaveLength(2 * lab.handles.length);

  stopped.kill("SIGKILL");
  await stopped.ended;
  await lab.answered(post);
  expect(gate.came).toHaveLength(3 * lab.handles.length);
  expect(lab.doubled()).toEqual([]);
  other.kill("SIGTERM");
  expect((await other.ended).code).toBe(0);
});
