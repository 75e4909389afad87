/** Lines of a run: the whole of an action that was kept back or waits for a person, one line for a failure, nothing that steers a terminal. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPaint } from "../../src/cli/text.ts";
import { actionLine, createFilter } from "../../src/cli/progress.ts";
import { DESCRIBE } from "../../src/cli/describe-event.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { retinue } from "../harness/cli.ts";
import { folder } from "../harness/process.ts";

const intent = { at: 0, handle: "scout", id: "i1", operation: "posts.reply", target: "post_1" };

function line(input: JsonObject, more: { readonly state?: string; readonly code?: string; readonly message?: string } = {}): string {
  const told = DESCRIBE.intent({ ...intent, state: "refused", code: "dry_run", message: "not sent: this is a dry run", input, ...more });
  return told === undefined
    ? ""
    : String(actionLine({ at: 0, handle: "scout", told }, { paint: createPaint(false), time: String })).replace(/^\S+ +scout /, "");
}

test("a dry run shows every character that would have been sent", () => {
  const content = `${"A long answer. ".repeat(40)}The end.`;
  expect(line({ content })).toBe(`would reply to post_1: "${content}"`);
  expect(line({ content: "Hi 👩‍🔧", community: "news" })).toBe('would reply to post_1: "Hi 👩‍🔧" {"community":"news"}');
  expect(line({ deliverable: { rows: [1, 2] } })).toBe('would reply to post_1: {"deliverable":{"rows":[1,2]}}');
  expect(line({})).toBe("would reply to post_1");
});

test("a character that would steer the terminal, or hide, is shown by its number", () => {
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

test("the rule that would make a real run wait stands behind the words", () => {
  const message = "not sent: this is a dry run; a real run would wait: halted: the cat is on the keyboard";
  expect(line({ content: "Hi" }, { message })).toBe(`would reply to post_1: "Hi" (${message})`);
});

test("an action that waits for a person is shown whole as well", () => {
  expect(line({ content: "y".repeat(500) }, { state: "proposed" })).toBe(
    `asks to reply to post_1 (retinue approve i1): "${"y".repeat(500)}"`,
  );
});

test("a handling that failed says where, and when it is tried again; work that was turned down says why", () => {
  const about = {
    at: 0,
    handle: "scout",
    event: "job.assigned:j1",
    kind: "job.assigned",
    intents: 0,
    message: "there is no model",
    seq: 1,
    beganAt: 0,
    startedAt: 0,
  };
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

test("of a handling that fails again and again ten lines pass in a minute, and one counts the rest", () => {
  const filter = createFilter();
  const fail = (at: number, message: string) =>
    filter.take("run", {
      at,
      handle: "scout",
      event: `job.assigned:j${at}`,
      seq: at,
      beganAt: at,
      startedAt: at,
      kind: "job.assigned",
      intents: 0,
      message,
      tries: 1,
      result: "failed",
    });
  const said = Array.from({ length: 40 }, (_, at) => fail(at, `no answer for job_${at}`)).flat();
  expect(said).toHaveLength(10);
  expect(fail(41, "another mistake")).toHaveLength(1);
  expect(filter.rest(50).map(({ told }) => told.text)).toEqual(["failed at handling job.assigned: 30 more within a minute"]);
});

const FAILS_ONCE = `
import { defineSpecialist } from "retinue";
let tries = 0;
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  watch: { feed: { from: "start" } },
  on: {
    "post.created": () => {
      if (tries++ === 0) throw new Error("the model is away");
    },
  },
});
`;

test("a handling that fails is one line, before the summary", async (context) => {
  const cwd = folder(context);
  mkdirSync(join(cwd, "agents"));
  writeFileSync(join(cwd, "agents/scout.ts"), FAILS_ONCE);
  const { code, stdout, stderr } = await retinue(["demo"], {
    cwd,
    nodeOptions: ["--conditions=retinue-source"],
    until: /the model is away/,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n").filter((line) => line.includes("the model is away"))).toEqual([
    expect.stringContaining("scout failed at handling post.created at scout.ts:10, and will try again in 5s: the model is away"),
  ]);
});
