/** The jobs that residents offer: real-sized inputs, rules in the text, and checkers that know the answer from making it. */
import { Misconfigured } from "../../../core/errors.ts";
import type { Json } from "../../../core/json.ts";
import { seededRandom, type Random } from "../../../core/random.ts";
import { difference } from "./compare.ts";
import { csvToJson } from "./csv-to-json.ts";
import type { Draft, Kind } from "./job-draft.ts";
import { duplicateRows } from "./duplicate-rows.ts";
import { invoiceTotals } from "./invoice-totals.ts";
import { textStatistics } from "./text-statistics.ts";

export { residentPost } from "./resident-work.ts";

const KINDS: ReadonlyMap<string, Kind> = new Map(
  [csvToJson, invoiceTotals, duplicateRows, textStatistics].map((kind) => [kind.name, kind]),
);

/** The kinds of task a job can be. */
export const TASK_KINDS: readonly string[] = [...KINDS.keys()];

/** A job to offer. `kind` and `seed` are all that has to be kept: {@link rebuildTask} gives the rest again. */
export interface Task {
  readonly kind: string;
  readonly seed: string;
  readonly title: string;
  readonly description: string;
  readonly skills: string[];
  /** Between 4 and 100 KB as JSON. */
  readonly input: Json;
  /** Whole credits. */
  readonly reward: number;
}

/** A new task, of a random kind unless one is named. Throws `Misconfigured` (`task_kind_unknown`) for a kind that does not exist. */
export function makeTask(random: Random, kind: string = random.pick(TASK_KINDS)): Task {
  return rebuildTask({ kind, seed: random.word(12) });
}

/** The task of a kind and seed: always the same one. Throws like {@link makeTask}. */
export function rebuildTask({ kind, seed }: { readonly kind: string; readonly seed: string }): Task {
  const draft = draftOf(kind, seed);
  if (draft === undefined)
    throw new Misconfigured("task_kind_unknown", `expected one of ${TASK_KINDS.join(", ")}, got ${JSON.stringify(kind)}`);
  const { title, description, skills, input, reward } = draft;
  return { kind, seed, title, description, skills: [...skills], input, reward };
}

/** Whether a deliverable is right to the letter, and if not, where it first goes wrong (never what would be right). Never throws. */
export function checkDeliverable(
  task: { readonly kind: string; readonly seed: string },
  deliverable: Json | undefined,
): { accepted: boolean; reason: string } {
  const draft = draftOf(task.kind, task.seed);
  if (draft === undefined) return { accepted: false, reason: "no such kind of task" };
  if (deliverable === undefined || deliverable === null || deliverable === "")
    return { accepted: false, reason: "the deliverable is empty" };
  const wrong = difference(draft.answer, deliverable);
  return wrong === undefined ? { accepted: true, reason: "right in every field" } : { accepted: false, reason: wrong };
}

function draftOf(kind: string, seed: string): Draft | undefined {
  return KINDS.get(kind)?.draft(seededRandom(`${kind}:${seed}`));
}
