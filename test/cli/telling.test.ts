/** What a line says of an action that a dry run kept back, or that waits for a person: all of it, and nothing that steers a terminal. */
import { expect, test } from "vitest";
import { createPaint } from "../../src/cli/text.ts";
import { actionLine } from "../../src/cli/progress.ts";
import { DESCRIBE } from "../../src/cli/describe-event.ts";
import type { JsonObject } from "../../src/core/json.ts";

const intent = { at: 0, handle: "scout", id: "i1", operation: "posts.reply", target: "post_1" };

function line(input: JsonObject, more: { readonly state?: string; readonly code?: string; readonly message?: string } = {}): string {
  const told = DESCRIBE.intent({ ...intent, state: "refused", code: "dry_run", message: "not sent: this is a dry run", input, ...more });
  return told === undefined
    ? ""
    : String(actionLine(0, "scout", told, { paint: createPaint(false), time: String })).replace(/^\S+ +scout /, "");
}

test("a dry run shows every character that would have been sent", () => {
  const content = `${"A long answer. ".repeat(40)}The end.`;
  expect(line({ content })).toBe(`would reply to post_1: "${content}"`);
  expect(line({ content: "Hi 👩‍🔧", community: "news" })).toBe('would reply to post_1: "Hi 👩‍🔧" {"community":"news"}');
  expect(line({ deliverable: { rows: [1, 2] } })).toBe('would reply to post_1: {"deliverable":{"rows":[1,2]}}');
  expect(line({})).toBe("would reply to post_1");
});

test("what would steer the terminal, or hide, is shown by its number", () => {
  const steering = "\u001B[2J\u001B]0;x\u0007\u009B2J\nnext\u202Eback\u2066\u200Bzero\u2028end\uD800";
  const shown = line({ content: steering });
  expect(shown).toBe(String.raw`would reply to post_1: "\u001b[2J\u001b]0;x\u0007\u009b2J\nnext\u202eback\u2066\u200bzero\u2028end\ud800"`);
});

test("more than ten thousand characters are cut, and the rest is counted", () => {
  const shown = line({ content: "x".repeat(25_000) });
  expect(shown).toHaveLength("would reply to post_1: ".length + 10_000 + "… (15002 more characters)".length);
  expect(shown.endsWith("x… (15002 more characters)")).toBe(true);
  const emoji = line({ content: `${"x".repeat(9_998)}👩` });
  expect(emoji).not.toMatch(/[\uD800-\uDBFF]…/);
});

test("what would make a real run wait stands behind the words", () => {
  const message = "not sent: this is a dry run; a real run would wait: halted: the cat is on the keyboard";
  expect(line({ content: "Hi" }, { message })).toBe(`would reply to post_1: "Hi" (${message})`);
});

test("what waits for a person is shown whole as well", () => {
  expect(line({ content: "y".repeat(500) }, { state: "proposed" })).toBe(
    `asks to reply to post_1 (retinue approve i1): "${"y".repeat(500)}"`,
  );
});

test("a handling that failed says where, and when it is tried again; work that was turned down says why", () => {
  const about = { at: 0, handle: "scout", event: "job.assigned:j1", kind: "job.assigned", intents: 0, message: "there is no model" };
  const place = { file: "/srv/bots/agents/scout.ts", line: 12 };
  expect(DESCRIBE.run({ ...about, ...place, result: "failed", nextAt: 5_000 })?.text).toBe(
    "failed at handling job.assigned at scout.ts:12, and will try again in 5s: there is no model",
  );
  expect(DESCRIBE.run({ ...about, result: "parked" })?.text).toBe(
    "failed at handling job.assigned for good (retinue why job.assigned:j1): there is no model",
  );
  expect(DESCRIBE.job({ at: 0, handle: "scout", job: "j1", state: "rejected", reason: "late by 4 s" })?.text).toBe(
    "had its work turned down for j1: late by 4 s",
  );
});
