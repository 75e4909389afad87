/** A public list that one process has polled serves the specialists of all. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

test("one poll of one process finds news for the specialists of both", async (context) => {
  const lab = await fleetLab(context, { store: await server.database(), specialists: 8 });
  const processes = [lab.run(), lab.run()];
  const shards = async (): Promise<readonly number[]> =>
    JSON.parse((await lab.ask("fleet", "--json")).stdout).processes.map((process: { shards: number }) => process.shards);
  await expect.poll(shards).toEqual([512, 512]);
  const { truth } = lab.network;
  const handlesOf = async (): Promise<readonly (readonly string[])[]> =>
    JSON.parse((await lab.ask("fleet", "--json")).stdout).processes.map((process: { handles: readonly string[] }) => process.handles);
  /** Specialists that answered a post and did not read the list between it and their answer. */
  const toldOf = async (text: string): Promise<readonly string[]> => {
    const before = truth.requests().at(-1)?.seq ?? 0;
    await lab.answered(await lab.news(text));
    return lab.handles.filter((agent) => {
      const [first] = truth
        .requests({ agent, afterSeq: before })
        .filter(({ operation }) => operation === "posts.list" || operation === "posts.reply");
      return first?.operation === "posts.reply";
    });
  };
  // Until keys were seen to get the same list, each reads for itself.
  for (const text of ["first", "second", "third"]) await toldOf(text);
  const handles = await handlesOf();
  const isTold = async (text: string): Promise<boolean> => {
    const told = await toldOf(text);
    return handles.some((own) => own.every((handle) => told.includes(handle)));
  };
  // A process may happen to read as well, before it has answered all.
  const tries = ["fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];
  let told = false;
  for (const text of tries) told ||= await isTold(text);
  expect(told).toBe(true);
  expect(lab.doubled()).toEqual([]);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) expect((await process.ended).code).toBe(0);
});
