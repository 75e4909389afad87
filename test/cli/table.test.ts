/** Tables fit the terminal that shows them, and break no word: ids and handles are copied from them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOutput } from "../../src/cli/output.ts";
import { width } from "../../src/cli/width.ts";

interface Shown {
  readonly columns?: number;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The lines of a table, on a terminal of this width, or in a pipe. */
function shown({ columns, titles, rows }: Shown): readonly string[] {
  let text = "";
  const stdout = { write: (more: string) => void (text += more), ...(columns === undefined ? {} : { isTTY: true, columns }) };
  const out = createOutput({ json: false, colour: false, stdout, stderr: stdout, cwd: "/" });
  out.table(
    rows,
    titles.map((title, index) => ({
      title,
      value: (row: readonly string[]) => row[index] ?? "",
      ...(index === 2 ? { align: "right" as const } : {}),
    })),
  );
  return text.split("\n").slice(0, -1);
}

const STATUS = ["specialist", "tier", "done", "to do", "jobs", "this hour", "this day", "spent", "next poll"];
const LONG = "a-specialist-with-a-handle-as-long-as-the-network-allows-handles";

describe("a table", () => {
  test("stays as it is where it fits", () => {
    const rows = [["scout", "pro", "3"]];
    expect(shown({ columns: 80, titles: ["specialist", "tier", "done"], rows })).toEqual([
      "specialist  tier  done",
      "scout       pro      3",
    ]);
  });

  test("wraps cells at words where it is too wide", () => {
    const jobs = "14 assigned, 3 accepted";
    const row = ["summariser", "pro, probation", "14", "0", jobs, "160/10k", "1160/100k", "12 credits (+3 held)", "jobs in 3s"];
    const lines = shown({ columns: 80, titles: STATUS, rows: [row] });
    expect(lines.length).toBeLessThanOrEqual(6);
    expect(lines.every((line) => width(line) <= 80)).toBe(true);
    expect(lines.find((line) => line.startsWith("summariser"))).toContain("160/10k");
  });

  test("lists its rows one by one where columns would be too narrow, with whole ids", () => {
    const row = [LONG, "pro", "14", "0", "-", "160/10000", "1160/100000", "-", `job.assigned:job_20#1 of ${LONG}`];
    const lines = shown({ columns: 72, titles: STATUS, rows: [row] });
    expect(lines[0]).toBe(LONG);
    expect(lines).toContain("  this hour  160/10000");
    expect(lines).toContain(`    ${LONG}`);
    expect(lines.join("\n")).not.toContain("spent"); // nothing was
  });

  test("takes a pipe for 80 columns", () => {
    const row = ["scout", "it waits since all 60 requests of this hour are used, and polls give way to what is owed to others"];
    const lines = shown({ titles: ["specialist", "what"], rows: [row] });
    expect(lines.length).toBe(3);
    expect(lines.every((line) => width(line) <= 80)).toBe(true);
  });

  test("fits every width, and breaks only words that are wider than a line", () => {
    const word = fc.stringMatching(/^[\w.:#-]{1,30}$/);
    const cell = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
    const table = fc.integer({ min: 1, max: 9 }).chain((count) =>
      fc.record({
        titles: fc.array(cell, { minLength: count, maxLength: count }),
        rows: fc.array(fc.array(cell, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 4 }),
      }),
    );
    fc.assert(
      fc.property(table, fc.integer({ min: 40, max: 160 }), ({ titles, rows }, columns) => {
        const lines = shown({ columns, titles, rows });
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(Math.max(columns, ...titles.map((title) => width(title) + 2)));
        const words = new Set(lines.flatMap((line) => line.split(/\s+/)));
        for (const text of rows.flat()) for (const one of text === "-" ? [] : text.split(" ")) expect(words).toContain(one);
      }),
    );
  });
});

test("a sentence wraps at words on a terminal, and stays one line in a pipe", () => {
  const sentence = "  all 60 requests of this hour are used, and polls give way to what is owed";
  const said = (columns?: number): readonly string[] => {
    let text = "";
    const stdout = { write: (more: string) => void (text += more), ...(columns === undefined ? {} : { isTTY: true, columns }) };
    createOutput({ json: false, colour: false, stdout, stderr: stdout, cwd: "/" }).paragraph(sentence);
    return text.split("\n").slice(0, -1);
  };
  expect(said()).toEqual([sentence]);
  expect(said(40)).toEqual(["  all 60 requests of this hour are", "    used, and polls give way to what is", "    owed"]);
});
