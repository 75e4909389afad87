/** The scrubber: no secret stays in a text, however it is written there, and nothing else is touched. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Scrubber } from "../../src/core/scrubber.ts";
import { unescaped, WINDOW } from "../../src/core/secret-forms.ts";
import { Secret } from "../../src/core/secret.ts";
import { timesAsLong } from "../harness/times-as-long.ts";

function knowing(...secrets: readonly string[]): Scrubber {
  const scrubber = new Scrubber();
  for (const secret of secrets) scrubber.add(new Secret(secret));
  return scrubber;
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const hex = (text: string, before: string, digits: number): string =>
  Array.from({ length: text.length }, (_, at) => before + text.charCodeAt(at).toString(16).padStart(digits, "0")).join("");
const percent = (text: string): string => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The forms in which a network may repeat a secret. */
const WRITINGS: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in capitals": (secret) => secret.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  "in JSON": escaped,
  "in JSON in JSON": (secret) => escaped(escaped(secret)),
  "in Unicode escapes": (secret) => hex(secret, "\\u", 4),
  "in Unicode escapes in JSON": (secret) => escaped(hex(secret, "\\u", 4)),
  "half in Unicode escapes": (secret) =>
    secret.replaceAll(/[^]/g, (char, i: number) => (i % 2 === 0 ? escaped(char) : hex(char, "\\u", 4).toUpperCase())),
  "with slashes escaped": (secret) => escaped(secret).replaceAll("/", "\\/"),
  "in an address": encodeURIComponent,
  "in an address in an address": (secret) => encodeURIComponent(encodeURIComponent(secret)),
  "in an address, every byte of it": percent,
  "in an address, in JSON, escaped": (secret) => hex(percent(secret), "\\u", 4),
  "in base64": base64,
  "in base64 behind a byte": (secret) => base64(`x${secret}`),
  "in base64 between others": (secret) => base64(`Bearer ${secret} and more`),
  "in base64 for addresses": (secret) => Buffer.from(`u:${secret}`).toString("base64url"),
  "in base64 in an address": (secret) => encodeURIComponent(base64(secret)),
};

