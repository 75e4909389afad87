/** Stops of a fleet whose shards move: a halt holds for stores that are being opened, lists what those write that end, and its end is one. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Membership } from "../../src/store/postgres/membership.ts";
import { fleetLab, type FleetLab } from "../harness/fleet-lab.ts";
import { holdOpenings } from "../harness/held-openings.ts";
import { folderOrders } from "../harness/folder-orders.ts";
import { freePort } from "../harness/free-port.ts";
import { openGate } from "../harness/gated-network.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";
import { thinkingLab } from "../harness/thinking-lab.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

async function open(context: TestContext, specialists: number) {
  const store = await server.database();
  const database = new URL(store).pathname.slice(1);
  const lab = await fleetLab(context, { store, specialists });
  const query = (sql: string) => server.run(sql, database);
  return {
    lab,
    query,
    /** Asks the first process, as another one does. */
    async ask(request: object, timeoutMs: number): Promise<string> {
      const address = parsePostgresAddress(store, folder(context));
      const visitor = await Membership.open({ address, clock: systemClock(), handles: undefined, newSalt: () => "none is made" });
      try {
        const [first] = (await visitor.look()).processes;
        if (first === undefined) throw new Error("nobody is there");
        return await visitor.ask(first, JSON.stringify(request), timeoutMs);
      } finally {
        await visitor.close();
      }
    },
    /** Gives an order in the folder of a process, whose socket takes it. */
    order: (root: string, ...words: readonly string[]) => folderOrders(root, store).order(...words),
    /** Holds up every store that is being opened. */
    hold: () => holdOpenings(store),
    shares: async (counts: readonly number[]): Promise<void> => {
      const seen = async (): Promise<readonly number[]> =>
        JSON.parse((await lab.ask("fleet", "--json")).stdout).processes.map(({ shards }: { shards: number }) => shards);
      await expect.poll(seen).toEqual(counts);
    },
  };
}

const repliesTo = ({ network }: FleetLab, post: string): number =>
  network.truth.effects({ operation: "posts.reply" }).filter(({ target }) => target === post).length;

/** Number of specialists with an action that a halt holds back. */
async function heldByHalt(lab: FleetLab): Promise<number> {
  const { specialists } = JSON.parse((await lab.ask("status", "--json")).stdout) as {
    readonly specialists: readonly { readonly held: readonly { readonly rule: string }[] }[];
  };
  return specialists.filter(({ held }) => held.some(({ rule }) => rule === "halted")).length;
}

test("a halt that is given while a process opens shards holds for these, and its end too", async (context) => {
  const { lab, order, hold, shares } = await open(context, 12);
  const [one, two] = [lab.run(), lab.run()];
  await shares([512, 512]);
  await lab.answered(await lab.news("one"));
  const held = await hold();
  two.kill("SIGTERM");
  await two.ended;
  await held.waits();
  const halted = await order(one.root, "halt", "--reason", "stop now");
  expect([halted.code, halted.stdout]).toEqual([0, expect.stringContaining("halted: no specialist writes")]);
  await held.release();
  await shares([1_024]);
  const late = await lab.news("after the halt");
  // Each has come to it: it is held, or has answered.
  await expect.poll(async () => (await heldByHalt(lab)) + repliesTo(lab, late)).toBe(12);
  expect(repliesTo(lab, late)).toBe(0);
  const lifted = await order(one.root, "halt", "--lift");
  expect([lifted.code, lifted.stdout]).toEqual([0, expect.stringContaining("everyone may write again")]);
  await lab.answered(late);
});

test("the stop of one specialist ends everywhere, also in a process that joined meanwhile", async (context) => {
  const { lab, query, shares } = await open(context, 8);
  lab.run();
  await shares([1_024]);
  await lab.answered(await lab.news("one"));
  for (const [stop, goOn] of [
    [
      ["halt", "s3"],
      ["halt", "s3", "--lift"],
    ],
    [
      ["pause", "s3"],
      ["resume", "s3"],
    ],
  ] as const) {
    expect(await lab.ask(...stop)).toMatchObject({ code: 0 });
    const joined = lab.run();
    await shares([512, 512]);
    const ended = await lab.ask(...goOn);
    expect([ended.code, ended.stdout]).toEqual([0, expect.not.stringContaining("was not")]);
    const { halts, pauses } = JSON.parse((await lab.ask("status", "--json")).stdout) as { readonly halts: []; readonly pauses: [] };
    expect([halts, pauses, await query("SELECT * FROM retinue.stop")]).toEqual([[], [], []]);
    joined.kill("SIGTERM");
    await joined.ended;
    await shares([1_024]);
  }
});

test("the stop of one specialist ends also in a store that has read it and is still being opened", async (context) => {
  const { lab, query, hold, shares } = await open(context, 4);
  lab.run();
  await shares([1_024]);
  for (const handle of ["s0", "s1", "s2", "s3"]) expect(await lab.ask("halt", handle)).toMatchObject({ code: 0 });
  const held = await hold();
  lab.run();
  await held.waits();
  for (const handle of ["s0", "s1", "s2", "s3"]) expect(await lab.ask("halt", handle, "--lift")).toMatchObject({ code: 0 });
  await held.release();
  const { halts } = JSON.parse((await lab.ask("status", "--json")).stdout) as { readonly halts: [] };
  expect([halts, await query("SELECT * FROM retinue.stop")]).toEqual([[], []]);
});

