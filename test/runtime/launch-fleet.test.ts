/** The runtimes of a process as one: any process takes any delivery, and specialists with one key are together. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asHandle, type Handle } from "../../src/core/ids.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { silentLogger } from "../../src/core/log.ts";
import { FleetRuntime } from "../../src/runtime/launch-fleet.ts";
import { createSpecialist, type Specialist } from "../../src/specialist/specialist.ts";
import { signDelivery } from "../../src/webhooks/receiver/sign.ts";
import { inProcess } from "../harness/cli.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { freePort } from "../harness/free-port.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";
import { envelope, post, SECRET } from "../harness/webhook-network.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

/** Learns of mentions by webhook alone, and answers each. */
const ANSWERER = (
  handle: string,
): string => `export default { handle: "${handle}", tier: "pro", may: ["posts.reply"], watch: { mentions: false },
  on: { "mention.created": (mention, act) => { act.reply(mention, "${handle} on " + mention.id); } } };`;

test("a delivery to either process reaches its specialist once, wherever that is", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 8, definition: ANSWERER });
  const ports = [await freePort(), await freePort()] as const;
  const processes = ports.map((port) => lab.run({ env: { RETINUE_WEBHOOK_PORT: `${port}`, RETINUE_WEBHOOK_SECRET: SECRET } }));
  const shards = async (): Promise<readonly number[]> =>
    JSON.parse((await lab.ask("fleet", "--json")).stdout).processes.map((process: { shards: number }) => process.shards);
  await expect.poll(shards).toEqual([512, 512]);
  for (const port of ports)
    await expect.poll(() => fetch(`http://127.0.0.1:${port}/webhooks/s0`).then(({ status }) => status, String)).toBe(404);
  const sent = new Map<string, number[]>();
  for (const [i, handle] of lab.handles.entries()) {
    const id = await lab.news(`hi @${handle}`);
    const data = { id, content: `hi @${handle}`, author: { id: "agent_9", handle: "quill" } };
    const delivery = signDelivery({
      scheme: "standard",
      secret: SECRET,
      payload: envelope("mention", data, `e${i}`),
      id: `d${i}`,
      at: Date.now(),
    });
    const statuses: number[] = [];
    for (const port of ports) statuses.push((await post(`http://127.0.0.1:${port}/webhooks/${handle}`, delivery)).status);
    sent.set(id, statuses);
  }
  // Accepted by the one, and known to the other.
  expect([...sent.values()]).toEqual(lab.handles.map(() => [202, 200]));
  const answered = (): readonly string[] => lab.network.truth.effects({ operation: "posts.reply" }).map(({ target }) => target);
  await expect.poll(() => answered().toSorted()).toEqual([...sent.keys()].toSorted());
  const forged = {
    ...signDelivery({ scheme: "standard", secret: "another secret of the same length", payload: "{}", id: "x", at: Date.now() }),
  };
  for (const port of ports) expect((await post(`http://127.0.0.1:${port}/webhooks/${lab.handles[0]}`, forged)).status).toBe(401);

  // One that has no definition of the specialist passes it on, as in an upgrade to a version that has a new one.
  const [moved = ""] = lab.handles;
  rmSync(join(processes[0]?.root ?? "", "agents", `${moved}.ts`));
  const payload = envelope("mention", { id: "late", content: `hi @${moved}`, author: { id: "agent_9", handle: "quill" } }, "late");
  const late = signDelivery({ scheme: "standard", secret: SECRET, payload, id: "late", at: Date.now() });
  const status = async (): Promise<number> => (await post(`http://127.0.0.1:${ports[0]}/webhooks/${moved}`, late)).status;
  await expect.poll(status, { timeout: 30_000 }).toBe(202);
  expect((await post(`http://127.0.0.1:${ports[0]}/webhooks/nobody`, late)).status).toBe(404);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) expect((await process.ended).code).toBe(0);
});

