/** Shows failed handlings: grouped for `status`, one with its stack for `why`, one line for `log`. */
import { defined } from "../core/defined.ts";
import type { FailingShown, AllFailing } from "../guardian/failures.ts";
import type { Reason } from "../guardian/explanation.ts";
import type { FailureEntry } from "../guardian/log-entries.ts";
import { moment } from "./format-values.ts";
import type { Described } from "./describe-event.ts";
import { shownPath, type Output } from "./output.ts";
import { say } from "./text.ts";

/** Groups shown; `--json` has more. */
const MAX_SHOWN = 20;
const MAX_MESSAGE = 200;

/** The largest group first. */
export function showFailing({ failing, failingCounts: { events, groups } }: AllFailing, at: number, cwd: string, out: Output): void {
  if (events === 0) return;
  const { paint } = out;
  out.line(paint.red(`Failing: ${counted(events, "event")}, in ${counted(groups, "way")} (retinue why <event> shows the stack)`));
  for (const group of failing.slice(0, MAX_SHOWN)) {
    const { handle, what, count, message, id } = group;
    out.paragraph(`  ${handle} ${what} × ${count}: ${beginning(message)}`);
    const place = placeText(group, cwd);
    out.line(paint.dim(`    ${[...(place === undefined ? [] : [`at ${place}`]), nextText(group, at), id].join("; ")}`));
    out.line(say`    ${paint.dim("try")} ${hintText(group.hint, place)}`);
  }
  if (groups > MAX_SHOWN) out.line(`  and ${groups - MAX_SHOWN} more (--json lists them)`);
  out.line();
}

function nextText({ count, parked, nextAt, tries }: FailingShown, at: number): string {
  const tried = `${counted(tries, "try", "tries")} so far`;
  if (parked === count) return `${tried}, parked`;
  const next = nextAt === undefined || nextAt <= at ? "tried again now" : `next try ${moment(nextAt, at)}`;
  return `${tried}, ${next}${parked === 0 ? "" : `, ${parked} parked`}`;
}

/** The hint with the place, relative to the working directory. */
export function hintText(hint: string, place: string | undefined): string {
  return place === undefined ? hint : hint.replace("mend it there", `mend ${place}`);
}

/** `agents/scout.ts:12`. */
export function placeText({ file, line }: Pick<Reason, "file" | "line">, cwd: string): string | undefined {
  return file === undefined || line === undefined ? undefined : `${shownPath(file, cwd)}:${line}`;
}

/** Tries and place of a failed handling, below its message. */
export function showFailure(reason: Reason, cwd: string, out: Output): void {
  const { tries } = reason;
  const place = placeText(reason, cwd);
  if (tries !== undefined) out.line(out.paint.dim(`    ${counted(tries, "try", "tries")} so far`));
  if (place !== undefined) out.line(say`    at ${place}`);
}

export function describeFailure({ kind, state, tries, message, file, line }: FailureEntry, cwd: string): Described {
  const place = placeText(defined({ file, line }), cwd);
  const where = place === undefined ? "" : ` at ${place}`;
  const end = { failing: "", parked: ", and is parked", handled: ", and worked then" }[state];
  return {
    text: `failed at handling ${kind} (${counted(tries, "try", "tries")}${end})${where}: ${beginning(message)}`,
    tone: state === "handled" ? "quiet" : "bad",
  };
}

/** The first line, cut: `why` has the rest. */
function beginning(text: string): string {
  const line = text.split("\n")[0] ?? "";
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
