/** Words: what the brakes count of each thread, author, hour and text, and what is taken back counts no longer. */
import { describe, expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { Words, type Spoken } from "../../src/live/words.ts";
import type { BrakeCaps, DraftIntent } from "../../src/specialist/intent-draft.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";

const NOW = 10 * HOUR;
const said = (over: Partial<Spoken> = {}): Spoken => ({
  seq: 1,
  operation: "posts.reply",
  thread: "t1",
  author: "ann",
  textHash: "h1",
  createdAt: NOW,
  createdRef: undefined,
  ...over,
});
const draft = (over: Partial<DraftIntent> = {}): DraftIntent => ({
  id: asIntentId("i"),
  ordinal: 0,
  operation: "posts.reply",
  input: {},
  effect: "reconciled",
  lane: "reply",
  conflictKey: "k",
  hops: 0,
  thread: "t1",
  author: "ann",
  textHash: "h1",
  ...over,
});
/** A vote, for example. */
const { thread: _thread, author: _author, textHash: _hash, ...WORDLESS } = draft();
const recent = (words: Words, one = draft(), before: readonly DraftIntent[] = [], caps: BrakeCaps = DEFAULT_BRAKES, now = NOW) =>
  words.recent(one, before, caps, now);

test("a text counts in its thread, for its author, in its hour, and as itself", () => {
  const words = new Words();
  words.say(said());
  words.say(said({ seq: 2, thread: "t2", textHash: "h2" }));
  words.say(said({ seq: 3, author: "ben", textHash: "h3", createdAt: NOW - 30 * MINUTE }));
  expect(recent(words)).toEqual({ inThread: 2, toAuthorInHour: 2, inHour: 3, sameText: 1 });
  expect(recent(words, draft({ thread: "t9", author: "cem", textHash: "h9" }))).toEqual({
    inThread: 0,
    toAuthorInHour: 0,
    inHour: 3,
    sameText: 0,
  });
});

test("earlier drafts of the same run count too", () => {
  expect(recent(new Words(), draft(), [draft(), draft({ thread: "t2", author: "ben", textHash: "h2" })])).toEqual({
    inThread: 1,
    toAuthorInHour: 1,
    inHour: 2,
    sameText: 1,
  });
});

test("an hour later a text is of another hour, and still in its thread", () => {
  const words = new Words();
  words.say(said());
  expect(recent(words, draft(), [], DEFAULT_BRAKES, NOW + HOUR - 1)).toMatchObject({ toAuthorInHour: 1, inHour: 1 });
  expect(recent(words, draft(), [], DEFAULT_BRAKES, NOW + HOUR)).toMatchObject({ inThread: 1, toAuthorInHour: 0, inHour: 0 });
});

test("the same text is a repeat within its time only, by its last use", () => {
  const words = new Words();
  words.say(said({ createdAt: NOW + 5 * MINUTE }));
  words.say(said({ seq: 2, createdAt: NOW }));
  const caps = { ...DEFAULT_BRAKES, sameTextWithinMs: 10 * MINUTE };
  expect(recent(words, draft(), [], caps, NOW + 15 * MINUTE - 1).sameText).toBe(1);
  expect(recent(words, draft(), [], caps, NOW + 15 * MINUTE).sameText).toBe(0);
});

test("words that are taken back count no longer, and leave nothing in memory", () => {
  const words = new Words();
  words.say(said());
  words.say(said({ seq: 2, textHash: "h2" }));
  words.takeBack(said());
  expect(recent(words)).toEqual({ inThread: 1, toAuthorInHour: 1, inHour: 1, sameText: 0 });
  words.takeBack(said({ seq: 2, textHash: "h2" }));
  expect(words.size).toBe(0);
});

test("an action without a text counts nothing", () => {
  const words = new Words();
  words.say(said({ textHash: undefined }));
  words.takeBack(said({ textHash: undefined }));
  expect([words.size, recent(words, WORDLESS)]).toEqual([0, { inThread: 0, toAuthorInHour: 0, inHour: 0, sameText: 0 }]);
});

test("without a cap nothing is counted", () => {
  const words = new Words();
  words.say(said());
  const caps: BrakeCaps = {
    repliesPerThread: Infinity,
    repliesPerAuthorPerHour: Infinity,
    repliesPerHour: Infinity,
    sameTextWithinMs: 0,
    hops: 4,
  };
  expect(recent(words, draft(), [draft()], caps)).toEqual({ inThread: 0, toAuthorInHour: 0, inHour: 0, sameText: 0 });
});

test("a year of texts in ever new threads keeps the list of the last hour short", () => {
  const words = new Words();
  for (let i = 0; i < 1_000; i++) {
    words.say(said({ seq: i, thread: "t", textHash: "h", createdAt: i * 10 * MINUTE }));
    recent(words, draft(), [], DEFAULT_BRAKES, i * 10 * MINUTE);
  }
  expect(words.size).toBeLessThan(100);
});

describe("an object may be its own", () => {
  test("if it made the post, and not if it only voted for it", () => {
    const words = new Words();
    words.make(said({ operation: "posts.create", createdRef: "p1" }));
    words.make(said({ createdRef: "p2" }));
    words.make(said({ operation: "posts.vote", createdRef: "p3" }));
    words.make(said({ operation: "posts.create" }));
    expect(["p1", "p2", "p3", "undefined"].map((ref) => words.mayHaveMade(ref))).toEqual([true, true, false, false]);
  });
});