test("an order whose time is over before a store is open is not begun, and one in time is", async (context) => {
  const { lab, ask, hold, shares } = await open(context, 4);
  lab.run();
  await shares([1_024]);
  await lab.answered(await lab.news("one"));
  const orders = async (): Promise<readonly string[]> =>
    JSON.parse((await lab.ask("log", "--orders", "--json")).stdout).entries.map(({ subject }: { readonly subject: string }) => subject);
  const held = await hold();
  lab.run();
  await held.waits();
  const retry = (id: string, timeoutMs: number): Promise<string> =>
    ask({ do: "retry", with: { id }, by: "ada", from: "command" }, timeoutMs);
  await expect(retry("late", 3_000)).rejects.toMatchObject({ code: "process_silent", message: expect.stringContaining("may have done") });
  const inTime = retry("in time", 20_000);
  await held.release();
  expect(await inTime).toContain("nothing_");
  await shares([512, 512]);
  expect(await orders()).toEqual(["in time"]);
});

test("a halt where nobody is at work is kept and said, and lifted", async (context) => {
  const { lab, order, query, shares } = await open(context, 4);
  const one = lab.run();
  await shares([1_024]);
  const [process] = JSON.parse((await lab.ask("fleet", "--json")).stdout).processes as readonly { readonly name: string }[];
  expect(await lab.ask("fleet", "drain", process?.name ?? "")).toMatchObject({ code: 0 });
  await shares([0]);
  for (const status of [await order(one.root, "status"), await lab.ask("status")])
    expect([status.code, status.stdout]).toEqual([
      0,
      expect.stringMatching(/^No process has specialists now: \S+ \(draining\)\. retinue fleet shows/),
    ]);
  const halted = await order(one.root, "halt", "--reason", "all drained");
  expect([halted.code, halted.stdout]).toEqual([0, expect.stringContaining("everyone is halted; no specialist is at work")]);
  expect(await query("SELECT kind, scope, reason FROM retinue.stop")).toEqual([{ kind: "halt", scope: "*", reason: "all drained" }]);
  const two = lab.run();
  await shares([0, 1_024]);
  expect(JSON.parse((await lab.ask("log", "--orders", "--json")).stdout).entries).toMatchObject([
    { what: "halt", why: "all drained", result: expect.stringContaining("everyone is halted") },
  ]);
  const post = await lab.news("while halted");
  await expect.poll(async () => (await heldByHalt(lab)) + repliesTo(lab, post)).toBe(4);
  expect(repliesTo(lab, post)).toBe(0);
  two.kill("SIGTERM");
  await two.ended;
  expect((await order(one.root, "halt", "--lift")).stdout).toContain("everyone is halted no longer");
  expect(await query("SELECT FROM retinue.stop")).toEqual([]);
});

test("a halt during a hand-over is answered, and lists what is at the network", async (context) => {
  const { lab, order, shares } = await open(context, 6);
  const gate = await openGate(lab.network);
  context.onTestFinished(() => gate.close());
  const one = lab.run({ args: ["--base-url", gate.baseUrl] });
  await shares([1_024]);
  await lab.answered(await lab.news("one"));
  gate.hold(() => "forever");
  await lab.news("two");
  await gate.until(() => gate.stuck >= 6); // so that nothing else can come
  one.kill("SIGTERM");
  await expect.poll(async () => (await lab.ask("fleet", "--json")).stdout).toContain('"draining":true');
  const { length: before } = gate.came;
  const halted = JSON.parse((await order(one.root, "halt", "--json")).stdout) as {
    readonly ok: boolean;
    readonly inFlight: readonly object[];
  };
  expect([halted.ok, halted.inFlight.length]).toEqual([true, before - 6]);
  gate.open();
  await one.ended;
  expect(gate.came.length).toBe(before);
});

