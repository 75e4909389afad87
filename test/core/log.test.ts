/** The log: whatever it is told, and how often, it stays short, shows no secret and never throws. */
import { describe, expect, it } from "vitest";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

const KEY = "key-of-somebody-0123456789";
const DIGITS = "4111222233334444";
const MAX_LINE_BYTES = 32_768;

function logging() {
  const clock = virtualClock();
  const scrubber = new Scrubber();
  for (const secret of [KEY, DIGITS]) scrubber.add(new Secret(secret));
  const lines: LogLine[] = [];
  const log = createLogger({ level: "info", now: () => clock.now(), scrubber, sink: (line) => void lines.push(line) });
  const bytes = (): number => lines.reduce((sum, line) => sum + Buffer.byteLength(JSON.stringify(line)), 0);
  return { clock, lines, log, bytes, messages: () => lines.map(({ message }) => message) };
}

const nested = (depth: number): object => (depth === 0 ? {} : { list: Array.from({ length: 60 }, () => 1), in: nested(depth - 1) });
const circular: { itself?: unknown } = {};
circular.itself = circular;

describe("a line", () => {
  it.each<[string, string, object]>([
    ["a long message", "x".repeat(1_000_000), {}],
    ["a long field", "said", { message: "y".repeat(1_000_000) }],
    ["many fields", "said", Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`name${i}`, "z".repeat(500)]))],
    ["a long name", "said", { ["n".repeat(1_000_000)]: 1 }],
    ["a long list", "said", { list: Array.from({ length: 100_000 }, (_, i) => i) }],
    ["lists in lists", "said", { lists: Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => Array<number>(60).fill(1))) }],
    ["something deep", "said", nested(500)],
    ["a circle", "said", circular],
    ["control characters", "\u0000".repeat(100_000), { a: "\u0001".repeat(100_000), b: "\u0002".repeat(100_000) }],
  ])("is bounded: %s", (_what, message, fields) => {
    const { log, lines, bytes } = logging();
    log.warn(message, { ...fields });
    expect(lines).toHaveLength(1);
    expect(bytes()).toBeLessThan(MAX_LINE_BYTES);
  });

  it("says how much was cut", () => {
    const { log, lines } = logging();
    log.warn("x".repeat(200_000), { why: "y".repeat(5_000), list: Array<string>(70).fill("a") });
    expect(lines[0]?.message).toBe(`${"x".repeat(1_000)}… (199000 characters more)`);
    expect(lines[0]?.fields["why"]).toBe(`${"y".repeat(1_000)}… (4000 characters more)`);
    expect(lines[0]?.fields["list"]).toEqual([...Array<string>(50).fill("a"), "… (20 more)"]);
  });

  it("that is short is left as it is", () => {
    const { log, lines } = logging();
    const fields = { n: 1, yes: true, none: null, list: [1, "two", { three: 3 }], at: new Date(0), left: undefined };
    log.info("it says", fields);
    expect(lines).toEqual([
      expect.objectContaining({
        level: "info",
        message: "it says",
        fields: { n: 1, yes: true, none: null, list: [1, "two", { three: 3 }], at: "1970-01-01T00:00:00.000Z" },
      }),
    ]);
  });

  it("shows no part of a secret, wherever it is cut", () => {
    const { log, lines } = logging();
    for (let before = 970; before <= 1_030; before++) log.info(`${before} `.padEnd(before, "x") + KEY + "x".repeat(10_000));
    // Each secret that is taken out moves the text after it up.
    log.info(`${KEY} `.repeat(40) + "x".repeat(5_096 - 40 * (KEY.length + 1) - 10) + KEY + "x".repeat(10_000), { [KEY]: [KEY] });
    log.info("a number, and a quote", { text: `"${KEY}"`, n: Number(DIGITS), big: BigInt(DIGITS) });
    expect(lines).toHaveLength(63);
    expect(JSON.stringify(lines)).not.toMatch(/key-of|4111/);
  });

  it("never throws, whatever its fields are", () => {
    const { log, lines } = logging();
    const broken = {
      get a(): never {
        throw new Error("no");
      },
    };
    const strange = { big: 2n ** 70n, run: () => 1, sign: Symbol("x"), nan: Number.NaN, error: new Error("what went wrong") };
    log.warn("strange", { ...strange, broken, unreadable: { toJSON: () => JSON.parse("{") as unknown } });
    expect(lines[0]?.fields).toMatchObject({
      big: "1180591620717411303424",
      nan: "NaN",
      error: "what went wrong",
      broken: "(unreadable: no)",
      unreadable: expect.stringContaining("(unreadable: "),
    });
  });
});

