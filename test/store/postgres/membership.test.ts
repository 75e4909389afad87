/** A process among others on one server: who lives, who has what, and requests from one to another. */
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asEventId, asHandle, asKeyId, type Handle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { DEFAULT_FLOORS } from "../../../src/limits/lanes.ts";
import { INTENTS_OF_RUN } from "../../../src/live/facts.ts";
import { Membership, type MembershipOptions } from "../../../src/store/postgres/membership.ts";
import { SPAN } from "../../../src/store/sqlite/pending-cells.ts";
import { openConnection } from "../../../src/store/postgres/open-connection.ts";
import { openShards } from "../../../src/store/postgres/postgres-store.ts";
import { hashedShard } from "../../../src/store/postgres/shard-map.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

async function lab(context: TestContext) {
  const address = parsePostgresAddress(await server.database(), folder(context));
  return {
    address,
    run: (sql: string) => server.run(sql, address.database),
    async join(handles: readonly string[] | undefined, more: Partial<MembershipOptions> = {}): Promise<Membership> {
      const named = handles?.map((handle) => asHandle(handle));
      const one = await Membership.open({ address, clock, handles: named, newSalt: () => "salt", ...more });
      onTestFinished(() => one.close());
      return one;
    },
    async take(process: Membership, shards: readonly number[]) {
      const held = await openShards({ address, clock, random: seededRandom(1), shards, process: process.number });
      if (held === undefined) throw new Error("they are taken");
      onTestFinished(() => held.store.close().catch(() => undefined));
      return held;
    },
  };
}

test("those that live are seen with their shards, in the order in which they came, and a visitor is not", async (context) => {
  const here = await lab(context);
  const one = await here.join(["a"]);
  const two = await here.join(["a"]);
  await here.take(two, [3, 4, 5]);
  const visitor = await here.join(undefined);
  const view = await visitor.look();
  expect(view.processes.map(({ number, shards }) => [number, shards])).toEqual([
    [one.number, []],
    [two.number, [3, 4, 5]],
  ]);
  expect(view.free).toHaveLength(1_021);
  await one.drains();
  expect((await visitor.look()).processes[0]?.draining).toBe(true);
  await one.close();
  await expect.poll(async () => (await visitor.look()).processes.length).toBe(1);
});

test("a question is answered by the process that it is for, several at once, and silence is an error that names it", async (context) => {
  const here = await lab(context);
  const asking = await here.join(["a"], { answer: async (body) => `wrong ${body}` });
  await here.join(["a"], { answer: async (body) => `heard ${body}` });
  const { processes } = await asking.look();
  const [, other] = processes;
  if (other === undefined) throw new Error("nobody else is there");
  const answers = await Promise.all(["1", "2", "3"].map((body) => asking.ask(other, body, 5_000)));
  expect(answers).toEqual(["heard 1", "heard 2", "heard 3"]);
  const mute = await here.join(["a"]);
  const silent = (await asking.look()).processes.find(({ number }) => number === mute.number);
  await expect(asking.ask(silent ?? other, "4", 100)).rejects.toMatchObject({
    code: "process_silent",
    message: expect.stringContaining("0.1 s"),
  });
});

test("the sessions by which a process has shards are ended, and no others", async (context) => {
  const here = await lab(context);
  const [one, two] = [await here.join(["a"]), await here.join(["a"])];
  await here.take(one, [1, 2]);
  await here.take(two, [3]);
  const [first] = (await two.look()).processes;
  if (first !== undefined) await two.endSessions(first);
  const view = await two.look();
  expect(view.processes.map(({ shards }) => shards)).toEqual([[], [3]]);
});

/** One that hears of requests and takes none until it is told to. */
async function asked(here: Awaited<ReturnType<typeof lab>>) {
  const done: string[] = [];
  const gate = Promise.withResolvers<string>();
  const receiver = await here.join(["a"], {
    answer: async (body) => {
      done.push(body);
      return body === "slow" ? gate.promise : "done";
    },
  });
  const sender = await here.join(["a"]);
  const to = (await sender.look()).processes.find(({ number }) => number === receiver.number);
  if (to === undefined) throw new Error("it is not there");
  return { sender, to, done, gate };
}