test("a reload of many definitions is told to the others once, and places their keys once", async () => {
  const handles = Array.from({ length: 30 }, (_, i) => asHandle(`s${i}`));
  const defined = handles.map((handle): [Handle, Specialist] => [handle, createSpecialist({ handle })]);
  const done: string[] = [];
  const put = async ({ handle, bio }: Specialist): Promise<void> => void done.push(`put ${handle} ${bio}`);
  const part = { runtime: { put, retire: (handle: string) => void done.push(`retire ${handle}`) } };
  const fleet = {
    partOf: () => part,
    sharedKeys: { mayRun: () => true },
    settled: () => Promise.resolve(),
    place: async () => void done.push("place"),
    membership: { canRun: async (known: readonly string[]) => void done.push(`can run ${known.length}`), notify: () => Promise.resolve() },
  };
  const clock = virtualClock();
  const [announcer, log, planned] = [createAnnouncer(), silentLogger(), { config: { guardian: {} } }];
  const runtime = new FleetRuntime({ fleet, planned, clock, log, announcer, specialists: new Map(defined) } as never);
  const [gone, ...left] = handles.toReversed();
  const changed = left.map((handle) => createSpecialist({ handle, bio: "new" }));
  await runtime.changing({ put: changed, retired: gone === undefined ? [] : [gone] });
  for (const specialist of changed) await runtime.put(specialist);
  if (gone !== undefined) runtime.retire(gone);
  expect(done).toEqual(["can run 29", "place", ...left.map((handle) => `put ${handle} new`), `retire ${gone}`]);
  await runtime.put(createSpecialist({ handle: "s0", bio: "newer" })); // it was not told of before
  expect(done.slice(-2)).toEqual(["place", "put s0 newer"]);
});

test("definitions that go in one reload are told to the other processes by one statement", async (context) => {
  const store = await server.database();
  const query = (sql: string) => server.run(sql, new URL(store).pathname.slice(1));
  const lab = await fleetLab(context, { store, specialists: 8 });
  const one = lab.run();
  await lab.answered(await lab.news("one"));
  await query("CREATE TABLE told (handles text[])");
  await query(
    "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.told VALUES (NEW.handles); RETURN NEW; END'",
  );
  await query("CREATE TRIGGER told BEFORE UPDATE OF handles ON retinue.process FOR EACH ROW EXECUTE FUNCTION tell()");
  const [kept = "", ...gone] = lab.handles;
  for (const handle of gone) rmSync(join(one.root, "agents", `${handle}.ts`));
  for (const handle of gone) await one.saying((line) => line["handle"] === handle && JSON.stringify(line).includes("is no longer defined"));
  expect(await query("SELECT handles FROM told")).toEqual([{ handles: [kept] }]);
});

test("specialists that share a key are at one process, whose shards are those of all of them", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 8, definition: ANSWERER });
  const key = lab.keys["RETINUE_KEY_S0"] ?? "";
  const shared = Object.fromEntries(["S1", "S2", "S3"].map((name) => [`RETINUE_KEY_${name}`, key]));
  const one = lab.run({ env: shared });
  await one.saying(({ type }) => type === "started");
  await expect.poll(async () => JSON.parse((await lab.ask("status", "--json")).stdout).specialists?.length).toBe(8);
  const rows = await server.run(
    "SELECT count(DISTINCT shard) AS shards, count(*) AS keys FROM retinue.quota_key WHERE key_id IN (SELECT key_id FROM retinue.specialist WHERE handle IN ('s0', 's1', 's2', 's3'))",
    new URL(store).pathname.slice(1),
  );
  expect(rows).toEqual([{ shards: "1", keys: "1" }]);
  one.kill("SIGTERM");
  expect((await one.ended).code).toBe(0);
});

