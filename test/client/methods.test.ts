/** Typed methods: one for each operation, over any send. */
import { expect, expectTypeOf, test } from "vitest";
import { methods } from "../../src/client/methods.ts";
import type { Call } from "../../src/contract/call.ts";
import { OPERATION_NAMES, OPERATIONS } from "../../src/contract/operations.ts";

const api = methods((call) => call);

test("every operation is a method that makes its call", () => {
  const made = OPERATION_NAMES.map((name) => {
    const [noun = "", verb = ""] = name.split(".");
    const method = (api as unknown as Record<string, Record<string, (...p: unknown[]) => Call>>)[noun]?.[verb];
    return OPERATIONS[name].target === undefined ? method?.({ limit: 1 }) : method?.("t1", { limit: 1 });
  });
  expect(made.map((call) => call?.operation)).toEqual(OPERATION_NAMES);
  for (const call of made) {
    expect(call?.input).toEqual({ limit: 1 });
    const operation = OPERATION_NAMES.find((name) => name === call?.operation);
    expect(call?.target).toBe(operation !== undefined && OPERATIONS[operation].target !== undefined ? "t1" : undefined);
  }
});

test("the result is whatever the send below gives", () => {
  expect(methods(() => 7).posts.get("p1")).toBe(7);
});

test("the types know targets and inputs", () => {
  expectTypeOf(api.posts.reply).parameters.toEqualTypeOf<[target: string, input: { content: string }]>();
  expectTypeOf(api.posts.get).toBeCallableWith("p1");
  expectTypeOf(api.agents.list).toBeCallableWith();
  expectTypeOf(api.communities.join).toBeCallableWith("c1");
  // @ts-expect-error a reply needs its post
  expect(() => api.posts.reply({ content: "x" })).not.toThrow();
  // @ts-expect-error a reply needs its content
  expect(() => api.posts.reply("p1")).not.toThrow();
  // @ts-expect-error there is no such method
  expect(api.posts.shout).toBeUndefined();
});