test("a request that its receiver did not take in time is not carried out later, and the error says so", async (context) => {
  const here = await lab(context);
  const { sender, to, done } = await asked(here);
  // As with a process that is stopped: it takes nothing, since its statement waits.
  await here.run(
    "CREATE FUNCTION wait_for_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END'",
  );
  await here.run("CREATE TRIGGER held BEFORE UPDATE ON retinue.request FOR EACH STATEMENT EXECUTE FUNCTION wait_for_it()");
  const holder = await openConnection({ address: here.address, purpose: "test" });
  await holder.query({ text: "SELECT pg_advisory_lock(7)" });
  const refused = sender.ask(to, "lift", 500);
  await expect(refused).rejects.toMatchObject({
    code: "process_silent",
    message: expect.stringContaining("does nothing of what it was asked for"),
  });
  await holder.close();
  expect(await sender.ask(to, "hello", 5_000)).toBe("done");
  expect(done).toEqual(["hello"]);
  expect(await here.run("SELECT number FROM retinue.request")).toEqual([]);
});

test("a request that was taken and is not answered may have been carried out, and the error says so", async (context) => {
  const { sender, to, done, gate } = await asked(await lab(context));
  await expect(sender.ask(to, "slow", 3_000)).rejects.toMatchObject({
    code: "process_silent",
    message: expect.stringContaining("may have done"),
  });
  expect(done).toEqual(["slow"]);
  gate.resolve("late");
});

test("nobody waits for the answer of a process that is gone, and a wait that is given up takes the request back", async (context) => {
  const here = await lab(context);
  const [asking, mute] = [await here.join(["a"]), await here.join(["a"], { answer: () => new Promise(() => undefined) })];
  const to = (await asking.look()).processes.find(({ number }) => number === mute.number);
  if (to === undefined) throw new Error("nobody else is there");
  const over = new AbortController();
  const [given, lost] = [over.signal, undefined].map((signal) => asking.ask(to, "it", 60_000, signal).catch((error: unknown) => error));
  const waiting = () => here.run("SELECT body FROM retinue.request");
  await expect.poll(waiting).toHaveLength(2);
  over.abort();
  expect(await given).toMatchObject({ code: "process_silent" });
  expect(await waiting()).toHaveLength(1);
  await mute.close();
  await expect.poll(async () => (await asking.look()).processes.length).toBe(1);
  const message = expect.stringContaining("is gone") as string;
  expect(await lost).toMatchObject({ code: "process_silent", message });
});

test("a notice reads each request once, and no body again while it is being answered", async (context) => {
  const { sender, to, done, gate } = await asked(await lab(context));
  const slow = sender.ask(to, "slow", 5_000);
  await expect.poll(() => done).toEqual(["slow"]);
  await Promise.all(["1", "2", "3"].map((body) => sender.ask(to, body, 5_000)));
  gate.resolve("late");
  expect(await slow).toBe("late");
  expect(done).toEqual(["slow", "1", "2", "3"]);
});

test("a session that survives its end is reported, and not taken for ended", async (context) => {
  const here = await lab(context);
  const [one, two] = [await here.join(["a"]), await here.join(["a"])];
  await here.take(one, [1]);
  const [first] = (await two.look()).processes;
  if (first === undefined) throw new Error("nobody is there");
  const [writer] = await here.run(
    `SELECT a.pid FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE a.application_name = 'retinue writer ${first.number}' AND l.locktype = 'advisory'`,
  );
  process.kill(Number(writer?.["pid"]), "SIGSTOP"); // a backend that hears no signal
  try {
    await expect(two.endSessions(first)).rejects.toMatchObject({
      code: "process_silent",
      message: expect.stringContaining("has not ended"),
    });
  } finally {
    process.kill(Number(writer?.["pid"]), "SIGCONT");
  }
});

test("a role that may not end the sessions of another is told how it may", async (context) => {
  const here = await lab(context);
  const one = await here.join(["a"]);
  await here.take(one, [1]);
  const { database } = here.address;
  await here.run(`CREATE ROLE ops LOGIN PASSWORD 'ops'; GRANT CREATE ON DATABASE ${database} TO ops; GRANT USAGE, CREATE ON SCHEMA retinue TO ops;
    GRANT ALL ON ALL TABLES IN SCHEMA retinue TO ops; GRANT ALL ON ALL SEQUENCES IN SCHEMA retinue TO ops`);
  const address = parsePostgresAddress(server.address(database, "ops", "ops"), folder(context));
  const visitor = await here.join(undefined, { address });
  const [first] = (await visitor.look()).processes;
  if (first === undefined) throw new Error("nobody is there");
  await expect(visitor.endSessions(first)).rejects.toMatchObject({
    code: "store_rights_missing",
    details: { hint: expect.stringContaining("pg_signal_backend") },
  });
});

