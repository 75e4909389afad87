/** Commands that come together on a store of a server without a process: each gets its turn, a halt among them. */
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { EXIT } from "../../src/cli/command.ts";
import { inTurn, TURN_MS } from "../../src/cli/command-turns.ts";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Retryable } from "../../src/core/errors.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { BrieflyTaken } from "../../src/store/briefly-taken.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { inProcess, type Finished } from "../harness/cli.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";

const scout = asHandle("scout");
const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

/** A store in which `scout` has run, and that nobody has now. */
async function idleStore(context: TestContext) {
  const url = await server.database();
  const cwd = folder(context);
  const address = parsePostgresAddress(url, cwd);
  const open = () => openPostgresStore({ address, clock, random: seededRandom(1) });
  const store = await open();
  await store.saveAccount(scout, "agt_1", clock.now());
  await store.close();
  return {
    open,
    /** Begins a command. */
    run: (...words: readonly string[]): Promise<Finished> => inProcess([...words, "--store", url], { cwd }),
    /** Runs a statement in its database. */
    rows: (sql: string) => server.run(sql, address.database),
  };
}

test("orders and queries that are given at once all succeed, and none is lost", async (context) => {
  const { run, open } = await idleStore(context);
  const commands = [["status"], ["log"], ["halt"], ["status"], ["halt", "scout", "--reason", "prices"], ["pause", "scout"]] as const;
  const finished = await Promise.all(commands.map((words) => run(...words)));
  expect(finished.map(({ code, stderr }) => [code, stderr])).toEqual(commands.map(() => [EXIT.done, ""]));
  const store = await open();
  const { halts, pauses } = await store.stops();
  await store.close();
  expect([halts.map(({ scope }) => scope).toSorted(), pauses.map(({ scope }) => scope)]).toEqual([[EVERYONE, "scout"], ["scout"]]);
});

test("a halt waits while another command has the store, and is stored when that has ended", async (context) => {
  const { run, open, rows } = await idleStore(context);
  const first = await open();
  const halting = run("halt");
  const waiting = () => rows("SELECT FROM pg_stat_activity WHERE application_name = 'retinue visitor' AND datname = current_database()");
  await expect.poll(waiting, { interval: 5, timeout: TURN_MS }).toHaveLength(1);
  await first.close();
  expect((await halting).code).toBe(EXIT.done);
  const after = await open();
  expect((await after.stops()).halts.map(({ scope }) => scope)).toEqual([EVERYONE]);
  await after.close();
});

test("a command that another one outlasts is told so after its time, and fails at once for every other reason", async () => {
  const virtual = virtualClock();
  const taken = new BrieflyTaken("another command has the store");
  const firsts: boolean[] = [];
  const start = virtual.monotonic();
  const waiting = inTurn(virtual, ({ isFirst, until }) => {
    expect(until).toBe(start + TURN_MS);
    firsts.push(isFirst);
    return Promise.reject(taken);
  });
  await expect(virtual.run(waiting)).rejects.toBe(taken);
  expect(virtual.monotonic() - start).toBe(TURN_MS);
  expect([firsts[0], firsts.slice(1).includes(true)]).toEqual([true, false]);
  expect(firsts.length).toBeGreaterThan(10);

  const used = new Retryable("store_in_use", "another runtime has the store: web-1:7");
  await expect(inTurn(virtual, () => Promise.reject(used))).rejects.toBe(used);
  expect(virtual.monotonic() - start).toBe(TURN_MS);
});
