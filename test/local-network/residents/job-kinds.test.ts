import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { checkDeliverable, makeTask, rebuildTask, TASK_KINDS, type Task } from "../../../src/local-network/residents/jobs/job-kinds.ts";
import { EXAMPLES, fitted } from "./examples.ts";
import { junk, nearMisses } from "./mutations.ts";
import { SOLVERS } from "./reference/index.ts";
import { object, type Solver } from "./reference/read.ts";

const SEEDS = 50;

function solver(kind: string): Solver {
  const found = SOLVERS[kind];
  if (found === undefined) throw new Error(`no reference solver for ${kind}`);
  return found;
}

const made = new Map<string, Task[]>();

/** The first tasks of a kind, made once. */
function tasks(kind: string, count = SEEDS): Task[] {
  const random = seededRandom(`tests of ${kind}`);
  const all = made.get(kind) ?? Array.from({ length: SEEDS }, () => makeTask(random, kind));
  made.set(kind, all);
  return all.slice(0, count);
}

const solved = new Map<Task, Json>();

function solve(task: Task): Json {
  const answer = solved.get(task) ?? solver(task.kind)(task.description, object(task.input));
  solved.set(task, answer);
  return answer;
}

/** The description of the first task whose text has these words. */
function variantOf(kind: string, words: string): string {
  const random = seededRandom(1);
  for (let i = 0; i < 200; i++) {
    const { description } = makeTask(random, kind);
    if (description.includes(words)) return description;
  }
  throw new Error(`no ${kind} task says ${JSON.stringify(words)}`);
}

it("every kind has a reference solver and a hand-worked example", () => {
  expect(TASK_KINDS).toEqual(["csv-to-json", "invoice-totals", "duplicate-rows", "text-statistics"]);
  expect(Object.keys(SOLVERS).toSorted()).toEqual(TASK_KINDS.toSorted());
  expect(EXAMPLES.map((example) => example.kind).toSorted()).toEqual(TASK_KINDS.toSorted());
});

describe.each(TASK_KINDS)("%s", (kind) => {
  it("a kind and a seed always give the same task", () => {
    const some = tasks(kind, 5);
    for (const task of some) expect(rebuildTask({ kind: task.kind, seed: task.seed })).toEqual(task);
    expect(new Set(some.map((task) => JSON.stringify(task.input))).size).toBe(5);
  });

  it("inputs are real-sized, texts readable, rewards whole", () => {
    for (const task of tasks(kind)) {
      const bytes = Buffer.byteLength(JSON.stringify(task.input));
      expect(bytes).toBeGreaterThan(4_000);
      expect(bytes).toBeLessThan(100_000);
      expect(task.description.length).toBeLessThan(3_000);
      expect(task.title.length).toBeLessThan(100);
      expect(task.skills.length).toBeGreaterThan(0);
      expect(Number.isSafeInteger(task.reward) && task.reward > 0).toBe(true);
    }
  });

  it("the reference solver agrees with the answer worked out by hand", () => {
    for (const example of EXAMPLES.filter((one) => one.kind === kind)) {
      const description = variantOf(kind, example.variant);
      const { input, answer } = fitted(example, description);
      expect(solver(kind)(description, input)).toEqual(answer);
    }
  });

  it("work that follows the description is accepted", () => {
    for (const task of tasks(kind)) expect({ seed: task.seed, ...checkDeliverable(task, solve(task)) }).toMatchObject({ accepted: true });
  });

  it("one wrong field, item or order is enough to be rejected, with a reason", () => {
    const random = seededRandom(kind);
    let tried = 0;
    for (const task of tasks(kind)) {
      for (const { name, deliverable } of nearMisses(random, solve(task))) {
        const verdict = checkDeliverable(task, deliverable);
        expect({ name, seed: task.seed, accepted: verdict.accepted }).toMatchObject({ accepted: false });
        expect(verdict.reason.length).toBeGreaterThan(10);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(10 * SEEDS);
  });

  it("junk of any shape is rejected and never throws", () => {
    for (const task of tasks(kind, 3))
      for (const deliverable of junk(solve(task))) expect(checkDeliverable(task, deliverable).accepted).toBe(false);
  });

  it("the answer to another task of the kind is rejected", () => {
    const some = tasks(kind, 10);
    some.forEach((task, i) => expect(checkDeliverable(task, solve(some[(i + 1) % some.length] ?? task)).accepted).toBe(false));
  });

  it("every reason the description names turns up in the inputs", () => {
    const codes = new Set<string>();
    const seen = new Set<string>();
    for (const task of tasks(kind)) {
      for (const [, code] of task.description.matchAll(/^- `([a-z]+_[a-z_]+)`/gm)) codes.add(code ?? "");
      for (const [, reason] of JSON.stringify(object(solve(task))["errors"] ?? []).matchAll(/"reason":"(\w+)"/g)) seen.add(reason ?? "");
    }
    // A text's statistics have no errors.
    expect(codes.size).toBeGreaterThanOrEqual(kind === "text-statistics" ? 0 : 3);
    for (const code of codes) expect([...seen]).toContain(code);
  });
});

it("a verdict never quotes the deliverable nor what would be right", () => {
  const task = makeTask(seededRandom(4), "duplicate-rows");
  const answer: JsonObject = object(solve(task));
  const { reason } = checkDeliverable(task, { ...answer, "\u001b[2J<script>": 1 });
  expect(reason).toBe("the deliverable has 1 field that the job does not ask for");
  expect(checkDeliverable(task, { ...answer, unique: 123_456_789 }).reason).toBe("unique is wrong");
});

it("no JSON whatsoever makes the checker throw, nor is it accepted", () => {
  const task = makeTask(seededRandom(6), "text-statistics");
  const rejects = fc.property(fc.jsonValue(), (value) => !checkDeliverable(task, value as Json).accepted);
  expect(fc.check(rejects, { seed: 6, numRuns: 300 })).toMatchObject({ failed: false, numRuns: 300 });
});

it("the order of fields does not matter", () => {
  const task = makeTask(seededRandom(4), "text-statistics");
  const answer = object(solve(task));
  expect(checkDeliverable(task, Object.fromEntries(Object.entries(answer).toReversed())).accepted).toBe(true);
});

it("a kind that does not exist is an error to make and a refusal to check", () => {
  expect(() => makeTask(seededRandom(1), "poetry")).toThrow(/expected one of csv-to-json, .*got "poetry"/);
  expect(checkDeliverable({ kind: "poetry", seed: "x" }, {})).toEqual({ accepted: false, reason: "no such kind of task" });
  expect(checkDeliverable({ kind: "__proto__", seed: "x" }, {}).accepted).toBe(false);
});