test("an action with half an emoji in its text is named among the writes under way", async (context) => {
  const here = await lab(context);
  const [one, two] = [await here.join(["a"]), await here.join(["a"])];
  await here.take(one, [0]);
  const intents = JSON.stringify([{ id: "i0" }, { id: "i1", input: { content: "cut \ud83d" } }]);
  await here.run(`INSERT INTO retinue.run (shard, seq, event, specialist, at, intents) VALUES (0, 9999999, 1, 'a', 0, '${intents}');
    INSERT INTO retinue.attempt (shard, seq, intent, specialist, key_id, operation, lane, cost, at, deadline_at)
      VALUES (0, 9999999, ${9_999_999 * INTENTS_OF_RUN + 1}, 'a', 'k', 'posts.reply', 'reply', 1, 0, 0)`);
  const [first] = (await two.look()).processes;
  if (first === undefined) throw new Error("nobody is there");
  expect(await two.endSessions(first)).toMatchObject([{ id: "i1", handle: "a", operation: "posts.reply" }]);
});

test("an action in doubt is named among the writes under way, also after a fold, and once", async (context) => {
  const here = await lab(context);
  const [one, two] = [await here.join(["a"]), await here.join(["a"])];
  await here.take(one, [0]);
  const row = (seq: number, state: string): string =>
    `(0, ${seq}, 'i${seq}', 'a', 1, 0, 'posts.reply', 'p1', '{}', 'append', 'reply', '', 0, '${state}', 1, 1, 60, 0, 5, 1, 0, 1)`;
  await here.run(`INSERT INTO retinue.intent (shard, seq, id, specialist, event_seq, ordinal, operation, target, input, effect, lane, conflict_key,
      hops, state, attempt, ever_unknown, next_at, checks, sent_at, created_at, unanswered, last)
    VALUES ${row(11, "in_doubt")}, ${row(12, "confirmed")}, ${row(13, "in_doubt")};
    INSERT INTO retinue.attempt (shard, seq, intent, specialist, key_id, operation, lane, cost, at, deadline_at)
      VALUES (0, 9999999, 13, 'a', 'k', 'posts.reply', 'reply', 1, 7, 8)`);
  const [first] = (await two.look()).processes;
  if (first === undefined) throw new Error("nobody is there");
  expect((await two.endSessions(first)).map(({ id, startedAt, deadlineAt }) => [id, startedAt, deadlineAt])).toEqual([
    ["i13", 7, 8],
    ["i11", 5, 60],
  ]);
});

const sharing = (...members: readonly Handle[]) => [{ key: asKeyId("one"), members }];

/** Registers a specialist with rows in its shard. */
async function known(here: Awaited<ReturnType<typeof lab>>, process: Membership, handle: Handle): Promise<void> {
  const held = await here.take(process, [hashedShard(handle)]);
  await held.store.registerKey(
    handle,
    asKeyId(`key of ${handle}`),
    { limits: { perHour: 60, perDay: 600 }, floors: DEFAULT_FLOORS },
    clock.now(),
  );
  await held.store.close();
}

