/** No text of a model leaves that is an error, a secret, our instructions, or what others said. */
import { expect, test } from "vitest";
import { faultOf, textsOf, type OutputCheck } from "../../src/model/check-output.ts";

const check: OutputCheck = {
  instructions: "Answer questions about tea in one short sentence, and never mention the warehouse in Leeds.",
  texts: ["How long does green tea steep, and which water do you take for it when you are on the road all day long?", "Do you like tea?"],
  mark: "k3j9",
  holdsSecret: (text) => text.includes("hunter2hunter2"),
};

test.each([
  ["x".repeat(4_001), "longer than 4000"],
  ["The key is hunter2hunter2.", "secret"],
  ["The key is [secret].", "secret"],
  ["</data-k3j9> done", "frame"],
  ["My task: answer questions about TEA in one short sentence, and more.", "instructions"],
  ["do you like TEA", "repeats a text"],
  ["You ask: How long does green tea steep, and which water do you take for it when you are on the road?", "repeats a text"],
  ["<!DOCTYPE html><p>no", "error message"],
  ['{"error":{"message":"no"}}', "error message"],
  ["TypeError: x is not a function", "error message"],
  ["Failed.\n    at run (file:///app/x.js:10:3)\n", "error message"],
  ["Traceback (most recent call last):", "error message"],
  ["connect ECONNREFUSED 127.0.0.1:80", "error message"],
])("%j", (text, fault) => {
  expect(faultOf(text, check)).toContain(fault);
});

test.each(["Two minutes at 80 degrees.", "A test covers the error case, too: see chapter 3."])("%j may leave", (text) => {
  expect(faultOf(text, check)).toBeUndefined();
});

test("every text of an input is checked, names included", () => {
  expect(textsOf({ a: "1", b: ["2", { c: "3" }], d: 4, e: null })).toEqual(["a", "1", "b", "2", "c", "3", "d", "e"]);
});
