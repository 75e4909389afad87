/** Drift is stored with its first sight and count; unreadable answers to writes stop an operation. */
import { describe, expect, test } from "vitest";
import { createDriftLog, type DriftEntry } from "../../src/gateway/drift.ts";
import type { Outcome } from "../../src/contract/call.ts";
import type { Observation } from "../../src/contract/reading/pinned-fields.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

const note: Observation = { severity: "note", kind: "new-field", record: "post", path: "glitter", type: "string" };
const breaking: Observation = { severity: "breaking", kind: "missing-field", record: "post", path: "id at id", type: "missing" };
const unreadable: Outcome = { class: "unknown", reason: "holds no post", unreadable: true, status: 200 };
const confirmed: Outcome = { class: "confirmed", status: 200, body: undefined };

test("an entry is announced once, counted after that, and the worst come first", async () => {
  const clock = virtualClock(1_000);
  const news: DriftEntry[] = [];
  const log = createDriftLog({ clock, onSeen: (entry) => void (entry.count === 1 && news.push(entry)) });
  log.note("posts.list", [note]);
  await clock.advance(500);
  log.note("posts.list", [note, breaking]);
  expect(news).toHaveLength(2);
  expect(log.entries()).toEqual([
    { operation: "posts.list", ...breaking, firstSeenMs: 1_500, lastSeenMs: 1_500, count: 1 },
    { operation: "posts.list", ...note, firstSeenMs: 1_000, lastSeenMs: 1_500, count: 2 },
  ]);
});

test("a network that drifts at random fills no memory", () => {
  const log = createDriftLog({ clock: virtualClock() });
  for (let i = 0; i < 5_000; i++) log.note("posts.list", [{ ...note, path: `f${i}` }]);
  expect(log.entries()).toHaveLength(200);
});

test("entries of an earlier run are taken up", () => {
  const log = createDriftLog({ clock: virtualClock(9_000) });
  log.restore([{ operation: "posts.list", ...note, firstSeenMs: 5, lastSeenMs: 6, count: 7 }]);
  log.note("posts.list", [note]);
  expect(log.entries()).toMatchObject([{ firstSeenMs: 5, count: 8 }]);
});

describe("policy", () => {
  test.each([
    ["note", "go"],
    ["slow", "slow"],
    ["stop", "stop"],
  ] as const)("%s means %s after a breaking change, and nothing after a note", (policy, advice) => {
    const log = createDriftLog({ clock: virtualClock(), policy });
    log.note("posts.reply", [note]);
    expect(log.verdict("posts.reply").advice).toBe("go");
    log.note("posts.reply", [breaking]);
    expect(log.verdict("posts.reply").advice).toBe(advice);
    expect(log.verdict("posts.create").advice).toBe("go");
    log.clear("posts.reply");
    expect(log.verdict("posts.reply").advice).toBe("go");
  });
});

describe("quarantine", () => {
  test("stops an operation after three unreadable answers in a row, says so once, and waits for a person", () => {
    const stopped: string[] = [];
    const log = createDriftLog({ clock: virtualClock(77), onQuarantine: (operation) => void stopped.push(operation) });
    for (let i = 0; i < 2; i++) log.wrote("posts.reply", unreadable);
    expect(log.verdict("posts.reply").advice).toBe("go");
    for (let i = 0; i < 5; i++) log.wrote("posts.reply", unreadable);
    log.wrote("posts.reply", confirmed);
    expect(log.verdict("posts.reply")).toEqual({ advice: "stop", reason: "quarantine", sinceMs: 77 });
    expect(stopped).toEqual(["posts.reply"]);
    log.clear("posts.reply");
    expect(log.verdict("posts.reply")).toEqual({ advice: "go" });
  });

  test("forgets unreadable answers after a good one, and does not count a network in trouble", () => {
    const log = createDriftLog({ clock: virtualClock() });
    for (let i = 0; i < 10; i++) {
      log.wrote("posts.reply", unreadable);
      log.wrote("posts.reply", unreadable);
      log.wrote("posts.reply", confirmed);
      log.wrote("jobs.apply", { class: "unknown", reason: "502", status: 502 });
    }
    expect(log.verdict("posts.reply").advice).toBe("go");
    expect(log.verdict("jobs.apply").advice).toBe("go");
  });
});