test("a shard with a specialist that not all processes have a definition of belongs to those that have the most", async (context) => {
  const here = await lab(context);
  const [old, fresh, third] = [await here.join(["scout"]), await here.join(["quill"]), await here.join(["quill", "scout"])];
  await known(here, old, asHandle("scout"));
  const [shard, all] = [hashedShard("scout"), [old.number, fresh.number, third.number]];
  const ofScout = async (one: Membership) => (await one.unevenShards(all)).filter((uneven) => uneven.shard === shard);
  expect(await ofScout(fresh)).toEqual([{ shard, isOurs: false, able: 2 }]);
  expect(await ofScout(old)).toEqual([{ shard, isOurs: true, able: 2 }]);
  expect(await fresh.unevenShards([fresh.number])).toEqual([]); // nobody else is left for it
  expect((await fresh.undefinedSpecialists(await fresh.look(), 5)).total).toBe(0); // nobody has the shard
  await here.take(fresh, [shard]);
  expect(await fresh.undefinedSpecialists(await fresh.look(), 5)).toEqual({
    first: [{ handle: "scout", isDefinedElsewhere: true }],
    total: 1,
  });
  for (const one of [old, third]) await one.canRun([]);
  expect(await ofScout(fresh)).toEqual([]);
  expect((await fresh.undefinedSpecialists(await fresh.look(), 5)).first).toEqual([{ handle: "scout", isDefinedElsewhere: false }]);
  await old.canRun([asHandle("scout")]);
  await old.drains();
  expect((await fresh.undefinedSpecialists(await fresh.look(), 5)).first).toEqual([{ handle: "scout", isDefinedElsewhere: false }]);
});

test("a shard of a new specialist belongs to the processes that have its definition, and one that is at another is told", async (context) => {
  const here = await lab(context);
  const names = Array.from({ length: 50 }, (_, i) => `new${i}`);
  const [old, fresh] = [await here.join([]), await here.join(names)];
  const uneven = await fresh.unevenShards([old.number, fresh.number]);
  const shards = [...new Set(names.map((name) => hashedShard(name)))];
  expect(uneven.map(({ shard }) => shard).toSorted((a, b) => a - b)).toEqual(shards.toSorted((a, b) => a - b));
  expect(uneven.every(({ isOurs, able }) => isOurs && able === 1)).toBe(true);
  await here.take(old, [hashedShard("new7")]);
  const undefinedOnes = async () => fresh.undefinedSpecialists(await fresh.look(), 5);
  expect((await undefinedOnes()).first).toEqual([{ handle: "new7", isDefinedElsewhere: true }]);
  await fresh.canRun([]);
  expect(await undefinedOnes()).toEqual({ first: [], total: 0 }); // it is nobody's
});

test("a process that drains has the definitions of its specialists until it has given them", async (context) => {
  const here = await lab(context);
  const old = await here.join(["scout"]);
  await known(here, old, asHandle("scout"));
  await here.take(old, [hashedShard("scout")]);
  await old.drains();
  const view = await old.look();
  expect(view.processes).toMatchObject([{ draining: true, shards: [hashedShard("scout")] }]);
  expect(await old.undefinedSpecialists(view, 5)).toEqual({ first: [], total: 0 });
});

test("a group of a process that knows other sharers of a key follows one that is just being placed", async (context) => {
  const here = await lab(context);
  const [scout, quill] = [asHandle("scout"), asHandle("quill")];
  const one = await here.join(["a"]);
  const other = await openConnection({ address: here.address, purpose: "test" }); // places as a process does
  onTestFinished(() => other.close());
  await other.query({ text: "BEGIN" });
  await other.query({ text: "SELECT pg_advisory_xact_lock(hashtextextended('retinue placing retinue', 0))" });
  await other.query({ text: `INSERT INTO retinue.placement (specialist, shard) VALUES ('scout', ${hashedShard(scout)})` });
  const placed = one.place(sharing(quill, scout));
  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'retinue notices'";
  await expect.poll(() => here.run(`${waiting} AND datname = current_database()`)).toHaveLength(1);
  await other.query({ text: "COMMIT" });
  expect((await placed).apart).toEqual([]);
  expect(await one.shardOf(quill)).toBe(hashedShard(scout));
});

test("specialists that share a key are put into one shard, unless both have rows of their own", async (context) => {
  const here = await lab(context);
  const process = await here.join(["a"]);
  const [scout, quill, hand] = ["scout", "quill", "hand"].map((handle) => asHandle(handle)) as [Handle, Handle, Handle];
  await known(here, process, scout);
  expect(await process.place(sharing(quill, scout))).toEqual({
    apart: [],
    shards: new Map([
      [quill, hashedShard(scout)],
      [scout, hashedShard(scout)],
    ]),
  });
  expect(await process.shardOf(quill)).toBe(await process.shardOf(scout));
  const held = await here.take(process, [hashedShard(scout)]);
  expect([held.has(scout), held.has(quill), held.has(hand)]).toEqual([true, true, false]);
  await held.store.close();
  await known(here, process, hand);
  expect((await process.place(sharing(hand, scout))).apart).toHaveLength(1);
});

