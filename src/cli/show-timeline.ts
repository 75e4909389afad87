/** The timeline of one specialist in the terminal: each event, below it the actions it led to with their requests. */
import type { TimelineEvent, TimelineIntent } from "../guardian/timeline-events.ts";
import { moment } from "./format-values.ts";
import type { Output } from "./output.ts";
import { say } from "./text.ts";

export function showTimeline(events: readonly TimelineEvent[], out: Output, now: number): void {
  for (const event of events.toReversed()) {
    const { kind, id, state, at, failure, author, title, text, stepCount, actions } = event;
    out.line(say`${out.paint.dim(moment(at, now))} ${kind}: ${state} ${out.paint.dim(id)}`);
    const words = title ?? text;
    if (words !== undefined) out.line(say`  ${author ?? "somebody"}: ${words.replaceAll(/\s+/g, " ").slice(0, MAX_WORDS)}`);
    if (failure !== undefined) out.line(say`  failed ${failure.tries} ${times(failure.tries)}: ${failure.message} (${failure.code})`);
    if (stepCount > 0) out.line(`  ${stepCount} stored ${stepCount === 1 ? "step" : "steps"}`);
    for (const action of actions) showAction(action, out);
  }
}

/** Characters of a text in its line. */
const MAX_WORDS = 100;

function showAction(action: TimelineIntent, out: Output): void {
  const { id, operation, target, state, created, code, message, reason, attempts, attemptCount } = action;
  const about = target === undefined ? "" : ` ${target}`;
  const result = created === undefined ? (code ?? "") : `created ${created}`;
  out.line(say`  → ${operation}${about}: ${state}${result === "" ? "" : ` (${result})`} ${out.paint.dim(id)}`);
  if (message !== undefined) out.line(say`    ${message}`);
  if (reason !== undefined) out.line(say`    approved: ${reason}`);
  if (attemptCount === 0) return;
  const answers = attempts.map(({ outcome = "no answer yet", status }) => (status === undefined ? outcome : `${outcome} ${status}`));
  const earlier = attemptCount > attempts.length ? `${attemptCount - attempts.length} earlier, ` : "";
  out.line(say`    ${attemptCount} ${attemptCount === 1 ? "request" : "requests"}: ${earlier}${answers.join(", ")}`);
}

function times(count: number): string {
  return count === 1 ? "time" : "times";
}
