/** The matters of which people are alerted: those that need a person, an approval that is about to run out, and a budget that is nearly spent. */
import { defined } from "../core/defined.ts";
import { HOUR, MICROS_PER_UNIT } from "../core/units.ts";
import { NEED_KINDS, needsOf, type Need, type NeedKind } from "../guardian/needs-you.ts";
import { BUDGET_SHARE, type MoneyShown, type Snapshot } from "../guardian/status.ts";

export type MatterKind = NeedKind | "budget";

/** One matter in an alert, or several of a kind that are not listed. */
export interface Matter {
  /** Identity of the matter, stable over restarts. */
  readonly key: string;
  readonly kind: MatterKind;
  /** Number of matters that this one stands for. Default 1. */
  readonly count?: number;
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
const ENDING = ":ending";
/** The subject of a matter that no `why` explains: the status shows it. */
export const STATUS = "status";
/** They end by themselves: an action in doubt is read back, a model is asked again. */
const UNALERTED: readonly NeedKind[] = ["doubt", "model"];

/** Budgets listed; of the other kinds the status lists as many. */
const MAX_BUDGETS = 100;

/** Matters of one kind. */
export interface Count {
  readonly total: number;
  /** Those that are not listed. */
  readonly unlisted: number;
}

export interface Matters {
  /** Bounded, kind after kind. */
  readonly matters: readonly Matter[];
  /** Exact; without the second alerts of approvals. */
  readonly counts: ReadonlyMap<MatterKind, Count>;
}

export function mattersOf(status: Snapshot): Matters {
  const { needs: all, counts } = needsOf(status);
  const needs = all.filter(({ kind }) => !UNALERTED.includes(kind));
  const budgets = budgetsOf(status);
  const listed = [...needs.map(matterOf), ...needs.flatMap((need) => endingOf(need, status.at)), ...budgets.slice(0, MAX_BUDGETS)];
  const count = (total: number, shown: number): Count => ({ total, unlisted: Math.max(0, total - shown) });
  const kinds = NEED_KINDS.filter((kind) => !UNALERTED.includes(kind));
  return {
    matters: listed,
    counts: new Map<MatterKind, Count>([
      ...kinds.map((kind) => [kind, count(counts[kind] ?? 0, needs.filter((need) => need.kind === kind).length)] as const),
      ["budget", count(budgets.length, MAX_BUDGETS)],
    ]),
  };
}

/** What is known of the matters before. */
export interface Before {
  readonly isKnown: (key: string) => boolean;
  readonly counts: ReadonlyMap<MatterKind, Count>;
}

const NONE: Count = { total: 0, unlisted: 0 };

/**
 * The matters that are new; those of a kind that are not listed are one. Where some of a kind were counted alone, one that is listed now may
 * be one of them, so only as many are new as there are more of the kind.
 */
export function newMatters({ matters, counts }: Matters, before: Before, now: number): readonly Matter[] {
  const fresh = matters.filter(({ key }) => !before.isKnown(key));
  const endings = fresh.filter(({ key }) => key.endsWith(ENDING));
  const ofKind = [...counts].flatMap(([kind, { total, unlisted }]) => {
    const listed = fresh.filter((matter) => matter.kind === kind && !matter.key.endsWith(ENDING));
    const known = before.counts.get(kind) ?? NONE;
    const grown = Math.max(0, total - known.total);
    const told = known.unlisted > 0 ? listed.slice(0, grown) : listed;
    const more = Math.min(unlisted, grown - told.length);
    return more > 0 ? [...told, moreOf(kind, more, now)] : told;
  });
  return [...ofKind, ...endings];
}

function moreOf(kind: MatterKind, count: number, now: number): Matter {
  const title = `${count} more of the kind ${kind}`;
  return { key: `more:${kind}`, kind, count, subject: STATUS, title, message: "beyond those that are listed", since: now };
}

function matterOf({ key, kind, handle, subject, title, message, since, until }: Need): Matter {
  return defined({ key, kind, handle, subject, title, message, since, until });
}

/** A matter of its own: it was alerted when it was asked, and is alerted once more. */
function endingOf(need: Need, now: number): readonly Matter[] {
  const { since, until, kind } = need;
  if (kind !== "approval" || until === undefined) return [];
  if (until - now > Math.min(LAST_MS, (until - since) * LAST_SHARE)) return [];
  return [{ ...matterOf(need), key: `${need.key}${ENDING}`, title: `About to run out: ${need.title}` }];
}

function budgetsOf({ specialists, money, at }: Snapshot): readonly Matter[] {
  return [...budgetOf(undefined, money, at), ...specialists.flatMap((one) => budgetOf(one.handle, one.money, at))];
}

/** `handle` is undefined for the Guardian's own caps. */
function budgetOf(handle: string | undefined, money: readonly MoneyShown[], since: number): readonly Matter[] {
  return money.flatMap(({ currency, dayMicros, dayCapMicros }): Matter[] => {
    if (dayCapMicros === undefined || dayCapMicros === 0 || dayMicros < dayCapMicros * BUDGET_SHARE) return [];
    const [spent, cap] = [dayMicros / MICROS_PER_UNIT, dayCapMicros / MICROS_PER_UNIT];
    return [
      defined({
        key: `budget:${handle ?? ""}:${currency}`,
        kind: "budget" as const,
        handle,
        subject: handle ?? STATUS,
        title: handle === undefined ? "All together have nearly spent the Guardian's day" : `${handle} has nearly spent its day`,
        message: `spent or held ${spent} of ${cap} ${currency} of this day`,
        since,
      }),
    ];
  });
}