describe("a line that repeats", () => {
  it("passes ten times a minute, and then is summed up in one line", async () => {
    const { log, clock, messages, lines } = logging();
    for (let i = 0; i < 1_000; i++) log.error("it failed", { handle: "ada", message: `for the ${i}th time` });
    expect(messages()).toEqual(Array<string>(10).fill("it failed"));
    await clock.advance(59_999);
    log.error("it failed", { handle: "ada" });
    expect(lines).toHaveLength(10);
    await clock.advance(1);
    log.error("it failed", { handle: "ada", message: "again" });
    expect(lines.slice(10)).toMatchObject([
      { level: "error", message: "it failed: 991 more within a minute", fields: { handle: "ada", more: 991 } },
      { level: "error", message: "it failed", fields: { handle: "ada", message: "again" } },
    ]);
  });

  it("is summed up with the next line of another kind too, and at the end", async () => {
    const { log, clock, messages } = logging();
    for (let i = 0; i < 12; i++) log.warn("slow");
    await clock.advance(60_000);
    log.info("something else");
    expect(messages().slice(10)).toEqual(["slow: 2 more within a minute, the last 1m ago", "something else"]);
    for (let i = 0; i < 13; i++) log.warn("slow");
    log.flush();
    log.flush();
    expect(messages().slice(22)).toEqual(["slow: 3 more within a minute"]);
  });

  it("hides no other: of another specialist, level or code", () => {
    const { log, lines } = logging();
    for (let i = 0; i < 50; i++) log.child({ handle: "ada" }).warn("a handler failed", { code: "one" });
    log.child({ handle: "bob" }).warn("a handler failed", { code: "one" });
    log.child({ handle: "ada" }).warn("a handler failed", { code: "two" });
    log.child({ handle: "ada" }).error("a handler failed", { code: "one" });
    expect(lines).toHaveLength(13);
  });

  it("passes a thousand times a minute where it reports no fault", () => {
    const { log, lines } = logging();
    for (let i = 0; i < 5_000; i++) log.info("done", { i });
    expect(lines).toHaveLength(1_000);
  });

  it("passes 300 times a minute where a definition prints it, whatever the lines say", () => {
    const { log, lines } = logging();
    for (let i = 0; i < 1_000; i++) log.child({ handle: i % 2 === 0 ? "scout" : "quill" }).info(`line ${i}`, { printed: "stdout" });
    expect(lines).toHaveLength(600);
    log.flush();
    expect(lines.slice(600)).toMatchObject(
      ["scout", "quill"].map((handle) => ({ message: "lines that the definition printed: 200 more within a minute", fields: { handle } })),
    );
  });

  it("passes again once the clock was set back, which no minute outlasts", async () => {
    const { log, clock, lines } = logging();
    for (let i = 0; i < 20; i++) log.warn("slow");
    clock.jump(-86_400_000);
    for (let i = 0; i < 20; i++) log.warn("slow");
    expect(lines.map(({ message }) => message)).toEqual([
      ...Array<string>(10).fill("slow"),
      "slow: 10 more within a minute",
      ...Array<string>(10).fill("slow"),
    ]);
  });

  it("is remembered in bounded memory, and summed up when it is forgotten", () => {
    const { log, lines } = logging();
    for (let i = 0; i < 15; i++) log.warn("slow");
    for (let i = 0; i < 2_000; i++) log.warn(`line ${i}`);
    expect(lines).toHaveLength(10 + 1 + 2_000);
    expect(lines.some(({ message }) => message === "slow: 5 more within a minute")).toBe(true);
  });

  it("costs nothing for what it carries", () => {
    const { log } = logging();
    let read = 0;
    const dear = {
      toJSON() {
        read++;
        return "dear";
      },
    };
    for (let i = 0; i < 1_000; i++) log.error("it failed", { dear });
    expect(read).toBe(10);
  });
});
