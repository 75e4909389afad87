/** `retinue deliveries`: what nobody handled or understood can be looked at, and nothing of it steers a terminal. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle } from "../../src/core/ids.ts";
import { parseJson } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { folder } from "../harness/process.ts";
import { inProcess, retinue } from "../harness/cli.ts";
import type { DeliveryArrival } from "../../src/store/deliveries.ts";

interface Came {
  readonly to: string;
  readonly kind: string;
  readonly state?: "done" | "unhandled" | "parked";
  readonly body: string;
}

/** A store on which nothing runs, with what came in order. */
async function storeOf(context: TestContext, came: readonly Came[]) {
  const cwd = folder(context);
  const clock = systemClock();
  const store = openSqliteStore({ path: join(cwd, "store.sqlite"), clock, random: seededRandom(1) });
  for (const [i, { to, kind, state = "unhandled", body }] of came.entries()) {
    const note = state === "parked" ? "expected an object" : undefined;
    const plain: DeliveryArrival["plain"] = { state, kind, events: [], nudges: [], ...(note === undefined ? {} : { note }) };
    const delivery = { specialist: asHandle(to), id: `d${i}`, kind, scheme: "standard", body: Buffer.from(body) };
    await store.putDelivery({ delivery, plain, onStored: () => undefined }, clock.now());
  }
  await store.close();
  return (args: readonly string[]) => inProcess(["deliveries", ...args, "--store", `sqlite:${join(cwd, "store.sqlite")}`], { cwd });
}

const CAME: readonly Came[] = [
  { to: "scout", kind: "post.pinned", body: `{"type":"post.pinned","post":{"id":"p1"}}` },
  { to: "scout", kind: "post.created", state: "done", body: `{"type":"post.created"}` },
  { to: "helper", kind: "post.pinned", body: `{"type":"post.pinned","post":{"id":"p2"}}` },
  { to: "scout", kind: "odd", state: "parked", body: "not JSON \u001b[2J at all" },
];

test("lists what nobody handled or understood, newest last, and pages back", async (context) => {
  const ask = await storeOf(context, CAME);
  const { code, stdout } = await ask([]);
  expect(code).toBe(0);
  const rows = stdout.split("\n").filter((line) => /^ *\d/.test(line));
  expect(rows.map((row) => row.trim().split(/ {2,}/).slice(0, 3))).toEqual([
    ["1", "scout", "post.pinned"],
    ["3", "helper", "post.pinned"],
    ["4", "scout", "odd"],
  ]);
  expect(rows[0]).toContain("nothing handles its kind");
  expect(rows[2]).toContain("not understood: expected");
  const seqs = async (...args: string[]): Promise<readonly [readonly number[], number | undefined]> => {
    const said = parseJson((await ask([...args, "--json"])).stdout) as { entries: { seq: number }[]; next?: number };
    return [said.entries.map(({ seq }) => seq), said.next];
  };
  expect(await seqs("--as", "scout")).toEqual([[4, 1], undefined]);
  const [newest, next] = await seqs("--kind", "post.pinned", "--lines", "1");
  expect(newest).toEqual([3]);
  expect(await seqs("--kind", "post.pinned", "--before", `${next}`)).toEqual([[1], undefined]);
});

test("shows what came with one", async (context) => {
  const ask = await storeOf(context, CAME);
  expect((await ask(["3"])).stdout).toContain(`"id": "p2"`);
  const odd = await ask(["4"]);
  expect(odd.stdout).toContain("not JSON \\u001b[2J at all");
  const json = parseJson((await ask(["4", "--json"])).stdout);
  expect(json).toMatchObject({ ok: true, seq: 4, body: "not JSON \u001b[2J at all", specialist: "scout" });
});

test("says so of one that is not kept, and of what is no number", async (context) => {
  const ask = await storeOf(context, CAME);
  const wrong: [string, number, string][] = [
    ["2", 1, "no delivery 2 is stored"], // it was handled, so that its body is gone
    ["99", 1, "no delivery 99 is stored"],
    ["p1", 2, "is not the number of a delivery"],
  ];
  for (const [what, code, message] of wrong) {
    const said = await ask([what]);
    expect(said.code).toBe(code);
    expect(said.stderr).toContain(message);
  }
});

test("says so where nothing is kept, and where there is no store", async (context) => {
  const ask = await storeOf(context, []);
  expect((await ask([])).stdout).toContain("none is stored");
  const cwd = folder(context);
  const { code, stderr } = await retinue(["deliveries"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain("there is no store yet");
  mkdirSync(join(cwd, ".retinue/dev"), { recursive: true });
  writeFileSync(join(cwd, ".retinue/dev/store.sqlite"), "");
  expect((await retinue(["deliveries"], { cwd })).stderr).toContain("--store sqlite:.retinue/dev/store.sqlite");
});
