/** The matters of which people are alerted: those that need a person, an approval that is about to run out, and a budget that is nearly spent. */
import { defined } from "../core/defined.ts";
import { HOUR, MICROS_PER_UNIT } from "../core/units.ts";
import { needsOf, type Need, type NeedKind } from "../guardian/needs-you.ts";
import type { Snapshot } from "../guardian/status.ts";

/** One matter in an alert. */
export interface Matter {
  /** Identity of the matter, stable over restarts. */
  readonly key: string;
  readonly kind: NeedKind | "budget";
  readonly handle?: string;
  /** Passed to `why`. */
  readonly subject: string;
  readonly title: string;
  readonly message: string;
  readonly since: number;
  /** End of the time to answer. */
  readonly until?: number;
}

/** An approval is about to run out in the last quarter of its time, at most an hour before its end. */
const LAST_SHARE = 0.25;
const LAST_MS = HOUR;
/** The share of a daily cap from which on a person is told. */
export const BUDGET_SHARE = 0.8;
/** They end by themselves: an action in doubt is read back, a model is asked again. */
const UNALERTED: readonly NeedKind[] = ["doubt", "model"];

export function mattersOf(status: Snapshot): readonly Matter[] {
  const needs = needsOf(status).needs.filter(({ kind }) => !UNALERTED.includes(kind));
  return [...needs.map(matterOf), ...needs.flatMap((need) => endingOf(need, status.at)), ...budgetsOf(status)];
}

function matterOf({ key, kind, handle, subject, title, message, since, until }: Need): Matter {
  return defined({ key, kind, handle, subject, title, message, since, until });
}

/** A matter of its own: it was alerted when it was asked, and is alerted once more. */
function endingOf(need: Need, now: number): readonly Matter[] {
  const { since, until, kind } = need;
  if (kind !== "approval" || until === undefined) return [];
  if (until - now > Math.min(LAST_MS, (until - since) * LAST_SHARE)) return [];
  return [{ ...matterOf(need), key: `${need.key}:ending`, title: `About to run out: ${need.title}` }];
}

function budgetsOf({ specialists, at }: Snapshot): readonly Matter[] {
  return specialists.flatMap(({ handle, money }) =>
    money.flatMap(({ currency, dayMicros, dayCapMicros }): Matter[] => {
      if (dayCapMicros === undefined || dayCapMicros === 0 || dayMicros < dayCapMicros * BUDGET_SHARE) return [];
      const [spent, cap] = [dayMicros / MICROS_PER_UNIT, dayCapMicros / MICROS_PER_UNIT];
      return [
        {
          key: `budget:${handle}:${currency}`,
          kind: "budget",
          handle,
          subject: handle,
          title: `${handle} has nearly spent its day`,
          message: `spent or held ${spent} of ${cap} ${currency} of this day`,
          since: at,
        },
      ];
    }),
  );
}
