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

it("a line shows no secret and is bounded, in its message and in its fields", () => {
  const { log, lines, bytes } = logging();
  log.warn(`${KEY} ${"x".repeat(1_000_000)}`, { why: `${DIGITS} ${"y".repeat(1_000_000)}` });
  expect(lines).toMatchObject([
    { level: "warn", message: expect.stringMatching(/^\[secret\] x+… /), fields: { why: expect.stringMatching(/^\[secret\] y+… /) } },
  ]);
  expect(bytes()).toBeLessThan(MAX_LINE_BYTES);
});

it("a line below the level of the log is dropped, and a child adds its fields to each line", () => {
  const { log, lines } = logging();
  log.debug("too low");
  log.child({ handle: "ada" }).child({ code: "one" }).info("said", { n: 1 });
  expect(lines).toMatchObject([{ message: "said", fields: { handle: "ada", code: "one", n: 1 } }]);
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
});
