/** A call by a person: a read at once, a write through every rule that holds for the specialist, and its result in words. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { CallResult } from "../../src/guardian/call-operation.ts";
import { harness, type HarnessOptions } from "../harness/harness.ts";

async function calls(definition: Partial<HarnessOptions["specialists"][number]> = {}) {
  const here = await harness({
    specialists: [{ handle: "scout", tier: "pro", may: ["posts.create"], ...definition }],
    network: { residents: { already: { post: 3 } } },
  });
  const call = (operation: string, input: JsonObject, target?: string): Promise<CallResult> =>
    here.clock.run(here.guardian.call({ handle: "scout", operation, input, ...(target === undefined ? {} : { target }) }));
  return { ...here, guardian: here.guardian, call };
}

test("a read is made at once and gives its records", async () => {
  const { call } = await calls();
  expect(await call("posts.list", { limit: 2 })).toMatchObject({ kind: "read", value: [{ kind: "post" }, { kind: "post" }] });
});

test("a write is sent, and names what it created", async () => {
  const { call, network } = await calls();
  const result = await call("posts.create", { content: "Hello from the Guardian" });
  expect(result).toMatchObject({ kind: "write", state: "confirmed", created: expect.any(String) as string });
  expect(network.truth.effects({ agent: "scout", operation: "posts.create" })).toHaveLength(1);
});

test.each<[string, Partial<HarnessOptions["specialists"][number]>, object]>([
  ["that is not allowed is refused", { may: [] }, { state: "refused", code: "not_allowed" }],
  ["that needs approval waits for it", { review: ["posts.create"] }, { state: "proposed" }],
])("a write %s, and nothing is sent", async (_what, definition, result) => {
  const { call, network } = await calls(definition);
  expect(await call("posts.create", { content: "Hello" })).toMatchObject({ kind: "write", ...result });
  expect(network.truth.effects({ agent: "scout", operation: "posts.create" })).toEqual([]);
});

test("a write under a halt says what it waits for", async () => {
  const { call, clock, guardian } = await calls();
  await clock.run(guardian.halt({ reason: "wrong words" }));
  expect(await call("posts.create", { content: "Hello" })).toMatchObject({
    kind: "write",
    state: "ready",
    code: "halted",
    message: expect.stringContaining("wrong words") as string,
  });
});

test("the same text twice is braked as a handler's would be", async () => {
  const { call } = await calls();
  await call("posts.create", { content: "Hello" });
  expect(await call("posts.create", { content: "hello " })).toMatchObject({ state: "refused", code: "brake_same_text" });
});

test("an impossible call is refused before it is recorded", async () => {
  const { call, clock, guardian } = await calls();
  await expect(call("posts.shout", {})).rejects.toMatchObject({ code: "operation_unknown" });
  await expect(call("posts.create", {})).rejects.toMatchObject({ code: "input_invalid" });
  await expect(clock.run(guardian.call({ handle: "nobody", operation: "posts.list", input: {} }))).rejects.toMatchObject({
    code: "specialist_unknown",
  });
  expect((await clock.run(guardian.log({ limit: 10 }))).entries).toEqual([]);
});