test("events of a specialist that never had a key are not left behind, when its key turns out to be another's", async (context) => {
  const here = await lab(context);
  const process = await here.join(["a"]);
  const [scout, hand] = [asHandle("scout"), asHandle("hand")];
  await known(here, process, scout);
  const held = await here.take(process, [hashedShard(hand)]);
  const event = { specialist: hand, id: asEventId("post.created:p1"), kind: "post.created", payload: {}, via: "webhook", hops: 0 } as const;
  await held.store.putEvents({ events: [event] }, clock.now());
  await held.store.close();
  expect((await process.place(sharing(hand, scout))).apart).toHaveLength(1);
  expect(await process.shardOf(hand)).toBe(hashedShard(hand));
});

test("a specialist without rows goes with the key that it shares now, also in a store that is open", async (context) => {
  const here = await lab(context);
  const process = await here.join(["a"]);
  const [scout, quill, hand] = ["scout", "quill", "hand"].map((handle) => asHandle(handle)) as [Handle, Handle, Handle];
  await process.place(sharing(quill, hand));
  await known(here, process, scout);
  const held = await here.take(process, [hashedShard(scout)]);
  expect(held.has(hand)).toBe(false);
  for (const [handle, shard] of (await process.place(sharing(hand, scout))).shards) held.place(handle, shard);
  expect(held.has(hand)).toBe(true);
});

test("a new specialist goes where its key was used last, by others that have it no longer; one with rows of its own stays", async (context) => {
  const here = await lab(context);
  const process = await here.join(["a"]);
  const [scout, quill, hand, heir] = ["scout", "quill", "hand", "heir"].map((handle) => asHandle(handle)) as [
    Handle,
    Handle,
    Handle,
    Handle,
  ];
  for (const one of [scout, quill, hand]) await known(here, process, one);
  const key = asKeyId("key of scout");
  const inherit = async (...members: readonly Handle[]): Promise<readonly number[]> => {
    expect((await process.place(members.map((one) => ({ key, members: [one] })))).apart).toEqual([]);
    return Promise.all(members.map((one) => process.shardOf(one)));
  };
  expect(await inherit(heir)).toEqual([hashedShard(scout)]);
  const again = `INSERT INTO retinue.quota_key SELECT ${hashedShard(quill)}, key_id, per_hour, per_day, floors, 0, 0, '', 0
      FROM retinue.quota_key WHERE key_id = '${key}';
    INSERT INTO retinue.quota_cell VALUES (${hashedShard(quill)}, '${key}', ${SPAN.day}, 500, 1, 3)`;
  await here.run(again);
  expect(await inherit(heir, hand)).toEqual([quill, hand].map((one) => hashedShard(one)));
  expect((await process.place([{ key, members: [hand, heir] }])).shards.get(heir)).toBe(hashedShard(hand)); // shared again
});

test("a process joins with the connections that its first store needs, or not at all: it would take shards that it cannot use", async (context) => {
  const here = await lab(context);
  const healthy = await here.join(["a"]);
  const name = here.address.database;
  await server.run(
    `CREATE ROLE few LOGIN PASSWORD 'few'; ALTER DATABASE "${name}" OWNER TO few; GRANT ALL ON SCHEMA retinue TO few;
    GRANT ALL ON ALL TABLES IN SCHEMA retinue TO few; GRANT ALL ON ALL SEQUENCES IN SCHEMA retinue TO few`,
    name,
  );
  const address = parsePostgresAddress(server.address(name, "few", "few"), folder(context));
  for (const limit of [1, 2, 3]) {
    await server.run(`ALTER ROLE few CONNECTION LIMIT ${limit}`, name);
    await expect(here.join(["a"], { address })).rejects.toMatchObject({ code: "store_connections_full" });
    expect((await healthy.look()).processes).toHaveLength(1);
  }
  await server.run("ALTER ROLE few CONNECTION LIMIT 4", name);
  const joined = await here.join(["a"], { address });
  const { processes } = await healthy.look();
  expect(processes.map(({ number }) => number)).toEqual([healthy.number, joined.number]);
});
