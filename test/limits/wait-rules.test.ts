import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  blocksLane,
  endedByOrder,
  endsByTime,
  isBreakerRule,
  isStop,
  isWaitRule,
  remedyFor,
  WAIT_RULES,
  type WaitRule,
} from "../../src/limits/wait-rules.ts";

const RULES = Object.keys(WAIT_RULES) as WaitRule[];

test("docs/errors.md says what each rule is and what to do", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/errors.md"), "utf8");
  const [, waits = ""] = /^## Why an action waits\n([\s\S]*?)^## /m.exec(page) ?? [];
  // What a command answers with the same code stands with the commands.
  const commands = ["not_running", "not_defined"];
  expect(RULES.filter((rule) => !(commands.includes(rule) ? page : waits).includes(`| \`${rule}\` |`))).toEqual([]);
});

test("a wait for a person names what that person can do", () => {
  const held = { handle: "scout", id: "i1", name: "posts.create" };
  expect(Object.fromEntries(RULES.map((rule) => [rule, remedyFor(rule, held)]))).toEqual({
    halted: "retinue halt scout --lift",
    paused: "retinue resume scout",
    approval_wanted: "retinue approve i1, or retinue reject i1",
    key_unusable: expect.stringContaining("working key"),
    key_shared: expect.stringContaining("key of its own"),
    account_unknown: expect.stringContaining("state its id"),
    obligations_full: "wait until a job is delivered or given up",
    network_limit: "wait, or correct the limit in the profile",
    spend_cap: "wait, or raise the cap under spend",
    spend_frozen: "retinue unfreeze scout --reason '<what you found>'",
    drift: "retinue doctor --diff shows what changed; once it is fixed: retinue retry posts.create",
    capability: "once the network lets it through again: retinue retry posts.create",
    not_running: "retinue run",
    not_defined: expect.stringContaining("definition"),
  });
});

test("a rule about the key or a stop holds its lane, a rule about one action does not", () => {
  expect(RULES.filter(blocksLane).toSorted()).toEqual(
    [
      "halted",
      "paused",
      "key_unusable",
      "key_shared",
      "token_unavailable",
      "key_parked",
      "quota_window",
      "quota_lane",
      "not_running",
      "not_defined",
    ].toSorted(),
  );
});

test("only a time that ends the wait is shown as its end", () => {
  expect(RULES.filter(endsByTime).toSorted()).toEqual(
    ["capability", "key_parked", "network_limit", "quota_lane", "quota_window", "spend_cap"].toSorted(),
  );
});

test("each order of the Guardian ends the waits that it is about", () => {
  const endedBy = (order: Parameters<typeof endedByOrder>[1]): readonly WaitRule[] => RULES.filter((rule) => endedByOrder(rule, order));
  expect(endedBy("lift")).toEqual(["halted"]);
  expect(endedBy("resume")).toEqual(["paused"]);
  expect(endedBy("approve")).toEqual(["approval_wanted"]);
  expect(endedBy("retry")).toEqual(["drift", "capability"]);
  expect(endedBy("retry-key")).toEqual(["key_unusable"]);
  expect(endedBy("unfreeze")).toEqual(["spend_frozen"]);
  expect(RULES.filter(isStop)).toEqual(["halted", "paused"]);
});

test("a rule that the table lacks does not compile", () => {
  // @ts-expect-error -- a new rule belongs into WAIT_RULES
  const unknown: WaitRule = "tired";
  expect(isWaitRule(unknown)).toBe(false);
  // A code that the network made up is no rule of ours.
  expect(isWaitRule("constructor")).toBe(false);
  expect(isBreakerRule("drift")).toBe(true);
  expect(isBreakerRule("halted")).toBe(false);
});
