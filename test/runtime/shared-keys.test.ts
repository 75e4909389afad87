/** A key that several specialists share, also from some moment on: one shard has all of them, or they do not run. */
import { expect, test } from "vitest";
import { asHandle, type Handle } from "../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { SharedKeys } from "../../src/runtime/shared-keys.ts";

const [scout, quill, hand] = ["scout", "quill", "hand"].map((handle) => asHandle(handle)) as [Handle, Handle, Handle];

function lab() {
  const state: { groups: readonly (readonly Handle[])[]; apart: readonly Handle[]; asked: number } = { groups: [], apart: [], asked: 0 };
  const lines: LogLine[] = [];
  const keys = new SharedKeys({
    sharers: () => state.groups,
    now: () => 5,
    log: createLogger({ level: "debug", now: () => 0, sink: (line) => lines.push(line) }),
  });
  const membership = {
    async place(groups: readonly (readonly Handle[])[]) {
      state.asked++;
      return { apart: state.apart, shards: new Map(groups.flat().map((handle) => [handle, 7])) };
    },
  };
  const placed = new Map<Handle, number>();
  const store = { place: (handle: Handle, shard: number): void => void placed.set(handle, shard) };
  return { state, lines, keys, membership, store, placed };
}

test("stores that are open know where a specialist belongs from now on, and so does one that is opened later", async () => {
  const { state, keys, membership, store, placed } = lab();
  state.groups = [[scout, quill]];
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
  Object.assign(state, { groups: [[scout, quill]], apart: [quill] });
  await keys.place(membership, [store]);
  expect([keys.mayRun(scout), keys.mayRun(quill), keys.isMixed(part)]).toEqual([true, false, true]);
  expect(keys.isMixed({ ...part, runtime: { member: () => undefined } })).toBe(false);
  state.groups = [[scout, quill, hand]];
  await keys.place(membership, [store]);
  expect(lines).toHaveLength(1);
  expect([...keys.keptOut]).toEqual([
    [quill, { code: "key_shared", message: "it shares its key with a specialist in another shard, so it does not run", since: 5 }],
  ]);
  Object.assign(state, { groups: [], apart: [] });
  expect(await keys.place(membership, [store])).toEqual([quill]);
  expect([keys.mayRun(quill), keys.isMixed(part)]).toEqual([true, false]);
});

test("a placement that failed is due again", async () => {
  const { state, keys, membership, store } = lab();
  state.groups = [[scout, quill]];
  const failing = { place: () => Promise.reject(new Error("the server is away")) };
  await expect(keys.place(failing, [store])).rejects.toThrow("the server is away");
  expect(keys.isDue).toBe(true);
  await keys.place(membership, [store]);
  expect([keys.isDue, state.asked]).toEqual([false, 1]);
});
