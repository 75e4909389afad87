/** The planted bugs still fit the source, and the simulation still bites. The whole hunt is `score.ts`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { BUGS } from "./bugs.ts";
import { edited, hunt, plant } from "./plant.ts";

/** One of each kind that the first seed or two catch, so that the hunt is short. */
const QUICK = ["quota refunded on unknown", "unknown is sent again at once", "money freed in doubt"];
const FEW_SEEDS = 3;

describe("each planted bug", () => {
  test("has a name of its own", () => {
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  });

  test.each(BUGS)("can still be planted: $name", (bug) => {
    expect(edited(bug).size).toBeGreaterThan(0);
  });

  test("whose place has changed is refused", () => {
    const edits = [{ file: "src/limits/decide.ts", find: "this stands nowhere", replace: "" }];
    expect(() => edited({ name: "gone", edits })).toThrow(
      /gone: expected "this stands nowhere" once in src\/limits\/decide.ts, got it 0 times/,
    );
  });
});

test.each(BUGS.filter(({ name }) => QUICK.includes(name)))("$name: caught within a few seeds", (bug) => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-bugs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect(hunt(plant(bug, folder), FEW_SEEDS)).toMatchObject({ caught: true });
});
