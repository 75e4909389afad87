/** A key that several specialists share, also from some moment on: one shard has all of them, or they do not run. */
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import type { Environment } from "../../src/config/environment.ts";
import { asHandle, asKeyId, type Handle } from "../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { SharedKeys, groupByKey } from "../../src/runtime/shared-keys.ts";
import type { Transport } from "../../src/client/transport.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import type { KeyGroup } from "../../src/store/postgres/placements.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../harness/harness.ts";
import { project } from "../harness/project.ts";

const [scout, quill, hand] = ["scout", "quill", "hand"].map((handle) => asHandle(handle)) as [Handle, Handle, Handle];

const sharing = (...members: readonly Handle[]): readonly KeyGroup[] => [{ key: asKeyId("shared"), members }];

function lab() {
  const state: { groups: readonly KeyGroup[]; apart: readonly Handle[]; asked: number } = { groups: [], apart: [], asked: 0 };
  const lines: LogLine[] = [];
  const keys = new SharedKeys({
    keyGroups: () => state.groups,
    now: () => 5,
    log: createLogger({ level: "debug", now: () => 0, sink: (line) => lines.push(line) }),
  });
  const membership = {
    salt: "salt",
    async place(groups: readonly KeyGroup[]) {
      state.asked++;
      return { apart: state.apart, shards: new Map(groups.flatMap(({ members }) => members.map((handle) => [handle, 7]))) };
    },
  };
  const placed = new Map<Handle, number>();
  const store = { place: (handle: Handle, shard: number): void => void placed.set(handle, shard) };
  return { state, lines, keys, membership, store, placed };
}

test("stores that are open know where a specialist belongs from now on, and so does one that is opened later", async () => {
  const { state, keys, membership, store, placed } = lab();
  state.groups = sharing(scout, quill);
  expect(await keys.place(membership, [store])).toEqual([]);
  expect([...placed]).toEqual([
    [scout, 7],
    [quill, 7],
  ]);
  placed.clear();
  keys.applyTo(store);
  expect(placed.size).toBe(2);
  await keys.place(membership, [store]);
  expect(state.asked).toBe(1); // nothing has changed
  await keys.place({ ...membership }, [store]);
  expect(state.asked).toBe(2); // another session, perhaps of another server
});

test("one that has rows in another shard must not run, is told once, and runs again with a key of its own", async () => {
  const { state, lines, keys, membership, store } = lab();
  const part = { ...store, has: (handle: Handle) => handle !== hand, runtime: { member: (handle: string) => handle } };
  Object.assign(state, { groups: sharing(scout, quill), apart: [quill] });
  await keys.place(membership, [store]);
  expect([keys.mayRun(scout), keys.mayRun(quill), keys.isMixed(part)]).toEqual([true, false, true]);
  expect(keys.isMixed({ ...part, runtime: { member: () => undefined } })).toBe(false);
  state.groups = sharing(scout, quill, hand);
  await keys.place(membership, [store]);
  await keys.place(membership, [store]);
  expect(lines).toHaveLength(2); // with whom it shares the key has changed
  expect([...keys.keptOut]).toEqual([
    [quill, { code: "key_shared", message: "it shares its key with scout, hand in another shard, so it does not run", since: 5 }],
  ]);
  Object.assign(state, { groups: [], apart: [] });
  expect(await keys.place(membership, [store])).toEqual([quill]);
  expect([keys.mayRun(quill), keys.isMixed(part)]).toEqual([true, false]);
});

test("a placement that failed is due again", async () => {
  const { state, keys, membership, store } = lab();
  state.groups = sharing(scout, quill);
  const failing = { salt: "salt", place: () => Promise.reject(new Error("the server is away")) };
  await expect(keys.place(failing, [store])).rejects.toThrow("the server is away");
  expect(keys.isDue).toBe(true);
  await keys.place(membership, [store]);
  expect([keys.isDue, state.asked]).toEqual([false, 1]);
});

test("the keys of many are found by one reading of .env, beside those in files", async () => {
  const handles = Array.from({ length: 40 }, (_, i) => asHandle(`s${i}`));
  const key = (i: number): string => `sk_live_of_the_specialist_${i % 20 === 7 ? 7 : i}`;
  const lines = handles.slice(1).map((handle, i) => `RETINUE_KEY_${handle.toUpperCase()}=${key(i + 1)}`);
  const { root } = project({ ".env": lines.join("\n"), ".retinue/keys/s0": key(7) });
  const config = await loadConfig({ env: {}, cwd: root });
  let reads = 0;
  const counted =
    <Given extends readonly unknown[], Result>(read: (...given: Given) => Result) =>
    (...given: Given): Result => {
      reads++;
      return read(...given);
    };
  const { environment } = config;
  const counting: Environment = {
    problems: [],
    get: counted(environment.get),
    describe: counted(environment.describe),
    entries: counted(environment.entries),
  };
  const groups = groupByKey(handles, { ...config, environment: counting }, { scrubber: new Scrubber(), salt: new Secret("salt") });
  expect(groups.filter(({ members }) => members.length > 1)).toMatchObject([{ members: ["s0", "s7", "s27"] }]);
  expect([groups.length, reads]).toEqual([38, 1]);
});

test("a running specialist that is kept out sends nothing more from that moment, and goes on once it is not", async () => {
  const clock = virtualClock(Date.parse("2026-11-21T00:00:00Z"));
  const random = seededRandom(3);
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const requests: number[] = [];
  const transport: Transport = async () => {
    requests.push(clock.now());
    const text = `{"id":"post_${requests.length}","content":"x"}`;
    return { kind: "answer", status: 201, headers: { "content-type": "application/json" }, text, elapsedMs: 1 };
  };
  const { state, keys, membership, store: open } = lab();
  const options = {
    specialists: [
      createSpecialist({
        handle: "quill",
        id: "agt_1",
        tier: "pro",
        may: ["posts.create"],
        schedules: { often: { every: "1m", run: (act) => void act.post(`Note ${act.now}`) } },
      }),
    ],
    store,
    transport,
    keyOf: () => "sk_live_0123456789abcdef",
    keptOut: () => keys.keptOut,
    clock,
    random,
  };
  const runtime = virtualRuntime(options);
  const parked: string[] = [];
  runtime.announcer.on("parked", ({ handle, code }) => void parked.push(`${handle} ${code}`));
  await clock.run(runtime.start());
  await clock.runUntil(() => requests.length > 1, HOUR);
  Object.assign(state, { groups: sharing(scout, quill), apart: [quill] });
  await keys.place(membership, [open]);
  const then = requests.length;
  await clock.advance(HOUR);
  expect([requests.length, parked, runtime.member("quill")?.keyTrouble?.code]).toEqual([then, ["quill key_shared"], "key_shared"]);
  Object.assign(state, { groups: [], apart: [] });
  await keys.place(membership, [open]);
  await clock.advance(2 * MINUTE);
  expect(requests.length).toBeGreaterThan(then);
  expect(runtime.member("quill")?.keyTrouble).toBeUndefined();
  await clock.run(runtime.stop());
  await clock.run(store.close());
});
