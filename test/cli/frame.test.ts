/** The live picture fits every terminal, says why a specialist waits, and cannot be steered by what others wrote. */
import { describe, expect, test } from "vitest";
import { frame, type Picture, type Size } from "../../src/cli/frame.ts";
import { bar } from "../../src/cli/format-values.ts";
import { createPaint, printable } from "../../src/cli/text.ts";
import { fit } from "../../src/cli/width.ts";
import { HOSTILE, poisoned, steered } from "../harness/hostile.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import type { SpecialistShown } from "../../src/guardian/status.ts";

const NOW = Date.UTC(2026, 10, 21, 9);
const plain = createPaint(false);

const shown: SpecialistShown = {
  handle: "data-worker",
  tier: "pro",
  accountId: "agt_1",
  retired: false,
  actions: { "jobs.apply": 7, "jobs.submit": 4 },
  open: {},
  quota: { hour: { used: 22, limit: 10_000 }, day: { used: 22, limit: 100_000 } },
  cooldown: undefined,
  money: [{ currency: "credits", postedMicros: 4_000_000, heldMicros: 0, dayMicros: 4_000_000, dayCapMicros: 20_000_000 }],
  jobs: { accepted: 1, paid: 3 },
  held: [],
  waits: [],
  parked: undefined,
  sources: [{ name: "jobs", dueAt: NOW + 3 * SECOND, gaps: [], readFailure: undefined }],
};

const picture: Picture = {
  now: NOW,
  startedAt: NOW - 10 * SECOND,
  endsAt: NOW + 50 * SECOND,
  set: "b",
  baseUrl: "http://127.0.0.1:4000/v1",
  stopping: false,
  specialists: [shown],
  held: new Map(),
  told: new Set(),
  totals: {
    jobs: { seen: 9, applied: 7, assigned: 5, delivered: 4, accepted: 4, rejected: 0, paid: 3 },
    network: { requests: 50, refused429: 0 },
  },
  places: [{ name: "My Agents", text: "http://127.0.0.1:4000/guardian  log in: q7w1zd-3k9x0b2m4" }],
  actions: [
    {
      at: NOW,
      handle: "data-worker",
      told: { text: 'was paid for "数据表 を変換する 🦊🦊🦊🦊" (job_1) and more and more and more text', tone: "good" },
    },
    { at: NOW, handle: "evil\u001B[2J", told: { text: "posted\u001B[2J\nand wrote over the next line", tone: "plain" } },
  ],
};

/** As it is written, without colours. */
const drawnFrame = (shows: Picture, size: Size): readonly string[] => frame(shows, size, plain).map((line) => printable(line).text);

const SIZES = [20, 38, 60, 76, 80, 110, 130, 240].flatMap((columns) => [1, 6, 12, 24, 60].map((rows) => ({ columns, rows })));
/** As terminals draw these characters. */
const drawn = (line: string): number =>
  Array.from(line).reduce((sum, character) => sum + (/[\u2E80-\u9FFF\u{1F000}-\u{1FAFF}]/u.test(character) ? 2 : 1), 0);

