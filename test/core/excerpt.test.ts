/** Short copies of any value: bounded, plain, without any part of a secret; nothing makes them throw. */
import { describe, expect, test } from "vitest";
import { excerpt, excerptOf } from "../../src/core/excerpt.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";

const KEY = "key-of-somebody-0123456789";
const DIGITS = "4111222233334444";
/** Longer than what is searched beyond the shown part. */
const LONG = Array.from({ length: 600 }, (_, i) => `long${i}`).join("-");
const MAX_BYTES = 32_768;

const scrubber = new Scrubber();
for (const secret of [KEY, DIGITS, LONG]) scrubber.add(new Secret(secret));
const clean = (text: string): string => scrubber.clean(text);

const nested = (depth: number): object => (depth === 0 ? {} : { list: Array.from({ length: 60 }, () => 1), in: nested(depth - 1) });
const circular: { itself?: unknown } = {};
circular.itself = circular;
const endless: object = { toJSON: () => endless };

describe("a copy", () => {
  test.each<[string, object]>([
    ["a long field", { message: "y".repeat(1_000_000) }],
    ["many fields", Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`name${i}`, "z".repeat(500)]))],
    ["a long name", { ["n".repeat(1_000_000)]: 1 }],
    ["a long list", { list: Array.from({ length: 100_000 }, (_, i) => i) }],
    ["lists in lists", { lists: Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => Array<number>(60).fill(1))) }],
    ["something deep", nested(500)],
    ["a circle", circular],
    ["an object that converts itself to itself", { endless }],
    ["control characters", { a: "\u0001".repeat(100_000), b: "\u0002".repeat(100_000) }],
  ])("is bounded: %s", (_what, fields) => {
    expect(Buffer.byteLength(JSON.stringify(excerptOf({ ...fields }, clean)))).toBeLessThan(MAX_BYTES);
  });

  test("says how much was cut", () => {
    expect(excerpt("x".repeat(200_000), clean)).toBe(`${"x".repeat(1_000)}… (199000 characters more)`);
    expect(excerptOf({ why: "y".repeat(5_000) }, clean)).toEqual({ why: `${"y".repeat(1_000)}… (4000 characters more)` });
    expect(excerptOf({ list: Array<string>(70).fill("a") }, clean)).toEqual({ list: [...Array<string>(50).fill("a"), "… (20 more)"] });
    const members = excerptOf(Object.fromEntries(Array.from({ length: 53 }, (_, i) => [`n${i}`, i])), clean);
    expect(members).toMatchObject({ n0: 0, n49: 49, "…": "3 more" });
  });

  test("of what is short says the same", () => {
    const fields = { n: 1, yes: true, none: null, list: [1, "two", { three: 3 }], at: new Date(0), left: undefined };
    expect(excerptOf(fields, clean)).toEqual({
      n: 1,
      yes: true,
      none: null,
      list: [1, "two", { three: 3 }],
      at: "1970-01-01T00:00:00.000Z",
    });
    expect(excerpt("", clean)).toBe("");
  });

  test("shows no part of a secret, wherever it is cut", () => {
    const shown: unknown[] = [];
    for (let before = 970; before <= 1_030; before++)
      shown.push(excerpt(`${before} `.padEnd(before, "x") + KEY + "x".repeat(10_000), clean));
    // Each secret that is taken out moves the text after it up.
    shown.push(excerpt(`${KEY} `.repeat(40) + "x".repeat(5_096 - 40 * (KEY.length + 1) - 10) + KEY + "x".repeat(10_000), clean));
    const before = `${LONG} `;
    shown.push(excerpt(before + "x".repeat(5_096 - before.length - 10) + KEY + "x".repeat(10_000), clean));
    shown.push(excerptOf({ [KEY]: [KEY], text: `"${KEY}"`, n: Number(DIGITS), big: BigInt(DIGITS) }, clean));
    expect(shown).toHaveLength(64);
    expect(JSON.stringify(shown)).not.toMatch(/key-of|4111/);
  });

  test("is made of anything, without throwing", () => {
    const broken = {
      get a(): never {
        throw new Error("no");
      },
    };
    const strange = { big: 2n ** 70n, run: () => 1, sign: Symbol("x"), nan: Number.NaN, error: new Error("what went wrong") };
    expect(excerptOf({ ...strange, broken, unreadable: { toJSON: () => JSON.parse("{") as unknown } }, clean)).toEqual({
      big: "1180591620717411303424",
      nan: "NaN",
      error: "what went wrong",
      broken: "(unreadable: no)",
      unreadable: expect.stringContaining("(unreadable: ") as string,
    });
  });
});
