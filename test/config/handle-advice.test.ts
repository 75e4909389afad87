/** Advice for a handle that names no specialist: the nearest one, all of a few, and never thousands. */
import { expect, test } from "vitest";
import { handleAdvice, joinAdvice } from "../../src/config/handle-advice.ts";

const many = Array.from({ length: 2_000 }, (_, i) => `s${i}`);

test.each([
  { what: "a typing error", handle: "scuot", known: ["scout", ...many], advice: { hint: 'did you mean "scout"?' } },
  { what: "a name unlike a few", handle: "nobody", known: ["scout", "quill"], advice: { expected: "one of quill, scout" } },
  {
    what: "a name unlike thousands",
    handle: "nobody",
    known: many,
    advice: { hint: "retinue plan lists the specialists of this folder, and retinue status those at work" },
  },
  { what: "no specialist", handle: "x", known: [], advice: { expected: "the handle of a specialist, of which there is none" } },
])("$what", ({ handle, known, advice }) => {
  expect(handleAdvice(handle, known)).toEqual(advice);
});

test("of several parts the one with a near name counts, and none lists its own specialists as all", () => {
  const near = handleAdvice("scuot", ["scout"]);
  expect(joinAdvice([handleAdvice("scuot", ["hand"]), near])).toEqual(near);
  expect(joinAdvice([handleAdvice("nobody", ["hand"]), handleAdvice("nobody", ["scout"])])).toEqual({
    hint: "retinue plan lists the specialists of this folder, and retinue status those at work",
  });
});
