/** `retinue fleet`, and the other commands where several processes share a store. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inProcess } from "../harness/cli.ts";
import { fleetLab, type Member } from "../harness/fleet-lab.ts";
import { freePort } from "../harness/free-port.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder, start } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

test("commands on any machine see all specialists, and an order reaches each", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 8 });
  const early = await lab.ask("status");
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("there is no store yet in the schema retinue of 127.0.0.1")]);
  const [one, two] = [lab.run(), lab.run()];
  await lab.answered(await lab.news("one"));
  const fleet = async () => JSON.parse((await lab.ask("fleet", "--json")).stdout);
  await expect.poll(async () => (await fleet()).processes.map(({ shards }: { shards: number }) => shards)).toEqual([512, 512]);
  const status = JSON.parse((await lab.ask("status", "--json")).stdout);
  expect(status.specialists.map(({ handle }: { handle: string }) => handle)).toEqual(lab.handles);
  expect(status.specialists.every(({ tier }: { tier: string }) => tier === "pro")).toBe(true);

  // Without definitions, keys or a runtime of its own.
  for (const handle of [lab.handles[0] ?? "", lab.handles[1] ?? ""]) {
    const called = await lab.ask("call", "posts.list", "--as", handle, "--json");
    expect([called.code, JSON.parse(called.stdout)]).toEqual([0, expect.objectContaining({ kind: "read" })]);
  }
  const halted = await lab.ask("halt", "--reason", "enough");
  expect(halted.code).toBe(0);
  const entries = async () => JSON.parse((await lab.ask("log", "--json")).stdout).entries;
  // A process that did not answer the halt in time opens its stores anew.
  await expect.poll(async () => (await entries()).length).toBe(8);
  const follower = start(context, ["log", "--follow", "--store", store], { cwd: folder(context) });
  await follower.saying(({ type, state }) => type === "action" && state === "confirmed");
  const post = await lab.news("two");
  const [entry] = await entries();
  expect((await lab.ask("why", entry.id)).stdout).toContain("s");
  const names = (await fleet()).processes.map(({ name }: { name: string }) => name);
  const copied = await lab.ask("store", "copy", `sqlite:${join(folder(context), "copy.sqlite")}`);
  expect(copied.code).toBe(1);
  const unnamed = await lab.ask("fleet", "drain");
  expect(unnamed.code).toBe(2);
  for (const name of names) for (const { stderr } of [copied, unnamed]) expect(stderr).toContain(name);
  const drained = await lab.ask("fleet", "drain", String((await fleet()).processes[0].name));
  expect(drained.stdout).toContain("gives its specialists to the others");
  expect((await lab.ask("fleet", "drain", names[0])).stdout).toContain("was drained before");
  await expect.poll(async () => (await fleet()).processes.map(({ shards }: { shards: number }) => shards)).toEqual([0, 1024]);
  const after = JSON.parse((await lab.ask("status", "--json")).stdout);
  expect(after.halts).toMatchObject([{ scope: "*", reason: "enough" }]);
  expect(lab.network.truth.effects({ operation: "posts.reply" }).filter(({ target }) => target === post)).toEqual([]);
  expect((await lab.ask("halt", "--lift")).code).toBe(0);
  await lab.answered(post);
  for (const handle of lab.handles)
    await follower.saying((said) => said["handle"] === handle && said["target"] === post && said["state"] === "confirmed");
  follower.kill("SIGINT");
  expect(await follower.ended).toMatchObject({ code: 0 });
  expect((await lab.ask("fleet", "drain", names[1])).stdout).toContain("no process is left that takes them");
  await expect.poll(async () => (await fleet()).processes.map(({ shards }: { shards: number }) => shards)).toEqual([0, 0]);
  for (const cwd of [folder(context), one.root]) {
    const idle = await inProcess(["status", "--store", store], { cwd });
    expect([idle.code, idle.stdout]).toEqual([0, expect.stringContaining("No process has specialists now")]);
    for (const handle of lab.handles) expect(idle.stdout).toContain(handle);
  }
  expect(await entries()).not.toHaveLength(0);
  for (const process of [one, two]) process.kill("SIGTERM");
  for (const process of [one, two]) expect((await process.ended).code).toBe(0);
  expect(lab.doubled()).toEqual([]);
});

test("the console of each process shows all specialists, and takes orders for each", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 6 });
  const token = "a-token-for-the-console-of-this-test";
  const ports = [await freePort(), await freePort()] as const;
  const processes = ports.map((port) => lab.run({ env: { RETINUE_CONSOLE_PORT: `${port}`, RETINUE_CONSOLE_TOKEN: token } }));
  const get = async (port: number, path: string): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, json: await answer.json() };
  };
  for (const port of ports) await expect.poll(() => get(port, "/readyz").then(({ status }) => status, String)).toBe(200);
  const fleet = async () => JSON.parse((await lab.ask("fleet", "--json")).stdout);
  await expect.poll(async () => (await fleet()).processes.map(({ shards }: { shards: number }) => shards)).toEqual([512, 512]);
  for (const port of ports)
    await expect
      .poll(async () => (await get(port, "/api/status")).json["specialists"])
      .toMatchObject(lab.handles.map((handle) => ({ handle })));
  const order = await fetch(`http://127.0.0.1:${ports[0]}/api/orders/halt`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ reason: "from a page" }),
  });
  expect(order.status).toBe(200);
  await expect.poll(async () => (await get(ports[1], "/api/status")).json["halts"]).toMatchObject([{ reason: "from a page" }]);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) expect((await process.ended).code).toBe(0);
});

test("it says what it cannot do", async (context) => {
  const cwd = folder(context);
  const ask = (...args: readonly string[]) => inProcess(["fleet", ...args], { cwd });
  expect((await ask()).stderr).toContain("this store is a file, which one process has");
  expect((await ask("stop")).stderr).toContain('fleet cannot "stop"');
  const store = await server.database();
  expect((await ask("--store", store)).stderr).toContain("there is no store yet");
});

test("status, why and fleet say which process has what, and which does not answer", async (context) => {
  const store = `${await server.database()}?session_timeout=60`;
  const lab = await fleetLab(context, { store, specialists: 8 });
  const [one, two] = [lab.run(), lab.run()];
  const json = async (...args: readonly string[]) => JSON.parse((await lab.ask(...args, "--json")).stdout);
  const shards = async (): Promise<readonly number[]> =>
    (await json("fleet")).processes.map((process: { readonly shards: number }) => process.shards);
  await expect.poll(shards).toEqual([512, 512]);
  for (const text of ["one", "two", "three"]) await lab.answered(await lab.news(text));

  // A busy process may not say within a second how much waits in it.
  const isQuiet = ({
    processes,
  }: {
    readonly processes: readonly { readonly events?: number; readonly definitions?: string }[];
  }): boolean => processes.every(({ events, definitions }) => events === 0 && definitions === processes[0]?.definitions);
  await expect.poll(async () => isQuiet(await json("fleet"))).toBe(true);
  const fleet = await json("fleet");
  // They began together: either may have joined first.
  const named = ({ pid }: { readonly pid: number }): { readonly name: string; readonly handles: readonly string[] } =>
    fleet.processes.find(({ name }: { readonly name: string }) => name.endsWith(`:${pid}`));
  const status = await json("status");
  expect(status.processes).toMatchObject(
    fleet.processes.map(
      ({ name, startedAt, handles }: { readonly name: string; readonly startedAt: number; readonly handles: object[] }) => ({
        name,
        since: startedAt,
        specialists: handles.length,
      }),
    ),
  );
  for (const { name, handles } of fleet.processes)
    expect(
      status.specialists.filter(({ process }: { process: string }) => process === name).map(({ handle }: { handle: string }) => handle),
    ).toEqual(handles);
  const shown = (await lab.ask("status")).stdout;
  expect(shown).toMatch(/^Running on http:\S+ \(Set B\), in 2 processes\n/);
  const why = await json("why", "s3");
  expect(why.process.name).toBe(status.specialists[3].process);

  // The newest lines are the newest, however many are asked for, whether processes run or not.
  const ids = async (lines: number): Promise<readonly string[]> =>
    (await json("log", "--lines", `${lines}`)).entries.map(({ id }: { readonly id: string }) => id);
  const all = await ids(100);
  expect(all).toHaveLength(24);
  for (const lines of [1, 2, 6]) expect(await ids(lines)).toEqual(all.slice(0, lines));
  await lab.ask("halt", "--reason", "enough");
  await expect.poll(shards).toEqual([512, 512]);
  await lab.ask("halt", "--lift");
  const orders = async () => (await json("log", "--orders")).entries.map(({ what }: { readonly what: string }) => what);
  expect(await orders()).toEqual(["lift", "halt"]);

  two.kill("SIGSTOP");
  const rowOf = (text: string, { name }: { readonly name: string }): string => text.split("\n").find((line) => line.startsWith(name)) ?? "";
  let shownSilent = "";
  await expect.poll(async () => rowOf((shownSilent = (await lab.ask("fleet")).stdout), named(one))).toContain("answers");
  expect(rowOf(shownSilent, named(two))).toMatch(/\?\s+silent/);
  const half = await json("status");
  const { name, handles } = named(two);
  expect(half.unseen).toBe(`${name} does not answer; it has ${handles.length} specialists: ${handles.join(", ")}`);
  two.kill("SIGCONT");
  for (const process of [one, two]) process.kill("SIGTERM");
  for (const process of [one, two]) expect((await process.ended).code).toBe(0);
  expect(await ids(100)).toEqual(all);
  for (const lines of [1, 3]) expect(await ids(lines)).toEqual(all.slice(0, lines));
  expect(await orders()).toEqual(["lift", "halt"]);
  const told = linesOf(one);
  expect(told.filter((line) => line === "everyone may write again")).toHaveLength(1);
});

test("a process tells in its log what happens in the fleet, each change once", async (context) => {
  const own = await startPostgres({ major: 18 });
  context.onTestFinished(() => own.stop());
  const lab = await fleetLab(context, { store: await own.database(), specialists: 8 });
  const fleet = async () => JSON.parse((await lab.ask("fleet", "--json")).stdout).processes;
  const shards = async (): Promise<readonly number[]> => (await fleet()).map((process: { readonly shards: number }) => process.shards);
  const one = lab.run();
  await expect.poll(shards).toEqual([1024]);
  const two = lab.run();
  await expect.poll(shards).toEqual([512, 512]);
  const [{ name }, { name: other, handles }] = await fleet();
  await one.saying(({ message }) => typeof message === "string" && message.includes("left this process"));
  await own.restart("immediate");
  await one.saying(({ message }) => message === "the store can be used again");
  await expect.poll(async () => (await shards().catch(() => [])).reduce((sum, count) => sum + count, 0)).toBe(1024);
  await expect.poll(shards).toEqual([512, 512]);
  expect((await lab.ask("fleet", "drain", (await fleet())[0].name)).code).toBe(0);
  await expect.poll(shards).toEqual([0, 1024]);
  for (const process of [one, two]) process.kill("SIGTERM");
  for (const process of [one, two]) expect((await process.ended).code).toBe(0);
  const told = [...linesOf(one), ...linesOf(two)];
  const first = linesOf(one);
  const gone: number = handles.length;
  expect(first.slice(0, 4)).toEqual([
    expect.stringMatching(/^the store at \S+ is new, so nothing is known of what was done before$/),
    `joined the fleet as ${name}: 1 process shares the store`,
    "this process took 8 specialists: it has 8 now",
    `${other} has joined: 2 processes share the store`,
  ]);
  // One that is slow to take its share again has none for a while.
  const has = first.slice(0, first.indexOf("nothing is sent until the store can be used again")).filter((line) => line.includes("it has "));
  expect(has.at(-1)).toMatch(new RegExp(`: it has ${8 - gone} now$`));
  for (const line of ["nothing is sent until the store can be used again", "the store can be used again"])
    expect(first.filter((text) => text === line)).toHaveLength(1);
  expect(told.filter((line) => /^drained by \S+: its specialists go to the others/.test(line))).toHaveLength(1);
});

function linesOf({ said }: Member): readonly string[] {
  return said.flatMap(({ type, message }) => (type === "log" && typeof message === "string" ? [message] : []));
}
