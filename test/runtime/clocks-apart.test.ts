/** Processes whose machines' clocks are an hour apart: everything is dated by the server's, and goes on when one takes over from another. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

const CLOCK_AHEAD = join(import.meta.dirname, "../harness/clock-ahead.mjs");
const wrongBy = (ms: number) => ({ env: { NODE_OPTIONS: `--import=${CLOCK_AHEAD}`, RETINUE_TEST_AHEAD_MS: `${ms}` } });

/** The first and the last date of all rows of these columns. */
const DATED = [
  ["process", "started_at"],
  ["holder", "opened_at"],
  ["shard", "since"],
  ["event", "created_at"],
  ["run", "at"],
  ["attempt", "at"],
  ["answer", "at"],
  ["intent", "created_at"],
  ["source", "updated_at"],
] as const;

test("an hour ahead, an hour behind, and right", async (context) => {
  const lab = await fleetLab(context, { store: await server.database(), specialists: 6 });
  const began = Date.now();
  const [ahead, behind, right] = [lab.run(wrongBy(HOUR)), lab.run(wrongBy(-HOUR)), lab.run()];
  for (const process of [ahead, behind, right]) await process.saying(({ type }) => type === "started");
  await ahead.saying(({ message }) => message === "the clock of this machine is 1h ahead of the server's");
  await behind.saying(({ message }) => message === "the clock of this machine is 1h behind the server's");
  await lab.answered(await lab.news("one"));
  for (const process of [ahead, behind]) {
    process.kill("SIGKILL");
    await process.ended;
    await lab.answered(await lab.news(`after ${process.pid}`));
  }
  right.kill("SIGTERM");
  expect((await right.ended).code).toBe(0);
  expect(lab.doubled()).toEqual([]);
  for (const [table, column] of DATED) {
    const [row] = await server.run(
      `SELECT min(${column}) AS first, max(${column}) AS last FROM retinue.${table} WHERE ${column} > 0`,
      "database_1",
    );
    expect(Number(row?.["first"]), `${table}.${column}`).toBeGreaterThan(began - MINUTE);
    expect(Number(row?.["last"]), `${table}.${column}`).toBeLessThan(Date.now() + MINUTE);
  }
});
