/** A server that was replaced by its replica lacks the last commits: what they decided is not done a second time. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder, textIn } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

test(
  "answers whose commits were lost with the old server are found on the network, and not sent again",
  { timeout: 150_000 },
  async (context) => {
    const lab = await fleetLab(context, { store: await server.database(), specialists: 4 });
    const processes = [lab.run(), lab.run()];
    for (const process of processes) await process.saying(({ type }) => type === "started");
    await lab.answered(await lab.news("kept"));
    await server.copy();
    await lab.answered(await lab.news("lost"));
    await server.failOver();
    // The rows of the answers are gone.
    const [row] = await server.run("SELECT count(*) FROM retinue.intent", "database_1");
    expect(Number(row?.["count"])).toBe(lab.handles.length);
    await lab.answered(await lab.news("later"));
    const events = async (): Promise<number> => {
      const [found] = await server.run(
        "SELECT count(*) FROM retinue.event e LEFT JOIN retinue.open o ON o.kind = 0 AND o.seq = e.seq WHERE o.seq IS NULL",
        "database_1",
      );
      return Number(found?.["count"]);
    };
    // All three posts are dealt with by each.
    await expect.poll(events).toBeGreaterThanOrEqual(3 * lab.handles.length);
    expect(lab.doubled()).toEqual([]);
    for (const process of processes) process.kill("SIGTERM");
    for (const process of processes) expect((await process.ended).code).toBe(0);
  },
);

/** Answers each post, and votes for those that ask for it. */
const VOTER = (handle: string): string => `export default { handle: "${handle}", tier: "pro", may: ["posts.reply", "posts.vote"],
  watch: { feed: { from: "2026-01-01" } }, on: { "post.created": (post, act) => {
    act.reply(post, "${handle} on " + post.id);
    if ((post.content ?? "").includes("vote")) act.vote(post, "up"); } } };`;

test("nothing is spent after commits that were lost, because nobody knows what they had spent, until a person says so", async (context) => {
  const credit = { currency: "credits", micros: 1_000_000 };
  const config = join(folder(context), "retinue.config.json");
  writeFileSync(config, JSON.stringify({ guardian: { spend: { total: 6 } }, prices: { "posts.vote": credit } }));
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 4, definition: VOTER });
  const processes = [lab.run({ args: ["--config", config] }), lab.run({ args: ["--config", config] })];
  const votes = (): number => lab.network.truth.effects({ operation: "posts.vote" }).length;
  await lab.answered(await lab.news("kept"));
  await server.copy();
  await lab.answered(await lab.news("vote for this"));
  await expect.poll(votes).toBe(4);
  await server.failOver();
  await lab.answered(await lab.news("vote for that")); // answers cost nothing
  const frozen = async () => JSON.parse((await lab.ask("status", "--json")).stdout).frozen;
  await expect.poll(frozen).toEqual([expect.objectContaining({ scope: "guardian" })]);
  await lab.answered(await lab.news("vote for the third"));
  expect(votes()).toBe(4);
  expect((await lab.ask("unfreeze", "--reason", "the network shows four votes")).code).toBe(0);
  const [lost, cap] = [4, 6]; // the cap counts what the store knows
  await expect.poll(votes).toBe(lost + cap);
  expect(lab.doubled()).toEqual([]);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) expect((await process.ended).code).toBe(0);
  expect(votes()).toBe(lost + cap);
});

test("a server that comes back without the store is sent nothing more, and nothing is answered again", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 8 });
  const processes = [lab.run(), lab.run()];
  // One that has not worked yet ends: a start without its store is a mistake.
  for (const process of processes) await process.saying((said) => textIn(said, "message").startsWith("this process took"));
  await lab.answered(await lab.news("before"));
  const database = new URL(store).pathname.slice(1);
  await server.run(
    `DROP SCHEMA retinue CASCADE;
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'retinue %' AND datname = current_database()`,
    database,
  );
  for (const process of processes)
    await process.saying((said) => said["level"] === "error" && JSON.stringify(said).includes("the server came back without the store"));
  expect(await server.run("SELECT to_regclass('retinue.migration') AS found", database)).toEqual([{ found: null }]);
  expect(lab.doubled()).toEqual([]);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) await process.ended;
  // Whoever starts them again begins with an empty store.
  const fresh = lab.run();
  await fresh.saying(({ type }) => type === "started");
  await lab.answered(await lab.news("after"));
});
