/** The announcement of an action's result, with the beginning of its text. */
import { expect, test } from "vitest";
import { createAnnouncer, type Announcements } from "../../src/core/events.ts";
import { announceIntent, wordsOf } from "../../src/outbox/announce.ts";
import { intentOf, memberOf } from "../harness/builders.ts";

function announced(...[intent, status]: [Parameters<typeof announceIntent>[2], Parameters<typeof announceIntent>[3]]) {
  const announcer = createAnnouncer();
  const all: Announcements["intent"][] = [];
  announcer.on("intent", (one) => void all.push(one));
  announceIntent(announcer, memberOf(), intent, status, 5);
  return all;
}

test("a result says who did what to what, and why", () => {
  const intent = intentOf({ operation: "posts.reply", target: "p1", input: { content: "thanks" } });
  expect(announced(intent, { state: "refused", code: "not_allowed", message: "no" })).toEqual([
    {
      at: 5,
      handle: "scout",
      id: "i1",
      operation: "posts.reply",
      target: "p1",
      words: "thanks",
      state: "refused",
      code: "not_allowed",
      message: "no",
    },
  ]);
});

test("the whole input goes with what a person decides on, or would have been sent by a real run, and with nothing else", () => {
  const input = { content: "hello" };
  expect(announced(intentOf(), { state: "proposed" })).toMatchObject([{ input }]);
  expect(announced(intentOf(), { state: "refused", code: "dry_run", message: "" })).toMatchObject([{ input }]);
  expect(announced(intentOf(), { state: "confirmed" })[0]).not.toHaveProperty("input");
});

test("the words of an action are its title, else its content, cut with a mark", () => {
  expect([wordsOf({ title: "job", content: "text" }), wordsOf({ content: "text" }), wordsOf({}), wordsOf({ content: 5 })]).toEqual([
    "job",
    "text",
    undefined,
    undefined,
  ]);
  expect(wordsOf({ content: "x".repeat(100) })).toHaveLength(100);
  expect(wordsOf({ content: "x".repeat(101) })).toBe(`${"x".repeat(99)}…`);
});
