/** The log as a file: every page, and harmless in a spreadsheet. */
import { expect, test } from "vitest";
import { csvText, exportLog } from "../../src/console/export-log.ts";
import type { ActionEntry, LogQuery } from "../../src/guardian/log-entries.ts";

const action = (seq: number, over: Partial<ActionEntry> = {}): ActionEntry => ({
  about: "action",
  seq,
  id: `a${seq}`,
  at: Date.UTC(2026, 10, 21),
  handle: "scout",
  operation: "posts.create",
  state: "confirmed",
  ...over,
});

async function text(format: "jsonl" | "csv", pages: readonly (readonly ActionEntry[])[]) {
  const asked: LogQuery[] = [];
  const log = async (query: LogQuery) => {
    asked.push(query);
    const page = asked.length;
    return { entries: pages[page - 1] ?? [], ...(page < pages.length ? { next: page } : {}) };
  };
  const parts: string[] = [];
  for await (const part of exportLog({ log }, { handle: "scout" }, format)) parts.push(part);
  return { text: parts.join(""), asked };
}

test("all pages are read, an empty one among them too", async () => {
  const { text: lines, asked } = await text("jsonl", [[action(3)], [], [action(1)]]);
  expect(
    lines
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([action(3), action(1)]);
  expect(asked.map(({ before, handle }) => [before, handle])).toEqual([
    [undefined, "scout"],
    [1, "scout"],
    [2, "scout"],
  ]);
});

test("a CSV has one row an entry, with times that a spreadsheet reads", async () => {
  const { text: rows } = await text("csv", [[action(1, { words: 'he said "no",\nthen left' })]]);
  const [head, ...rest] = rows.split("\r\n");
  expect(head?.split(",").slice(0, 4)).toEqual(["at", "about", "handle", "operation"]);
  expect(rest.join("\r\n")).toBe(
    '2026-11-21T00:00:00.000Z,"action","scout","posts.create",,,"confirmed",,,"he said ""no"",\nthen left",,"a1",,,,,\r\n',
  );
});

test.each(["=1+1", "+1", "-1", "@cmd", "  =1", "|calc", "%0a", "\t=1", "\n=1"])("the text %j is no formula", (formula) => {
  expect(csvText(formula).startsWith(`"'`)).toBe(true);
});

test("characters that steer a terminal are taken out", () => {
  expect(csvText("a\u001b[2Jb\u0000\u009bc")).toBe('"a [2Jb  c"');
});
