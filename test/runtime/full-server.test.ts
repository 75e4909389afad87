/** A server whose disk is full: a start says so and may be tried again; a process at work sends nothing, and goes on once there is room. */
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { EXIT } from "../../src/cli/command.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { resultOf, textIn } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

async function lab(context: TestContext) {
  const store = await server.database();
  const rows = (sql: string) => server.run(sql, new URL(store).pathname.slice(1));
  await rows(`CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
  const onEachTable = (statement: string) =>
    rows(`DO $$ DECLARE name text; BEGIN FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'retinue'
      LOOP EXECUTE format('${statement}', name); END LOOP; END $$`);
  return {
    rows,
    ...(await fleetLab(context, { store, specialists: 1 })),
    /** From here on the server takes no further row, as if its disk were full. */
    fill: () => onEachTable("CREATE TRIGGER disk_is_full BEFORE INSERT OR UPDATE ON retinue.%I EXECUTE FUNCTION public.fail()"),
    free: () => onEachTable("DROP TRIGGER disk_is_full ON retinue.%I"),
  };
}

test("a process at work sends nothing while the disk is full, and goes on by itself", async (context) => {
  const { run, news, answered, doubled, network, fill, free } = await lab(context);
  const process = run();
  await answered(await news("before"));
  await fill();
  const post = await news("while it is full");
  const lost = await process.saying((line) => textIn(line, "message").startsWith("nothing is sent until the store can be used again"));
  expect(JSON.stringify(lost)).toContain("No space left on device");
  expect(network.truth.effects({ operation: "posts.reply" }).filter(({ target }) => target === post)).toEqual([]);
  await free();
  await answered(post);
  expect(doubled()).toEqual([]);
  process.kill("SIGTERM");
  expect((await process.ended).code).toBe(EXIT.done);
});

test("a start on a server whose disk is full says so, and a later one works", async (context) => {
  const { run, news, answered, fill, free } = await lab(context);
  const first = run();
  await answered(await news("before"));
  first.kill("SIGTERM");
  await first.ended;
  await fill();
  const ended = await run().ended;
  expect(resultOf(ended)["error"]).toMatchObject({ code: "store_unwritable", message: expect.stringContaining("No space left on device") });
  expect(ended.code).toBe(EXIT.failed);
  await free();
  run();
  await answered(await news("after"));
});

test("a store that is lost at its first commit is opened at growing intervals, and not told of each time", async (context) => {
  const { run, news, answered, doubled, rows } = await lab(context);
  const process = run();
  await answered(await news("before"));
  await rows("CREATE TRIGGER disk_is_full BEFORE INSERT OR UPDATE ON retinue.source FOR EACH ROW EXECUTE FUNCTION public.fail()");
  const opened = async (): Promise<number> => Number((await rows("SELECT max(number) AS n FROM retinue.holder"))[0]?.["n"]);
  const [before, startedAt] = [await opened(), performance.now()];
  const post = await news("while it is full");
  await expect.poll(async () => (await opened()) - before).toBe(5);
  expect(performance.now() - startedAt).toBeGreaterThan(7_000); // 0, 1, 2 and 4 s
  await rows("DROP TRIGGER disk_is_full ON retinue.source");
  await answered(post);
  await process.saying((line) => textIn(line, "message") === "the store can be used again");
  process.kill("SIGTERM");
  await process.ended;
  const told = process.said.filter((line) => textIn(line, "message").startsWith("nothing is sent until the store can be used again"));
  expect(told.length).toBeLessThanOrEqual(2);
  expect(doubled()).toEqual([]);
});
