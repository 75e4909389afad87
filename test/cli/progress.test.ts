/** Progress of a running command: written together, in order, and for people no more of it than they can read. */
import { describe, expect, test } from "vitest";
import { createOutput } from "../../src/cli/output.ts";
import { reportLines } from "../../src/cli/progress.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

function screen(json: boolean) {
  const clock = virtualClock();
  const writes: string[] = [];
  const stream = { write: (text: string) => writes.push(text) };
  const out = createOutput({ json, colour: false, stdout: stream, stderr: stream, cwd: "/", clock });
  const announcer = createAnnouncer();
  const stop = reportLines(announcer, out, clock, "The console: http://127.0.0.1:1");
  const confirm = (operation: string, target: string): void =>
    void announcer.emit("intent", {
      at: clock.now(),
      handle: asHandle("scout"),
      id: asIntentId("i1"),
      operation,
      state: "confirmed",
      target,
    });
  const lines = (): readonly string[] =>
    writes
      .join("")
      .split("\n")
      .filter((line) => line !== "");
  return { clock, out, announcer, writes, stop, confirm, lines };
}

describe("progress", () => {
  test("that comes together is written together, in order, within 25 ms", async () => {
    const { clock, confirm, writes, lines } = screen(false);
    for (let n = 0; n < 10; n++) confirm("posts.reply", `p${n}`);
    expect(writes).toEqual([]);
    await clock.advance(25);
    expect(writes).toHaveLength(1);
    expect(lines().map((line) => line.replace(/^.*?  /, ""))).toEqual(Array.from({ length: 10 }, (_, n) => `scout replied to p${n}`));
  });

  test("stands before what is printed after it", () => {
    const { out, confirm, lines } = screen(false);
    confirm("posts.reply", "p1");
    out.line("done");
    expect(lines().map((line) => line.slice(-2))).toEqual(["p1", "ne"]);
  });

  test("that waits is written at the end of a command, and leaves no timer", () => {
    const { clock, out, stop, confirm, lines } = screen(false);
    confirm("posts.reply", "p1");
    stop();
    out.flush();
    expect({ lines: lines().length, timers: clock.pending() }).toEqual({ lines: 1, timers: 0 });
  });

  test("of many lines is not held in memory", () => {
    const { confirm, writes } = screen(true);
    for (let n = 0; n < 2_000; n++) confirm("posts.reply", `p${n}`);
    expect(writes.length).toBeGreaterThan(2);
    expect(Math.max(...writes.map(({ length }) => length))).toBeLessThan(66_000);
  });
});

test("the first action that asks for a yes is followed by the console's address, which has scrolled away by then", async () => {
  const { clock, announcer, confirm, lines } = screen(false);
  const ask = (id: string): void =>
    void announcer.emit("intent", {
      at: clock.now(),
      handle: asHandle("scout"),
      id: asIntentId(id),
      operation: "posts.reply",
      state: "proposed",
    });
  confirm("posts.vote", "p1");
  for (const id of ["i1", "i2"]) ask(id);
  await clock.advance(25);
  expect(lines().map((line) => line.replace(/^.*?  /, ""))).toEqual([
    "scout voted on p1",
    expect.stringContaining("retinue approve i1"),
    "The console: http://127.0.0.1:1",
    expect.stringContaining("retinue approve i2"),
  ]);
});

describe("actions that come faster than a person reads", () => {
  test("are summed up once a second, and what went wrong is told line by line", async () => {
    const { clock, announcer, confirm, lines } = screen(false);
    for (let n = 0; n < 300; n++) confirm(n % 3 === 0 ? "posts.vote" : "posts.reply", `p${n}`);
    for (let n = 0; n < 50; n++)
      announcer.emit("parked", { at: clock.now(), handle: asHandle("scout"), code: "key_missing", message: `badly ${n}` });
    await clock.advance(SECOND + 25);
    expect(lines()).toHaveLength(20 + 50 + 1);
    expect(lines().at(-1)).toMatch(
      /280 more within a second: posts\.reply confirmed 187, posts\.vote confirmed 93 \(retinue log lists them\)$/,
    );
    confirm("posts.reply", "later");
    await clock.advance(25);
    expect(lines().at(-1)).toContain("scout replied to later");
    await clock.advance(2 * SECOND);
    expect({ lines: lines().length, timers: clock.pending() }).toEqual({ lines: 72, timers: 0 });
  });

  test("are all there for a machine", async () => {
    const { clock, confirm, lines } = screen(true);
    for (let n = 0; n < 300; n++) confirm("posts.reply", `p${n}`);
    await clock.advance(25);
    expect(lines().map((line) => Reflect.get(JSON.parse(line) as object, "target"))).toEqual(
      Array.from({ length: 300 }, (_, n) => `p${n}`),
    );
  });
});
