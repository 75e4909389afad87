/** The shape of a definition: what crosses from a thread, and is checked as the original would be. */
import { expect, test } from "vitest";
import { answer } from "../../../src/model.ts";
import { modelUseOf } from "../../../src/specialist/model-call.ts";
import { shapeOf, standIn } from "../../../src/handlers/worker/definition-shape.ts";

const crossed = (value: unknown): unknown => standIn(structuredClone(shapeOf(value)));

test("data cross as they are, and functions as functions that must not be called", () => {
  const definition = { handle: "scout", may: ["posts.reply"], id: undefined, on: { "post.created": () => 1 } };
  const there = crossed(definition);
  expect(there).toEqual({ ...definition, on: { "post.created": expect.any(Function) as unknown } });
  const stand = crossed(() => 1);
  expect(stand).toBeInstanceOf(Function);
  expect(stand).toThrow(expect.objectContaining({ code: "worker_confused" }) as Error);
});

test("a behaviour still says which model it asks", () => {
  expect(modelUseOf(crossed(answer({ model: "small", instructions: "Be brief." })))).toEqual({ model: "small", hasInstructions: true });
});

test("a promise stays one, an object of a class stays one, and neither is taken for data", () => {
  expect(crossed(Promise.resolve({ handle: "scout" }))).toHaveProperty("then");
  for (const value of [new Date(0), new Map(), Symbol("x")]) {
    const there = crossed(value);
    expect(Object.getPrototypeOf(there)).not.toBe(Object.prototype);
  }
});

test("a value that contains itself ends", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(crossed(circle)).toMatchObject({ self: { self: {} } });
  const many: unknown[] = [];
  for (let i = 0; i < 20; i++) many.push(many);
  expect(crossed(many)).toHaveLength(20);
});
