/** Brakes: two bots never answer each other for ever. */
import { describe, expect, test } from "vitest";
import { brake } from "../../src/specialist/brakes.ts";
import type { BrakeCaps, RecentWords } from "../../src/specialist/intent-draft.ts";

const caps: BrakeCaps = { repliesPerThread: 2, repliesPerAuthorPerHour: 3, repliesPerHour: 10, sameTextWithinMs: 60_000, hops: 4 };
const quiet: RecentWords = { inThread: 0, toAuthorInHour: 0, inHour: 0, sameText: 0 };
const reply = { operation: "posts.reply", hops: 0 };

describe("words are held back", () => {
  test.each([
    ["after the last reply a thread allows", { ...quiet, inThread: 2 }, "brake_thread"],
    ["after the last reply one author gets in an hour", { ...quiet, toAuthorInHour: 3 }, "brake_author"],
    ["after the last reply of the hour", { ...quiet, inHour: 10 }, "brake_hour"],
    ["when they were said a short while ago", { ...quiet, sameText: 1 }, "brake_same_text"],
  ])("%s", (_name, words, code) => {
    expect(brake(reply, words, caps)?.code).toBe(code);
  });

  test("at the end of a chain of our own making, also where it is no reply", () => {
    expect(brake({ operation: "posts.create", hops: 5 }, quiet, caps)?.code).toBe("brake_hops");
    expect(brake({ operation: "posts.create", hops: 4 }, quiet, caps)).toBeUndefined();
  });

  test("and not one word earlier", () => {
    expect(brake(reply, { inThread: 1, toAuthorInHour: 2, inHour: 9, sameText: 0 }, caps)).toBeUndefined();
    expect(brake({ operation: "posts.create", hops: 0 }, { ...quiet, inThread: 9, inHour: 99 }, caps)).toBeUndefined();
  });
});
