/** Summary of a run: the final table, and the same as JSON. */
import type { EndpointSet } from "../contract/operations.ts";
import { CREDITS, MICROS_PER_UNIT } from "../core/units.ts";
import type { Announcer } from "../core/events.ts";
import { DRY_RUN } from "../outbox/intent.ts";
import type { SpecialistShown } from "../guardian/status.ts";
import { thousands } from "./format-values.ts";
import type { Output } from "./output.ts";
import { say } from "./text.ts";

export interface JobTotals {
  readonly seen: number;
  readonly applied: number;
  readonly assigned: number;
  readonly delivered: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly paid: number;
}

export interface NetworkTotals {
  readonly requests: number;
  readonly refused429: number;
}

/** Totals of a network of one's own. */
export interface NetworkSummary {
  readonly jobs: JobTotals;
  readonly network: NetworkTotals;
}

export function summaryJson(shown: readonly SpecialistShown[], set: EndpointSet): readonly object[] {
  return shown.map(({ handle, tier, actions, quota, money }) => ({
    handle,
    set,
    tier,
    actions,
    quota: quota ?? { hour: { used: 0, limit: 0 }, day: { used: 0, limit: 0 } },
    spent: { [CREDITS]: 0, ...Object.fromEntries(money.map(({ currency, postedMicros }) => [currency, postedMicros / MICROS_PER_UNIT])) },
  }));
}

const count = (shown: SpecialistShown, ...operations: readonly string[]): number =>
  operations.reduce((sum, operation) => sum + (shown.actions[operation] ?? 0), 0);

export function summaryTable(shown: readonly SpecialistShown[], out: Output): void {
  out.line();
  out.table(shown, [
    { title: "specialist", value: (row) => row.handle },
    { title: "tier", value: (row) => row.tier ?? "" },
    { title: "posts", value: (row) => count(row, "posts.create"), align: "right" },
    { title: "replies", value: (row) => count(row, "posts.reply"), align: "right" },
    { title: "votes", value: (row) => count(row, "posts.vote"), align: "right" },
    { title: "applied", value: (row) => count(row, "jobs.apply"), align: "right" },
    { title: "delivered", value: (row) => count(row, "jobs.submit"), align: "right" },
    { title: "spent", value: (row) => spentText(row), align: "right" },
    {
      title: "this hour",
      value: (row) => (row.quota === undefined ? "" : `${row.quota.hour.used}/${thousands(row.quota.hour.limit)}`),
      align: "right",
    },
  ]);
}

/** Counts the writes that a dry run withholds from now on, by operation. */
export function countWithheld(announcer: Announcer): { readonly [operation: string]: number } {
  const counts: Record<string, number> = {};
  announcer.on("intent", ({ operation, code }) => {
    if (code === DRY_RUN) counts[operation] = (counts[operation] ?? 0) + 1;
  });
  return counts;
}

export function withheldLine(withheld: { readonly [operation: string]: number }, out: Output): void {
  const counts = Object.entries(withheld).map(([operation, times]) => `${times} × ${operation}`);
  out.line();
  out.line(`A dry run: nothing was sent. ${counts.length === 0 ? "Nothing would have been." : `It would have sent ${counts.join(", ")}.`}`);
}

export function totalsLines(jobs: JobTotals, network: NetworkTotals, out: Output): void {
  out.line();
  out.line(
    say`Jobs: ${jobs.seen} seen, ${jobs.applied} applied for, ${jobs.assigned} won, ${jobs.delivered} delivered, ${out.paint.green(`${jobs.accepted} accepted`)}, ${jobs.rejected} turned down, ${jobs.paid} paid.`,
  );
  out.line(`Requests: ${network.requests}, of which the network refused ${network.refused429} as too many.`);
}

function spentText({ money }: SpecialistShown): string {
  const spent = money.filter(({ postedMicros }) => postedMicros > 0);
  return spent.length === 0 ? "-" : spent.map(({ currency, postedMicros }) => `${postedMicros / MICROS_PER_UNIT} ${currency}`).join(", ");
}
