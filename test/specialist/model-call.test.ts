/** The mark of a behaviour tells which model it asks before it runs. */
import { expect, test } from "vitest";
import { answer } from "../../src/model.ts";
import { modelUseOf, usingModel } from "../../src/specialist/model-call.ts";

test("a behaviour made by answer names its model, and whether it brings instructions", () => {
  expect(modelUseOf(answer({ model: "small" }))).toEqual({ model: "small", hasInstructions: false });
  expect(modelUseOf(answer({ model: "small", instructions: "Be brief." }))).toEqual({ model: "small", hasInstructions: true });
  expect(modelUseOf(answer({ model: "small", instructions: "  " }))).toMatchObject({ hasInstructions: false });
});

test("nothing else has the mark", () => {
  for (const one of [() => 1, {}, undefined, "answer"]) expect(modelUseOf(one)).toBeUndefined();
  expect(modelUseOf(usingModel(() => 1, { model: "a", hasInstructions: true }))).toEqual({ model: "a", hasInstructions: true });
});
