/** What a fleet does as things change under way: definitions, keys, sessions, and processes that join beside slow work. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { DEFINITION, fleetLab, type FleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { thinkingLab } from "../harness/thinking-lab.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

const databaseOf = (store: string): string => new URL(store).pathname.slice(1);
const POLLED = { timeout: 60_000 };

interface Shown {
  readonly processes: readonly {
    readonly name: string;
    readonly shards: number;
    readonly draining: boolean;
    readonly handles: readonly string[];
  }[];
  readonly withoutDefinition: { readonly first: readonly { readonly handle: string; readonly isDefinedElsewhere: boolean }[] };
}

const fleetOf = async (lab: FleetLab): Promise<Shown> => JSON.parse((await lab.ask("fleet", "--json")).stdout);
const sharesOf = async (lab: FleetLab): Promise<readonly number[]> => (await fleetOf(lab)).processes.map(({ shards }) => shards);
const answeredBy = (lab: FleetLab, post: string): readonly string[] =>
  lab.network.truth
    .effects({ operation: "posts.reply" })
    .flatMap(({ target, agent }) => (target === post ? [agent] : []))
    .toSorted();

test("a specialist goes to a process that has its definition, and is named where none has", async (context) => {
  const lab = await fleetLab(context, { store: await server.database(), specialists: 12 });
  const [one, two] = [lab.run(), lab.run()];
  await lab.answered(await lab.news("one"));
  await expect.poll(() => sharesOf(lab), POLLED).toEqual([512, 512]);
  const removed = lab.handles.slice(0, 6);
  for (const handle of removed) rmSync(join(one.root, "agents", `${handle}.ts`));
  await expect.poll(() => sharesOf(lab), POLLED).not.toEqual([512, 512]);
  await lab.answered(await lab.news("two"));
  expect((await fleetOf(lab)).withoutDefinition.first).toEqual([]);

  const settled = await sharesOf(lab);
  for (const handle of removed) rmSync(join(two.root, "agents", `${handle}.ts`));
  await expect
    .poll(async () => (await fleetOf(lab)).withoutDefinition.first, POLLED)
    .toEqual(removed.map((handle) => ({ handle, isDefinedElsewhere: false })));
  expect((await lab.ask("fleet")).stdout).toContain(`(6): ${removed.join(", ")}`);
  const post = await lab.news("three");
  await expect.poll(() => answeredBy(lab, post), POLLED).toEqual(lab.handles.slice(6).toSorted());
  expect(await sharesOf(lab)).toEqual(settled);
  expect(lab.doubled()).toEqual([]);
  // A process that takes specialists whose definition it does not have runs none of them.
  const { processes } = await fleetOf(lab);
  const holder = processes.find(({ handles }) => handles.some((handle) => removed.includes(handle)));
  const [ends, stays] = holder?.name.endsWith(`:${one.pid}`) === true ? [one, two] : [two, one];
  const status = async (): Promise<string> => (await lab.ask("status")).stdout.replaceAll(/\s+/g, " ");
  ends.kill("SIGKILL");
  await expect.poll(() => sharesOf(lab), POLLED).toEqual([1_024]);
  await expect.poll(status, POLLED).toMatch(/has no definition of them: \d specialists?: s\d/);
  expect(await status()).toContain("not running");
  stays.kill("SIGTERM");
});

async function thinking(context: TestContext, specialists: number) {
  const store = await server.database();
  return { ...(await thinkingLab(context, { store, specialists })), query: (sql: string) => server.run(sql, databaseOf(store)) };
}

test(
  "a process that joins beside a slow handler stops nobody meanwhile, and has its share after it",
  { timeout: 180_000 },
  async (context) => {
    const { lab, post: thought, goOn } = await thinking(context, 6);
    const two = lab.run();
    await two.saying(({ type }) => type === "started");
    const others = lab.handles.filter((handle) => handle !== "s0");
    const posts: string[] = [];
    for (const text of ["two", "three"]) {
      const post = await lab.news(text);
      posts.push(post);
      await expect.poll(() => answeredBy(lab, post)).toEqual(others);
    }
    expect([answeredBy(lab, thought), await sharesOf(lab)]).toEqual([others, [1_024, 0]]);
    goOn();
    await expect.poll(() => sharesOf(lab)).toEqual([512, 512]);
    for (const post of [thought, ...posts]) await lab.answered(post);
    expect(lab.doubled()).toEqual([]);
  },
);

test("definitions that change while a process opens a store hold for the specialists in it", async (context) => {
  const store = await server.database();
  const query = (sql: string) => server.run(sql, databaseOf(store));
  const lab = await fleetLab(context, { store, specialists: 8 });
  const [one, two] = [lab.run(), lab.run()];
  await lab.answered(await lab.news("one"));
  await expect.poll(() => sharesOf(lab), POLLED).toEqual([512, 512]);
  const [changed = "", removed = "", added = ""] =
    (await fleetOf(lab)).processes.find(({ name }) => name.endsWith(`:${two.pid}`))?.handles ?? [];
  rmSync(join(one.root, "agents", `${added}.ts`));
  const retires = (handle: string) =>
    one.saying(({ handle: whose, message }) => whose === handle && typeof message === "string" && message.includes("is no longer defined"));
  await retires(added);
  // Openings wait at their end, once their specialists are known.
  await query(
    "CREATE FUNCTION wait_for_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END'",
  );
  await query("CREATE TRIGGER held BEFORE UPDATE OF server ON retinue.shard FOR EACH STATEMENT EXECUTE FUNCTION wait_for_it()");
  const holder = new Client({ connectionString: store });
  await holder.connect();
  context.onTestFinished(() => holder.end());
  await holder.query("SELECT pg_advisory_lock(7)");
  two.kill("SIGKILL");
  const waiting = () => query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 7");
  await expect.poll(waiting, POLLED).not.toEqual([]);
  const path = (handle: string): string => join(one.root, "agents", `${handle}.ts`);
  writeFileSync(path(changed), DEFINITION(changed).replace(`${changed} on`, "changed on"));
  writeFileSync(path(added), DEFINITION(added));
  rmSync(path(removed));
  await retires(removed);
  await holder.query("SELECT pg_advisory_unlock(7)");
  await expect.poll(() => sharesOf(lab), POLLED).toEqual([1_024]);
  const post = await lab.news("two");
  await expect.poll(() => answeredBy(lab, post), POLLED).toEqual(lab.handles.filter((handle) => handle !== removed).toSorted());
  const replies = lab.network.truth
    .effects({ operation: "posts.reply" })
    .filter(({ target, agent }) => target === post && agent === changed);
  expect(replies.map(({ text }) => text)).toEqual([`changed on ${post}`]);
});

test("a process that loses the session by which it is seen gives up what it has at once, and goes on as one that is seen", async (context) => {
  const { lab, post, query, goOn } = await thinking(context, 2);
  const writers = async (): Promise<readonly unknown[]> =>
    (await query("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'retinue writer%'")).map(
      ({ pid }) => pid,
    );
  const before = await writers();
  await query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'retinue process'",
  );
  await expect.poll(async () => (await writers()).filter((pid) => before.includes(pid)), { timeout: 20_000 }).toEqual([]);
  goOn();
  await lab.answered(post);
  expect(lab.doubled()).toEqual([]);
});

test("a process whose store is lost while a handler works sends nothing, and says so until it has one again", async (context) => {
  const { lab, one, post, query, goOn } = await thinking(context, 2);
  await query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'retinue writer%'",
  );
  await one.saying(({ message }) => message === "nothing is sent until the store can be used again");
  // It looks each second, and the server answers; the handler keeps the shards.
  for (const _ of [1, 2, 3]) expect(await sharesOf(lab)).toEqual([0]);
  expect(one.said.filter(({ message }) => message === "the store can be used again")).toEqual([]);
  goOn();
  await one.saying(({ message }) => message === "the store can be used again");
  expect(await sharesOf(lab)).toEqual([1_024]);
  await lab.answered(post);
  expect(lab.doubled()).toEqual([]);
});

test("a drained process stays so when it loses its session, and what it had is at the others", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 4 });
  const one = lab.run();
  await lab.answered(await lab.news("one"));
  lab.run();
  await expect.poll(() => sharesOf(lab), POLLED).toEqual([512, 512]);
  const drained = (await fleetOf(lab)).processes.find(({ name }) => name.endsWith(`:${one.pid}`))?.name ?? "";
  expect((await lab.ask("fleet", "drain", drained)).code).toBe(0);
  await expect.poll(() => sharesOf(lab), POLLED).toEqual([0, 1_024]);
  const joined = (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    server.run(`SELECT number, draining FROM retinue.process WHERE name = '${drained}' ORDER BY number DESC`, databaseOf(store));
  const [first] = await joined();
  await server.run(
    `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN retinue.process p ON p.name = '${drained}'
      JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory' AND l.objid::bigint = p.number WHERE a.application_name = 'retinue process'`,
    databaseOf(store),
  );
  const again = async (): Promise<unknown> =>
    (await joined()).find(({ number }) => Number(number) > Number(first?.["number"]))?.["draining"];
  await expect.poll(again, POLLED).toBe(true);
  const { processes } = await fleetOf(lab);
  expect(processes.map(({ shards, draining }) => [shards, draining])).toEqual([
    [1_024, false],
    [0, true],
  ]);
  await lab.answered(await lab.news("two"));
});

test("a process whose sessions all end tells that nothing is sent, though the server is there", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 2 });
  const one = lab.run();
  await lab.answered(await lab.news("one"));
  await server.run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      ORDER BY application_name <> 'retinue process'`,
    databaseOf(store),
  );
  const told = (): readonly string[] =>
    one.said.flatMap(({ message }) => (typeof message === "string" && message.includes("be used again") ? [message] : []));
  const [nothing, again] = ["nothing is sent until the store can be used again", "the store can be used again"];
  await expect.poll(() => told().slice(told().indexOf(nothing)), POLLED).toEqual([nothing, again]);
  // A store of which the loss is heard before that of the others may tell it of its own specialists first.
  expect(told().slice(0, -2)).toEqual(told().length > 2 ? ["for some specialists nothing is sent until the store can be used again"] : []);
  await lab.answered(await lab.news("two"));
});

test("a specialist whose key becomes another's in another shard runs no longer, until it has its own", async (context) => {
  const lab = await fleetLab(context, { store: await server.database(), specialists: 3 });
  const one = lab.run({ env: Object.fromEntries(Object.keys(lab.keys).map((name) => [name, undefined])) });
  let given = 0;
  const give = (keys: { readonly [name: string]: string }): void =>
    writeFileSync(
      join(one.root, ".env"),
      Object.entries({ ...keys, GIVEN: `${++given}` }) // definitions may read it, so they are loaded again
        .map(([name, key]) => `${name}=${key}\n`)
        .join(""),
    );
  give(lab.keys);
  await lab.answered(await lab.news("one"));
  const working = async (): Promise<readonly string[]> =>
    JSON.parse((await lab.ask("status", "--json")).stdout)
      .specialists.filter(({ tier }: { tier?: string }) => tier !== undefined)
      .map(({ handle }: { handle: string }) => handle);
  give({ ...lab.keys, RETINUE_KEY_S1: lab.keys["RETINUE_KEY_S0"] ?? "" });
  await expect.poll(working, POLLED).toEqual(["s0", "s2"]);
  const post = await lab.news("two");
  await expect.poll(() => answeredBy(lab, post), POLLED).toEqual(["s0", "s2"]);
  give(lab.keys);
  await lab.answered(post);
  expect(lab.doubled()).toEqual([]);
});
