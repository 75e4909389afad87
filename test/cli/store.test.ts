/** `retinue store copy`: a store goes to a server and back, and its specialists go on there as if nothing had been. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inProcess, retinue } from "../harness/cli.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

test("specialists go on where they were, on a server and back in a file, and the original is halted", async (context) => {
  const place = folder(context);
  const [file, back] = [`sqlite:${join(place, "store.sqlite")}`, `sqlite:${join(place, "back.sqlite")}`];
  const address = await server.database();
  const lab = await fleetLab(context, { store: file, specialists: 4 });
  const copy = (from: string, to: string) => lab.ask("store", "copy", to, "--json", "--store", from);
  const logged = async (store: string): Promise<readonly unknown[]> =>
    JSON.parse((await lab.ask("log", "--json", "--lines", "500", "--store", store)).stdout).entries;
  const stopped = async (process: ReturnType<typeof lab.run>): Promise<void> => {
    process.kill("SIGTERM");
    expect((await process.ended).code).toBe(0);
  };

  const first = lab.run();
  await lab.answered(await lab.news("one"));
  const busy = await copy(file, address);
  expect([busy.code, busy.stdout]).toEqual([1, expect.stringContaining("store_in_use")]);
  await stopped(first);
  const before = await logged(file);

  const moved = await copy(file, address);
  expect([moved.code, moved.stderr]).toEqual([0, ""]);
  expect(JSON.parse(moved.stdout)).toMatchObject({ ok: true, specialists: 4 });
  expect(moved.stdout).not.toContain("password");
  expect(await logged(address)).toEqual(before);
  expect(JSON.parse((await lab.ask("status", "--json", "--store", file)).stdout)).toMatchObject({
    halts: [{ scope: "*", reason: expect.stringMatching(/^its rows were copied to 127\.0\.0\.1:\d+\/database_1, schema retinue$/) }],
  });
  const again = await copy(file, address);
  expect([again.code, again.stdout]).toEqual([2, expect.stringContaining("store_not_empty")]);

  const second = lab.run({ store: address });
  await lab.answered(await lab.news("two"));
  await stopped(second);

  const returned = await copy(address, back);
  expect([returned.code, returned.stderr]).toEqual([0, ""]);
  const there = await logged(address);
  expect(there.length).toBeGreaterThan(before.length);
  expect(await logged(back)).toEqual(there);
  const third = lab.run({ store: back });
  await lab.answered(await lab.news("three"));
  await stopped(third);

  expect(lab.doubled()).toEqual([]);
  expect(JSON.parse((await lab.ask("status", "--json", "--store", back)).stdout)).toMatchObject({ halts: [] });
  expect(readdirSync(place).filter((name) => name.includes("-copy"))).toEqual([]);
});

test("a copy that cannot be made leaves the original as it was", async (context) => {
  const place = folder(context);
  const lab = await fleetLab(context, { store: `sqlite:${join(place, "store.sqlite")}`, specialists: 1 });
  const only = lab.run();
  await lab.answered(await lab.news("one"));
  only.kill("SIGTERM");
  await only.ended;
  const gone = await lab.ask("store", "copy", "postgres://postgres@127.0.0.1:1/nothing");
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
  const missing = await lab.ask("store", "copy", `sqlite:${join(place, "c.sqlite")}`, "--store", `sqlite:${join(place, "nothing.sqlite")}`);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("there is no store to copy")]);
  expect(existsSync(join(place, "c.sqlite"))).toBe(false);
  for (const words of [["store"], ["store", "move", "x"], ["store", "copy"]]) expect((await lab.ask(...words)).code).toBe(2);
  expect(JSON.parse((await lab.ask("status", "--json")).stdout)).toMatchObject({ halts: [] });
});

test("a history is not left behind: run names the copy, and the original says where the work goes on", async (context) => {
  const address = await server.database();
  const lab = await fleetLab(context, { store: "sqlite:.retinue/store.sqlite", specialists: 2 });
  const first = lab.run();
  const { root } = first;
  await lab.answered(await lab.news("one"));
  first.kill("SIGTERM");
  await first.ended;
  const words = ["--base-url", lab.baseUrl, "--set", "b", "--store", address];
  const refused = await lab.run({ root, store: address }).ended;
  expect([refused.code, refused.stdout]).toEqual([2, expect.stringContaining("store_left_behind")]);
  const checked = await inProcess(["check", ...words], { cwd: root, env: lab.keys });
  expect([checked.code, checked.stderr]).toEqual([
    2,
    expect.stringContaining("retinue store copy <address> --store sqlite:.retinue/store.sqlite"),
  ]);

  const itself = await inProcess(["store", "copy", address], { cwd: root, env: { RETINUE_STORE: address } });
  expect([itself.code, itself.stderr]).toEqual([2, expect.stringContaining("name the original with --store sqlite:.retinue/store.sqlite")]);
  const copied = await inProcess(["store", "copy", address, "--store", "sqlite:.retinue/store.sqlite"], {
    cwd: root,
    env: { RETINUE_STORE: address },
  });
  expect([copied.code, copied.stdout]).toEqual([
    0,
    expect.stringContaining(`retinue halt --lift --store 'sqlite:${join(root, ".retinue/store.sqlite")}'`),
  ]);

  const original = await retinue(["run", "--base-url", lab.baseUrl, "--set", "b"], { cwd: root, env: lab.keys, until: /HALTED/ });
  expect([original.code, original.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^HALTED since .*, nobody writes: its rows were copied to 127\.0\.0\.1.* \(name the copy with RETINUE_STORE, or .*halt --lift\)$/m,
    ),
  ]);
  const moved = lab.run({ root, store: address });
  await lab.answered(await lab.news("two"));
  const halted = await lab.ask("halt", "--reason", "enough", "--store", address);
  expect(halted.code).toBe(0);
  moved.kill("SIGTERM");
  await moved.ended;
  const again = lab.run({ root, store: address });
  expect(await again.saying(({ type }) => type === "started")).toMatchObject({ halts: [{ scope: "*", reason: "enough" }] });
  again.kill("SIGTERM");
  await again.ended;
  expect(lab.doubled()).toEqual([]);
});
