import { describe, expect, it } from "vitest";
import { skillFor } from "../../../agents/data-worker/skills/index.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { checkDeliverable, makeTask, TASK_KINDS, type Task } from "../../../src/local-network/residents/jobs/job-kinds.ts";
import { EXAMPLES, fitted } from "../../local-network/residents/examples.ts";

const SEEDS = 40;

function tasks(kind: string, count = SEEDS): Task[] {
  const random = seededRandom(`skills for ${kind}`);
  return Array.from({ length: count }, () => makeTask(random, kind));
}

describe.each(TASK_KINDS)("%s", (kind) => {
  it("the worker recognises the job by its text and its work is accepted", () => {
    for (const task of tasks(kind)) {
      const skill = skillFor({ title: task.title, description: task.description, skills: task.skills });
      const deliverable = skill?.solve(task.input);
      expect({ seed: task.seed, ...checkDeliverable(task, deliverable) }).toMatchObject({ accepted: true });
    }
  });

  it("the skill agrees with the answer worked out by hand", () => {
    for (const example of EXAMPLES.filter((one) => one.kind === kind)) {
      const task = tasks(kind, 200).find(({ description }) => description.includes(example.variant));
      const { input, answer } = fitted(example, task?.description ?? "");
      expect(skillFor({ title: "", description: task?.description ?? "", skills: [] })?.solve(input)).toEqual(answer);
    }
  });

  it("an input that is not what the text promised is an error, not a guess", () => {
    const task = tasks(kind, 1)[0];
    const skill = task === undefined ? undefined : skillFor(task);
    expect(skill).toBeDefined();
    for (const input of [null, "x", 5, [], {}, { csv: 1, text: {}, records: "no" }])
      expect(() => skill?.solve(input)).toThrow(/^expected /);
  });

  it("the same work done twice is the same deliverable", () => {
    for (const task of tasks(kind, 2)) expect(skillFor(task)?.solve(task.input)).toEqual(skillFor(task)?.solve(task.input));
  });
});

it("a job that asks for something else finds no skill", () => {
  for (const description of ["", "Write a poem about CSV and JSON.", "Translate this page to French.", "Convert the CSV to XML."])
    expect(skillFor({ title: "Convert CSV to JSON", description, skills: ["csv", "json"] })).toBeUndefined();
});

it("a job that asks for two things at once finds no skill", () => {
  const [one, two] = [tasks("csv-to-json", 1)[0], tasks("invoice-totals", 1)[0]];
  const description = `${one?.description ?? ""}\n\n${two?.description ?? ""}`;
  expect(skillFor({ title: "Two in one", description, skills: [] })).toBeUndefined();
});

describe("a hostile input takes time in proportion to its size", () => {
  const long = 200_000;
  it.each([
    ["csv-to-json", { csv: `a,b\n${'"'.repeat(long)}` }],
    ["invoice-totals", { text: `INV-1000|2026-01-01|x|${"1,111".repeat(long / 5)} EUR|1%` }],
    ["text-statistics", { text: `${".".repeat(long)}a` }],
    ["text-statistics", { text: "a'".repeat(long / 2) }],
    ["duplicate-rows", { records: [{ id: 1, name: `x${" ".repeat(long)}x`, email: "@".repeat(long), phone: "0".repeat(long) }] }],
  ])("%s", (kind, input) => {
    // The runner's time limit is what fails here: quadratic work on these takes from ten seconds to minutes.
    expect(skillFor(tasks(kind, 1)[0] ?? { title: "", description: "", skills: [] })?.solve(input)).toBeDefined();
  });
});
