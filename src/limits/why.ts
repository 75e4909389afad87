/** A verdict in words: which rule, which window, which lane, since when, until when. What `retinue why` prints. */
import { showDuration } from "../core/units.ts";
import type { Verdict } from "./port.ts";

const LIFTED_BY: { readonly [rule: string]: string } = {
  halted: "retinue halt --lift",
  paused: "retinue resume",
  approval_wanted: "retinue approve or retinue reject",
  key_unusable: "a working key",
  spend_frozen: "the Guardian, who has to look at the account",
  conflict: "the outcome of that intent",
  obligations_full: "a job that is delivered or given up",
};

/** One line a fact, the reason first. Times are relative to `now` and absolute in UTC. */
export function explain(verdict: Verdict, now: number): string[] {
  if (verdict.kind === "admit") return ["nothing stands in the way: it may be sent now"];
  if (verdict.kind === "refuse")
    return [`refused: ${verdict.message}`, `rule ${verdict.code}, lane ${verdict.lane}, since ${moment(verdict.since, now)}`];
  const { rule, window, lane, since, until, message } = verdict;
  return [
    `waits: ${message}`,
    `rule ${rule}${window === undefined ? "" : `, window ${window}`}, lane ${lane}`,
    `since ${moment(since, now)}`,
    until === undefined
      ? `until lifted by ${LIFTED_BY[rule] ?? "a change elsewhere"}`
      : `until ${moment(until, now)}, if nothing else is taken before`,
  ];
}

function moment(at: number, now: number): string {
  const distance = showDuration(Math.abs(at - now));
  const relative = at === now ? "now" : at < now ? `${distance} ago` : `in ${distance}`;
  return `${new Date(at).toISOString().slice(0, 19)}Z (${relative})`;
}
