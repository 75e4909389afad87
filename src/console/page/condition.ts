/** The condition of a specialist in words: works, waits, retries, parked, retired, or not running. */
import type { SpecialistShown } from "../../guardian/status.ts";

export type Tone = "good" | "warn" | "bad" | "calm" | "accent";

export interface Condition {
  readonly word: string;
  readonly tone: Tone;
  /** The reason, in a sentence. */
  readonly because?: string;
}

type Shown = Pick<
  SpecialistShown,
  "tier" | "retired" | "parked" | "open" | "failing" | "sources" | "waits" | "held" | "cooldown" | "awaitsPast"
>;

/** Every condition that holds, worst first; never none. The same that the list is filtered by. */
export function conditionsOf({
  tier,
  retired,
  parked,
  open,
  failing,
  sources,
  waits,
  held,
  cooldown,
  awaitsPast,
}: Shown): readonly Condition[] {
  const found: Condition[] = [];
  const parkedActions = open.parked ?? 0;
  if (parked !== undefined) found.push({ word: "parked", tone: "bad", because: parked.message });
  else if (parkedActions > 0)
    found.push({
      word: "parked",
      tone: "bad",
      because: `${parkedActions} ${parkedActions === 1 ? "action" : "actions"}, until a person decides`,
    });
  if (failing !== undefined) found.push({ word: "retries", tone: "warn", because: `${failing.tries} failed in a row: ${failing.message}` });
  else if (sources.some(({ readFailure }) => readFailure !== undefined)) found.push({ word: "retries", tone: "warn" });
  if (awaitsPast !== undefined) found.push({ word: "waits", tone: "warn", because: awaitsPast.message });
  else if (cooldown !== undefined) found.push({ word: "waits", tone: "warn", because: cooldown.reason });
  else if (waits.length + held.length > 0) found.push({ word: "waits", tone: "warn" });
  if (retired) found.push({ word: "retired", tone: "calm", because: "its definition is gone; its promises are kept" });
  if (found.length > 0) return found;
  return tier === undefined
    ? [{ word: "not running", tone: "calm", because: "no definition of it is loaded" }]
    : [{ word: "works", tone: "good" }];
}

/** The source that it reads next. */
export function nextLook(sources: SpecialistShown["sources"]): { readonly name: string; readonly at: number } | undefined {
  const due = sources.flatMap(({ name, dueAt }) => (dueAt === null ? [] : [{ name, at: dueAt }]));
  return due.toSorted((a, b) => a.at - b.at)[0];
}

/** Things that went wrong without stopping it: unread gaps and failing reads. */
export function healthOf({ sources }: Pick<SpecialistShown, "sources">): readonly string[] {
  return sources.flatMap(({ name, gaps, readFailure }) => [
    ...(readFailure === undefined ? [] : [`${name} cannot be read: ${readFailure.message}`]),
    ...(gaps.length === 0 ? [] : [`${gaps.length} unread ${gaps.length === 1 ? "gap" : "gaps"} in ${name}`]),
  ]);
}
