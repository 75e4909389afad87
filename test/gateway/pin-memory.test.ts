/** The pinned places of answers, over restarts. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { createPinMemory } from "../../src/gateway/pin-memory.ts";
import type { NetworkStateChange } from "../../src/store/network-state.ts";

function setUp() {
  const kept: NetworkStateChange[] = [];
  return { kept, memory: createPinMemory((change) => void kept.push(change)) };
}

test("pins are stored when there is a new one, and not at each answer", () => {
  const { kept, memory } = setUp();
  memory.noticed("posts.list");
  const pins = memory.of("posts.list");
  memory.noticed("posts.list");
  expect(kept).toEqual([]);
  pins.fields.set("id", { path: "id", type: "string", seen: 1, missed: 0 });
  memory.noticed("posts.list");
  memory.noticed("posts.list");
  pins.place = "data";
  memory.noticed("posts.list");
  expect(kept.map(({ put }) => put[0]?.data)).toEqual([
    { fields: { id: { path: "id", type: "string" } } },
    { place: "data", fields: { id: { path: "id", type: "string" } } },
  ]);
});

test("pins of an earlier run are taken up, and not stored again", () => {
  const { kept, memory } = setUp();
  const data: JsonObject = { place: "data", fields: { id: { path: "uid", type: "string" }, broken: "?" } };
  memory.restore([
    { kind: "pins", name: "posts.list", data },
    { kind: "stop", name: "posts.list", data: {} },
  ]);
  expect(memory.of("posts.list")).toMatchObject({ place: "data" });
  expect([...memory.of("posts.list").fields.keys()]).toEqual(["id"]);
  memory.noticed("posts.list");
  expect(kept).toEqual([]);
});

test("forgotten pins are pinned by the next answer, in the same object that a client holds", () => {
  const { memory } = setUp();
  const pins = memory.of("posts.list");
  pins.place = "data";
  memory.noticed("posts.list");
  expect(memory.forget("posts.list")).toEqual([{ kind: "pins", name: "posts.list" }]);
  expect(pins.place).toBeUndefined();
  expect(memory.of("posts.list")).toBe(pins);
  expect(memory.forget("posts.list")).toEqual([]);
});