/** Printable keys, rows of escapes, one Unicode escape and any other text, of four distinct characters and more than backslashes. */
const secrets = fc
  .oneof(
    fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 8, maxLength: 80 }),
    fc.stringMatching(/^[%\\025!a/"]{8,20}$/),
    fc.stringMatching(/^[a-z!%]{0,6}\\u[0-9a-f]{4}[a-z!"/%]{4,20}$/),
    fc.string({ unit: "grapheme", minLength: 8, maxLength: 40 }),
    fc.stringMatching(/^sk_live_[A-Za-z0-9]{10,40}$/),
  )
  .filter((secret) => secret.isWellFormed() && new Set(secret).size >= 4 && unescaped(secret).length >= WINDOW);
const around = fc.string({ maxLength: 30 }).filter((text) => !/[%\\]$/.test(text));

describe.each(Object.entries(WRITINGS))("written %s", (_name, write) => {
  test("it is taken out of a text, and of JSON that stays JSON", () => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const scrubber = knowing(secret, "another-secret-0001");
        const text = `${before} ${write(secret)} ${after}`;
        const cleaned = scrubber.blank(text);
        expect(cleaned).toContain("[secret]");
        expect(scrubber.holds(cleaned)).toBe(false);
        const json = JSON.stringify({ list: [1.5, text, { [text]: null }], tail: true });
        const parsed: unknown = JSON.parse(scrubber.blankJson(json));
        expect(parsed).toEqual({ list: [1.5, cleaned, { [cleaned]: null }], tail: true });
        // The same inside the quotes of an answer's own bytes.
        const raw = `{"a":"${escaped(before)} ${write(escaped(secret))} ","b":[0]}`;
        const said = scrubber.blankJson(raw);
        expect(scrubber.holds(said)).toBe(false);
        expect(isJson(said) || !isJson(raw)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

test("escapes within a secret are undone as often as the text's own escapes leave rounds for", () => {
  const secret = "%\\00!!!!!!";
  const text = hex(percent(secret), "\\u", 4);
  const scrubber = knowing(secret);
  expect([secret, percent(secret), text].map((written) => scrubber.blank(` ${written} `))).toEqual(Array(3).fill(" [secret] "));
});

test("a Unicode escape within a secret is found as its characters and as the one that it stands for", () => {
  const secret = '\\ua222!"\\52a5/';
  const scrubber = knowing(secret);
  const texts = [secret, escaped(secret), WRITINGS["half in Unicode escapes"]?.(secret) ?? "", '\ua222!"52a5/'];
  expect(texts.map((text) => scrubber.blank(` ${text} `))).toEqual(Array(4).fill(" [secret] "));
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("a text without secrets is the same text, and JSON keeps every byte", () => {
  const scrubber = knowing("sk_live_Zq81Tn5yWc07RmXv", `q"7u\\o/t'e<d>&%41+w=~{}`);
  fc.assert(
    fc.property(fc.json(), fc.string(), (json, text) => {
      expect(scrubber.blankJson(json)).toBe(json);
      expect(scrubber.blank(text)).toBe(text);
    }),
  );
});

test("everything beside a secret keeps every byte: numbers of any length, spaces, escapes, names that come twice", () => {
  const scrubber = knowing("the-secret-9q2r");
  const json = `\uFEFF{ "id" : 12345678901234567890, "at":1.0e5, "a":"caf\\u00e9 \\n", "a":"the-secret-9q2r", "b":[ ] }`;
  expect(scrubber.blankJson(json)).toBe(json.replace("the-secret-9q2r", "[secret]"));
});

test("a secret of digits is taken out of numbers too", () => {
  const scrubber = knowing("4815162342");
  expect(JSON.parse(scrubber.blankJson(`{"pin":4815162342,"pins":[-4815162342.5],"n":48151623}`))).toEqual({
    pin: "[secret]",
    pins: ["-[secret].5"],
    n: 48151623,
  });
});

test("ids that hold a secret and differ beside it still differ", () => {
  const scrubber = knowing("sk_live_Zq81Tn5yWc07RmXv");
  const ids = ["-a", "-b", "", "c"].flatMap((tail) => [
    `post-sk_live_Zq81Tn5yWc07RmXv${tail}`,
    `x${base64("sk_live_Zq81Tn5yWc07RmXv").slice(0, 30)}${tail}`,
  ]);
  expect(new Set(ids.map((id) => scrubber.blank(id))).size).toBe(ids.length);
});

test("all of several secrets are taken out, also where they overlap or one is the beginning of another", () => {
  const scrubber = knowing("abcdefgh1", "abcdefgh12345", "12345zyxwvu");
  expect(scrubber.blank("abcdefgh12345zyxwvu!")).toBe("[secret]!");
  expect(scrubber.blank("abcdefgh1abcdefgh1 12345zyxwvu")).toBe("[secret][secret] [secret]");
});

test("the key of a signing secret is taken out without its prefix as well", () => {
  expect(knowing("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").blank("key: MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).toBe("key: [secret]");
});

test("short words and rows of stars are no secrets", () => {
  const scrubber = knowing("secret", "********", "--------------");
  expect(scrubber.blank("secret ******** --------------")).toBe("secret ******** --------------");
});

test("a text shaped like a published key is taken out of logs, and stays in the words of others", () => {
  const scrubber = knowing("the-secret-9q2r");
  expect(scrubber.clean("sk_live_0123456789 and the-secret-9q2r")).toBe("sk_live_[secret] and [secret]");
  expect(scrubber.cleanJson(`{"a":"sk-agent-0123456789"}`)).toBe(`{"a":"sk-agent-[secret]"}`);
  expect(scrubber.blank("sk_live_0123456789")).toBe("sk_live_0123456789");
});

test("years of rotation do not fill the memory, and a secret in use is never forgotten", () => {
  const scrubber = new Scrubber();
  const used = new Secret("in-use-since-the-beginning");
  for (let i = 0; i < 45_000; i++) {
    scrubber.add(new Secret(`rotated-secret-${i}-of-the-same-end`));
    if (i % 10_000 === 0) scrubber.add(used);
  }
  expect(scrubber.holds("rotated-secret-1-of-the-same-end")).toBe(false);
  expect(scrubber.holds("rotated-secret-44999-of-the-same-end")).toBe(true);
  expect(scrubber.holds(`is ${used.reveal()} still`)).toBe(true);
});

/** For a text that is eight times as long: 64 would be a time that grows with the square. */
const MOST_TIMES = 24;

test("the worst that a network can say is cleaned in a time that grows with its length", () => {
  const scrubber = knowing("sk_live_Zq81Tn5yWc07RmXv", `q"7u\\o/t'e<d>`);
  const long = 400_000;
  for (const piece of ["sk_live_Zq81Tn5yWc07RmXv", "\\\\", "\\u0073", "%73", "%25", "25", '\\"', "Zq81Tn5yWc07RmXv"]) {
    const said = (length: number): string => `{"a":"${piece.repeat(length / piece.length)}%","b":"sk_live_Zq81Tn5yWc07RmXv"}`;
    expect(JSON.parse(scrubber.blankJson(said(long)))).toMatchObject({ b: "[secret]" });
    const [whole, eighth] = [said(long), said(long / 8)];
    const times = timesAsLong(
      () => scrubber.blankJson(whole),
      () => scrubber.blankJson(eighth),
      MOST_TIMES,
    );
    expect([piece, times <= MOST_TIMES]).toEqual([piece, true]);
  }
});
