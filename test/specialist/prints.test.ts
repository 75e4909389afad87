/** Printed text: whole lines in the log of the handling that printed them, bounded, and nothing is lost or mixed up. */
import { expect, test } from "vitest";
import { silentLogger, type Logger } from "../../src/core/log.ts";
import { capturePrints, collectPrints, type PrintStream } from "../../src/specialist/prints.ts";

function logging(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const log: Logger = {
    ...silentLogger(),
    info: (message) => void lines.push(`out ${message}`),
    warn: (message) => void lines.push(`err ${message}`),
  };
  return { log, lines };
}

/** Streams that are captured, and what was written to them as it was. */
function captured() {
  const written: string[] = [];
  const stream = (name: string): PrintStream => ({
    write: (chunk: string | Uint8Array) => {
      written.push(`${name} ${String(chunk)}`);
      return true;
    },
  });
  const streams = { stdout: stream("stdout"), stderr: stream("stderr") };
  return { written, streams, prints: capturePrints(streams) };
}

test("a line is one entry when it ends, by its stream, and an empty one is none", () => {
  const { log, lines } = logging();
  const { streams } = captured();
  const prints = collectPrints(() => log);
  prints.during(() => {
    for (const part of ["in ", "parts\nand ", "\n", "\n   \n", "no end"]) streams.stdout.write(part);
    streams.stderr.write("trouble\n");
  });
  expect(lines).toEqual(["out in parts", "out and ", "err trouble"]);
  prints.flush();
  prints.flush();
  expect(lines.slice(3)).toEqual(["out no end"]);
});

test("two handlings at once have a line each, also in their promises and timers", async () => {
  const [one, other] = [logging(), logging()];
  const { streams } = captured();
  const say = async (word: string): Promise<void> => {
    streams.stdout.write(`${word} `);
    await new Promise<void>((resolve) => setImmediate(resolve));
    streams.stdout.write("later\n");
  };
  await Promise.all([collectPrints(() => one.log).during(() => say("one")), collectPrints(() => other.log).during(() => say("other"))]);
  expect([one.lines, other.lines]).toEqual([["out one later"], ["out other later"]]);
});

test("an endless line is cut into bounded entries", () => {
  const { log, lines } = logging();
  const { streams } = captured();
  const prints = collectPrints(() => log);
  prints.during(() => {
    streams.stdout.write("x".repeat(100_000));
    streams.stdout.write(`${"y".repeat(100_000)}\nshort\n`);
    for (let i = 0; i < 20; i++) streams.stdout.write("z".repeat(1_000));
  });
  prints.flush();
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual("out ".length + 8_192);
  expect(lines).toContain("out short");
  expect(
    lines
      .filter((line) => line.includes("z"))
      .join("")
      .replaceAll(/[^z]/g, "").length,
  ).toBeGreaterThan(16_000);
});

test("text outside a handling is written as it is, until it has a log", () => {
  const { log, lines } = logging();
  const { streams, written, prints } = captured();
  streams.stdout.write("before\n");
  prints.elsewhere(log);
  streams.stdout.write("after\n");
  streams.stderr.write(Buffer.from("bytes\n"));
  expect([written, lines]).toEqual([["stdout before\n"], ["out after", "err bytes"]]);
});

test("the one who waits for a write is told that it is done, with or without an encoding", async () => {
  const { streams } = captured();
  const { log } = logging();
  const done = await collectPrints(() => log).during(() =>
    Promise.all([
      new Promise<string>((resolve) => void streams.stdout.write("a\n", () => resolve("plain"))),
      new Promise<string>((resolve) => void streams.stdout.write("b\n", "utf8", () => resolve("encoded"))),
    ]),
  );
  expect(done).toEqual(["plain", "encoded"]);
});
