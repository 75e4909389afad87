/** A suite's section of the benchmark page: how its figures were taken, and no missed goal without a word. */
import { expect, test } from "vitest";
import { markdown } from "../../bench/harness/report.ts";
import { goal, inTurns, type Goal, type Suite } from "../../bench/harness/suite.ts";

const suite: Suite = { name: "speed", title: "Speed", repeats: inTurns, run: () => Promise.reject(new Error("not run here")) };

function section(goals: readonly Goal[], repeats: Suite["repeats"] = inTurns): string {
  const result = { columns: ["", "effects/s"], rows: [["Retinue", "5"]], conditions: ["as it ships"], goals, ratios: {}, plots: [] };
  const machine = { cpu: "c", cores: 2, memoryGb: 4, system: "s", node: "v24", loadBefore: 0 };
  return markdown({ suite: { ...suite, repeats }, result, machine, at: "2026-11-22T02:00:00.000Z", runs: 3 }, false);
}

test("goals missed for the same reason share its line, one that is met has none", () => {
  const said = section([
    goal("effects", { least: 10 }, 5, "/s", "the disk is slow"),
    goal("effects beside a peer", { least: 1 }, 0.5, " ×", "the disk is slow"),
    goal("wait", { most: 10 }, 5, " ms", "a reason that is not needed"),
  ]);
  expect(said).toContain("- Missed: effects; effects beside a peer. The disk is slow.\n- as it ships");
  expect(said).not.toContain("not needed");
});

test("a miss without a known reason says so", () => {
  expect(section([goal("effects", { least: 10 }, 5, "/s")])).toContain("- Missed: effects. Why is not known.");
});

test("the line above the table says how the suite repeats, not how often it was asked to", () => {
  expect(section([])).toContain("load before 0; median of 3 interleaved runs.");
  expect(section([], () => "each once")).toContain("load before 0; each once.");
});
