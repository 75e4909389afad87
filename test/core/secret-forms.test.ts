/** Forms of a secret: escapes are undone to a bounded depth, in linear time, and a secret has few forms. */
import { expect, test } from "vitest";
import { ANY_ESCAPE, foldOf, formsOf, isPlain, PLAIN_ESCAPE, unescaped, WINDOW } from "../../src/core/secret-forms.ts";

test.each<[string, string]>([
  ["a\\/b", "a/b"],
  ["\\u0073k", "sk"],
  ["\\U0073K", "sK"],
  ["%73k", "sk"],
  ["%2573k", "sk"],
  ["%25252573k", "sk"],
  ["\\\\u0073k", "sk"],
  ["%255Cu0073k", "sk"],
  ["100% sure", "100% sure"],
  ["%zz and \\uzzzz", "%zz and uzzzz"],
  ["at the end: %", "at the end: %"],
  ["at the end: %7", "at the end: %7"],
  ["at the end: \\u007", "at the end: u007"],
  ["at the end: \\", "at the end: "],
])("%j without escapes is %j", (text, bare) => {
  expect(unescaped(text)).toBe(bare);
});

test("a character above 16 bits stays whole beside an escape", () => {
  expect(unescaped("\u{1F511}\\u0073")).toBe("\u{1F511}s");
});

test("a secret is found as it is, in base64 at each alignment, and a signing secret without its prefix", () => {
  const forms = formsOf("whsec_MfKQ9r8GKYqrTwjUPD8I");
  expect(forms).toContain("whsec_mfkq9r8gkyqrtwjupd8i");
  expect(forms).toContain("mfkq9r8gkyqrtwjupd8i");
  for (const before of ["", "x", "xy"]) {
    const carried = Buffer.from(`${before}whsec_MfKQ9r8GKYqrTwjUPD8I and more`).toString("base64url").toLowerCase();
    expect(forms.some((form) => carried.includes(form))).toBe(true);
  }
  expect(new Set(forms).size).toBe(forms.length);
});

test("a form too short to be found is left out", () => {
  expect(formsOf("abc").every((form) => form.length >= WINDOW)).toBe(true);
});

test("letters and the alphabets of base64 fold together, other characters stay", () => {
  const folded = (text: string): string => String.fromCharCode(...Array.from(text, (char) => foldOf(char.charCodeAt(0))));
  expect(folded("AZaz09+/-_ \u00c9")).toBe("azaz09-_-_ \u00c9");
});

test("a secret that no common escape changes needs only the short search", () => {
  expect(["sk_live_Zq81Tn5y", "a b", 'a"b', "a%b", "a\\b", "a'b", "é"].map(isPlain)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect([PLAIN_ESCAPE.test("a\\nb"), PLAIN_ESCAPE.test("a\\/b"), ANY_ESCAPE.test("a\\nb")]).toEqual([false, true, true]);
});
