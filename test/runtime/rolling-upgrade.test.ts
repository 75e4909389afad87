/** Processes of a version and of the next one work side by side, whichever of them has the shards, while each is replaced in its turn. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab, type Member } from "../harness/fleet-lab.ts";
import { POSTGRES_SCHEMA_VERSION } from "../../src/store/postgres/postgres-schema.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

/** The next version: it has a migration that this one does not know. */
const NEXT = {
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "../campaigns/fleet/plant.mjs")}`,
  RETINUE_PLANTED: JSON.stringify({
    file: "src/store/postgres/postgres-schema.ts",
    from: "INHERITED_KEYS];",
    to: 'INHERITED_KEYS, "ALTER TABLE intent ADD COLUMN later text; ALTER TABLE event ADD COLUMN later text; CREATE TABLE later (number integer)"];',
  }),
};

test("processes are replaced by those of the next version, one by one and under load, and back", { timeout: 180_000 }, async (context) => {
  const address = await server.database();
  const lab = await fleetLab(context, { store: address, specialists: 6 });
  const posts: string[] = [];
  const say = async (): Promise<void> => void posts.push(await lab.news(`no ${posts.length}`));
  const isEven = async (): Promise<boolean> => {
    const { processes } = JSON.parse((await lab.ask("fleet", "--json")).stdout || '{"processes":[]}');
    const shards: readonly number[] = processes.map((process: { shards: number }) => process.shards);
    return shards.length === 2 && shards.every((count) => count === 512);
  };
  const version = async () => (await server.run("SELECT max(number) AS version FROM retinue.migration", "database_1"))[0]?.["version"];
  const replace = async (one: Member, env: { readonly [name: string]: string }): Promise<Member> => {
    await say();
    one.kill("SIGTERM");
    await say();
    expect((await one.ended).code).toBe(0);
    const next = lab.run({ env });
    await say();
    await expect.poll(isEven).toBe(true);
    return next;
  };
  const old = [lab.run(), lab.run()] as const;
  await expect.poll(isEven).toBe(true);
  expect(await version()).toBe(POSTGRES_SCHEMA_VERSION);
  const first = await replace(old[0], NEXT);
  expect(await version()).toBe(POSTGRES_SCHEMA_VERSION + 1);
  // The version before takes over from the next one, and one of it may begin.
  first.kill("SIGKILL");
  await first.ended;
  await say();
  const back = lab.run();
  await expect.poll(isEven).toBe(true);
  const last = [await replace(back, NEXT), await replace(old[1], NEXT)] as const;
  for (const post of posts) await lab.answered(post);
  expect(lab.doubled()).toEqual([]);
  expect(lab.network.truth.overLimit()).toEqual([]);
  for (const process of last) process.kill("SIGTERM");
  for (const process of last) expect((await process.ended).code).toBe(0);
});