test("a specialist that comes to share its key with one of another shard is shown as what a person has to mend, and works again once it is", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 2 });
  const first = lab.run();
  await lab.answered(await lab.news("each has sent"));
  await lab.ask("halt", "s1", "--reason", "it leaves an answer open");
  const open = await lab.news("s1 leaves its answer open");
  const shown = async () => {
    const { specialists } = JSON.parse((await lab.ask("status", "--json")).stdout);
    return specialists?.find((one: { handle: string }) => one.handle === "s1");
  };
  await expect.poll(shown).toMatchObject({ open: { ready: 1 } });
  first.kill("SIGTERM");
  expect((await first.ended).code).toBe(0);
  const root = folder(context);
  const { RETINUE_KEY_S0: shared = "", RETINUE_KEY_S1: own = "" } = lab.keys;
  writeFileSync(join(root, ".env"), `RETINUE_KEY_S1=${shared}\n`);
  const second = lab.run({ root, env: { RETINUE_KEY_S1: undefined } });
  await second.saying(({ type }) => type === "started");
  await expect.poll(shown).toMatchObject({
    parked: { code: "key_shared", message: expect.stringContaining("shares its key with s") },
  });
  expect((await lab.ask("status")).stdout).toMatch(/s1.*shares its key/);
  const why = JSON.parse((await lab.ask("why", "s1", "--json")).stdout);
  expect(why.reasons.map(({ rule }: { rule: string }) => rule)).toEqual(["halted", "key_shared"]);
  expect(second.said.filter((line) => JSON.stringify(line).includes("no longer has a definition"))).toEqual([]);
  await lab.ask("halt", "s1", "--lift");
  expect(JSON.parse((await lab.ask("why", "s1", "--json")).stdout)).toMatchObject({ hint: expect.stringContaining("a key of its own") });
  writeFileSync(join(root, ".env"), `RETINUE_KEY_S1=${own}\n`);
  await lab.answered(open);
  expect((await shown()).parked).toBeUndefined();
  second.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);
});

test("a process of another network is refused before the others see it, and check says so too", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 2 });
  const stranger = await fleetLab(context, { store, specialists: 2 });
  const one = lab.run();
  await lab.answered(await lab.news("one"));
  const other = stranger.run();
  const { code, stdout } = await other.ended;
  expect([code, JSON.parse(stdout)]).toEqual([
    2,
    expect.objectContaining({
      error: expect.objectContaining({ code: "store_of_other_network", hint: expect.stringContaining("--allow-moved") }),
    }),
  ]);
  expect(await server.run("SELECT count(*)::int AS n FROM retinue.process", new URL(store).pathname.slice(1))).toEqual([{ n: 1 }]);
  const check = async (baseUrl: string, address = store) => {
    const words = ["check", "--json", "--base-url", baseUrl, "--set", "b", "--store", address];
    const checked = await inProcess(words, { cwd: other.root, env: stranger.keys });
    const { problems, store: examined } = JSON.parse(checked.stdout);
    return [checked.code, problems.map((problem: { code: string }) => problem.code), examined?.isNew];
  };
  expect(await check(stranger.baseUrl)).toEqual([2, ["store_of_other_network"], false]);
  expect(await check(lab.baseUrl)).toEqual([0, [], false]);
  const unused = await server.database();
  expect(await check(lab.baseUrl, unused)).toEqual([0, [], true]);
  const words = ["check", "--base-url", lab.baseUrl, "--set", "b", "--store", unused];
  const { stdout: told } = await inProcess(words, { cwd: other.root, env: stranger.keys });
  const { host, pathname } = new URL(unused);
  expect(told).toContain(`Store: ${host}${pathname}, a new one: nothing is known of what was done before`);
  expect(await check(lab.baseUrl, "postgres://me@127.0.0.1:1/x")).toEqual([0, ["store_unreachable"], undefined]);
  expect(await check(lab.baseUrl, "postgress://me@127.0.0.1/x")).toEqual([2, ["store_invalid"], undefined]);
  one.kill("SIGTERM");
  expect((await one.ended).code).toBe(0);
});
