/** The text of a function tells it apart from others, also where its code is the same. */
import { expect, test } from "vitest";
import { madeOf, textOfCode } from "../../src/specialist/code-text.ts";

const textOf = (value: unknown): string => JSON.stringify(value, textOfCode);

test("functions have the text of their code, and all else is as it is", () => {
  expect(textOf({ on: { a: () => 1 }, b: [2, "x"] })).toBe('{"on":{"a":"() => 1"},"b":[2,"x"]}');
});

test("a function that was made of something has the text of that, however deep its functions are", () => {
  const made = (from: unknown) => madeOf(() => undefined, from);
  const all = [made("a"), made("b"), made({ run: () => 1 }), made({ run: () => 2 }), made(made("a")), () => undefined];
  expect(new Set(all.map(textOf)).size).toBe(all.length);
  expect(textOf(made({ run: () => 1 }))).toBe(textOf(made({ run: () => 1 })));
});