test("without the server nothing is said to be well, and a halt says that it is not kept; it has a row once the server is back", async (context) => {
  const lost = await startPostgres({ major: 18 });
  onTestFinished(() => lost.stop());
  const store = await lost.database();
  const lab = await fleetLab(context, { store, specialists: 4 });
  const root = folder(context);
  const told = join(root, "alert.json");
  const writes = 'const { createWriteStream } = require("node:fs"); process.stdin.pipe(createWriteStream("alert.json"));';
  writeFileSync(join(root, "retinue.config.json"), JSON.stringify({ alerts: { to: [{ command: [process.execPath, "-e", writes] }] } }));
  const [port, token] = [await freePort(), "a-token-for-the-console-of-this-test"];
  const one = lab.run({ root, env: { RETINUE_CONSOLE_PORT: `${port}`, RETINUE_CONSOLE_TOKEN: token } });
  await lab.answered(await lab.news("one"));
  const { order, listed } = folderOrders(one.root, store);
  await lost.halt("fast");
  const status = async (): Promise<string> => (await order("status")).stdout;
  await expect.poll(status).toMatch(/Nothing is sent: .*cannot be reached.*\n *mend the server of the store/);
  for (const words of [["why", "s1"], ["log"], ["pause", "s1"]]) {
    const said = await order(...words);
    expect([words, said.code, said.stderr]).toEqual([words, 1, expect.stringContaining("this process sends nothing meanwhile")]);
    expect([words, said.stderr]).toEqual([words, expect.stringContaining("cannot be reached")]);
  }
  const halted = await order("halt", "--reason", "no server");
  expect([halted.code, `${halted.stdout}${halted.stderr}`]).toEqual([
    1,
    expect.stringMatching(/the halt is not kept: .*cannot be reached/),
  ]);
  expect(await status()).toMatch(/Halted: nobody writes since .*: no server; not stored/);
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  await expect.poll(metrics).toMatch(/^retinue_store_lost 1$/m);
  await expect.poll(() => (existsSync(told) ? readFileSync(told, "utf8") : "")).toContain("The store is lost");

  await lost.resume();
  await expect.poll(listed).toMatchObject([{ what: "halt", why: "no server", result: expect.stringContaining("everyone is halted") }]);
  expect(JSON.parse((await order("status", "--json")).stdout).halts).toMatchObject([{ scope: "*", reason: "no server" }]);
  one.kill("SIGTERM");
  await one.ended;
  expect(one.said.filter((line) => JSON.stringify(line).includes("everyone is halted"))).toMatchObject([
    { level: "warn", fields: { reason: "no server" } },
  ]);
});

test("a halt that is given to a store that is lost and still has a handler at work has a row once the server is back", async (context) => {
  const lost = await startPostgres({ major: 18 });
  onTestFinished(() => lost.stop());
  const store = await lost.database();
  const { lab, one, post, goOn } = await thinkingLab(context, { store, specialists: 2 });
  const { order, listed } = folderOrders(one.root, store);
  await lost.halt("fast");
  await one.saying(({ message }) => message === "nothing is sent until the store can be used again");
  const halted = await order("halt", "--reason", "no server");
  expect([halted.code, halted.stderr]).toEqual([1, expect.stringContaining("the halt is not kept: ")]);
  await lost.resume();
  goOn();
  await expect.poll(listed).toMatchObject([{ what: "halt", why: "no server", result: "halted: no specialist writes" }]);
  expect(JSON.parse((await order("status", "--json")).stdout).halts).toMatchObject([{ scope: "*", reason: "no server" }]);
  expect((await order("halt", "--lift")).code).toBe(0);
  await lab.answered(post);
  expect(lab.doubled()).toEqual([]);
  one.kill("SIGTERM");
  await one.ended;
});

test("a halt that the server keeps while a process has lost its store is told as kept, and has a row", async (context) => {
  const store = await server.database();
  const { lab, one, post, goOn } = await thinkingLab(context, { store, specialists: 2 });
  const { order, listed } = folderOrders(one.root, store);
  await server.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'retinue writer%'",
    new URL(store).pathname.slice(1),
  );
  await one.saying(({ message }) => message === "nothing is sent until the store can be used again");
  expect(await order("halt", "--reason", "no store")).toMatchObject({ code: 0, stderr: "" });
  goOn();
  await expect.poll(listed).toMatchObject([{ what: "halt", why: "no store" }]);
  expect(JSON.parse((await order("status", "--json")).stdout).halts).toMatchObject([{ scope: "*", reason: "no store" }]);
  expect((await order("halt", "--lift")).code).toBe(0);
  await lab.answered(post);
  expect(lab.doubled()).toEqual([]);
});

test("the status gives the remedy of the reason, as of a changed password or of a schema that is gone, and its time", async (context) => {
  const database = new URL(await server.database()).pathname.slice(1);
  await server.run(`CREATE ROLE tenant LOGIN PASSWORD 'old'; ALTER DATABASE "${database}" OWNER TO tenant`);
  const store = server.address(database, "tenant", "old");
  const lab = await fleetLab(context, { store, specialists: 2 });
  const one = lab.run();
  await lab.answered(await lab.news("one"));
  const began = Date.now() - 100; // the server's time is an estimate
  const asked = async (...words: readonly string[]): Promise<string> =>
    (await folderOrders(one.root, store).order("status", ...words)).stdout;
  const status = () => asked();
  const change = (sql: string) =>
    server.run(`${sql}; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tenant'`, database);
  await change("ALTER ROLE tenant PASSWORD 'new'");
  await expect
    .poll(status)
    .toMatch(/Nothing is sent: .*\n *correct user and password in the store's address, which a process reads at its/);
  const since = async (): Promise<number> => JSON.parse(await asked("--json")).storeLost.since;
  const first = await since();
  expect(first).toBeGreaterThanOrEqual(began);
  expect(await since()).toBe(first);
  await server.run("ALTER ROLE tenant PASSWORD 'old'");
  await expect.poll(status).not.toContain("Nothing is sent");
  await change("DROP SCHEMA retinue CASCADE");
  await expect.poll(status).toMatch(/Nothing is sent: .*\n *restore .* from a backup/);
});
