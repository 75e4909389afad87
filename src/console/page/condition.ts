/** The condition of a specialist in words: works, waits, retries, parked, retired, or not running. */
import type { SpecialistShown } from "../../guardian/status.ts";

export type Tone = "good" | "warn" | "bad" | "calm" | "accent";

export interface Condition {
  readonly word: string;
  readonly tone: Tone;
  /** The reason, in a sentence. */
  readonly because?: string;
}

type Shown = Pick<SpecialistShown, "tier" | "retired" | "parked" | "failing" | "waits" | "cooldown">;

/** Every condition that holds, worst first; never none. */
export function conditionsOf({ tier, retired, parked, failing, waits, cooldown }: Shown): readonly Condition[] {
  const found: Condition[] = [];
  if (parked !== undefined) found.push({ word: "parked", tone: "bad", because: parked.message });
  if (failing !== undefined) found.push({ word: "retries", tone: "warn", because: `${failing.tries} failed in a row: ${failing.message}` });
  if (waits.length > 0) found.push({ word: "waits", tone: "warn" });
  else if (cooldown !== undefined) found.push({ word: "waits", tone: "warn", because: cooldown.reason });
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
    ...(readFailure === undefined ? [] : [`${name} cannot be read`]),
    ...(gaps.length === 0 ? [] : [`${gaps.length} unread ${gaps.length === 1 ? "gap" : "gaps"} in ${name}`]),
  ]);
}