describe("the live picture", () => {
  test.each(SIZES)("fits $columns columns and $rows rows", (size) => {
    const lines = drawnFrame(picture, size);
    expect(lines.length).toBeLessThanOrEqual(Math.max(4, size.rows));
    for (const line of lines) expect(drawn(line)).toBeLessThanOrEqual(size.columns);
  });

  test.each(SIZES)("is not steered by what others wrote, in $columns columns and $rows rows", (size) => {
    const parked = { code: "x:x", message: "x", since: NOW } as const;
    const waits = [{ lane: "act", rule: "quota_lane", message: "x", since: NOW, until: NOW + MINUTE }] as const;
    const toldToWait = { until: NOW + MINUTE, reason: "x" };
    const specialists = [shown, { ...shown, parked }, { ...shown, waits }, { ...shown, toldToWait }];
    const shows: Picture = {
      ...picture,
      baseUrl: HOSTILE,
      places: [{ name: HOSTILE, text: HOSTILE }],
      specialists: poisoned(specialists, ["lane"]),
      actions: poisoned(picture.actions, ["tone"]),
      held: new Map([[HOSTILE, { until: NOW + MINUTE, message: HOSTILE }]]),
    };
    for (const paint of [plain, createPaint(true)])
      expect(frame(shows, size, paint).flatMap((line) => steered(printable(line).text))).toEqual([]);
  });

  test("says why each waits, and until when", () => {
    const text = (change: Partial<SpecialistShown>, held: Picture["held"] = new Map()): string =>
      drawnFrame({ ...picture, held, specialists: [{ ...shown, ...change }] }, { columns: 200, rows: 30 }).join("\n");
    expect(text({})).toContain("looks for jobs in 3s");
    expect(text({ parked: { code: "key_refused", message: "the network refuses the key", since: NOW } })).toContain("refuses the key");
    const wait = {
      lane: "act",
      rule: "quota_window",
      message: "all 60 requests of this hour are used",
      since: NOW,
      until: NOW + 5 * MINUTE,
    } as const;
    expect(text({ waits: [wait] })).toMatch(/waits until \d\d:\d\d:\d\d \(5m\): all 60 requests of this hour are used/);
    expect(text({}, new Map([["data-worker", { until: NOW - 1, message: "long over" }]]))).not.toContain("long over");
    expect(text({ awaitsPast: { message: "its past is read" } })).toContain("waits: its past is read");
    expect(text({ cooldown: { until: NOW + MINUTE, reason: "429" } })).toContain("the network asked it to");
    const rarely = drawnFrame(
      {
        ...picture,
        told: new Set(["data-worker"]),
        specialists: [{ ...shown, sources: [{ name: "feed", dueAt: NOW + 40 * MINUTE, gaps: [], readFailure: undefined }] }],
      },
      { columns: 200, rows: 30 },
    ).join("\n");
    expect(rarely).toContain("gets webhooks, polls in 40m");
    expect(text({ awaiting: { count: 2, until: NOW + 10 * MINUTE } })).toContain("2 to approve within 10m");
  });

  test.each([60, 80, 110, 130, 200])("has room for the reason in %i columns", (columns) => {
    const parked = { code: "key_refused", message: "the network refuses the key", since: NOW } as const;
    const lines = drawnFrame({ ...picture, specialists: [{ ...shown, parked }] }, { columns, rows: 30 });
    expect(lines.find((line) => line.startsWith("data-worker"))).toMatch(/the network refuses the/);
  });

  test.each([30, 60, 80, 110])("shows its pages and their tokens whole in %i columns, to be copied", (columns) => {
    const words = drawnFrame(picture, { columns, rows: 24 }).flatMap((line) => line.split(" "));
    expect(words).toEqual(expect.arrayContaining(["http://127.0.0.1:4000/guardian", "q7w1zd-3k9x0b2m4"]));
  });

  test("counts actions in place of the totals of a network that is not its own", () => {
    const shows = { ...picture, totals: undefined, specialists: [shown, { ...shown, actions: { "jobs.apply": 1, "posts.reply": 9 } }] };
    expect(drawnFrame(shows, { columns: 80, rows: 24 })).toContain("Done: 9 × posts.reply, 8 × jobs.apply, 4 × jobs.submit");
    expect(drawnFrame({ ...shows, specialists: [] }, { columns: 80, rows: 24 })).toContain("Done: nothing yet");
  });

  test("colours nothing where colours are off, and the words stay the same where they are on", () => {
    const size = { columns: 120, rows: 30 };
    // oxlint-disable-next-line no-control-regex -- colours are control sequences
    const bare = frame(picture, size, createPaint(true)).map((line) => printable(line).text.replace(/\u001B\[\d+m/g, ""));
    expect(bare).toEqual(drawnFrame(picture, size));
  });

  test("never shows something as nothing, and never more than all", () => {
    expect([bar(0, 100, 4), bar(1, 10_000, 4), bar(50, 100, 4), bar(300, 100, 4), bar(1, 0, 4)]).toEqual([
      "░░░░",
      "▓░░░",
      "▓▓░░",
      "▓▓▓▓",
      "▓░░░",
    ]);
    expect(fit("数据数据", 5)).toBe("数据…");
  });
});
