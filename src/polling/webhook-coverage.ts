/** Measures the reliability of webhooks: events that polls found and no delivery reported count against them. */
import type { NewEvent } from "../contract/event.ts";
import type { Clock } from "../core/clock.ts";
import type { Handle } from "../core/ids.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import { groupsOf, newsOf, type ReportedNews } from "./news-id.ts";
import type { StoredCoverage } from "../store/deliveries.ts";

export type WebhookState = "unknown" | "healthy" | "doubtful" | "unhealthy";

export interface CoverageShown extends Omit<StoredCoverage, "kinds"> {
  readonly state: WebhookState;
}

/** Stores a specialist's coverage. */
export type SaveCoverage = (handle: Handle, health: StoredCoverage) => void;

export interface WebhookCoverage {
  /** Records new events that a poll found. */
  found(handle: Handle, events: readonly NewEvent[]): void;
  /** Records news that a delivery of this kind reported. */
  reported(handle: Handle, kind: string, news: readonly ReportedNews[]): void;
  /** Called when deliveries go to another address: it proves itself from the beginning. */
  restart(handle: Handle): void;
  of(handle: Handle): CoverageShown;
  /**
   * Returns true if polls for this kind may slow down: deliveries are reliable, and have reported it before. A network may report some
   * kinds only.
   */
  covers(handle: Handle, kind: string): boolean;
  /** Relies on no delivery to a specialist until `resume`, because none can be verified. */
  suspend(handle: Handle): void;
  resume(handle: Handle): void;
  /**
   * Continues from the stored coverage of an earlier process, and stores changes from now on: at once for the state or the kinds, else each
   * ten minutes.
   */
  keepOn(kept: ReadonlyMap<Handle, StoredCoverage>, keep: SaveCoverage): void;
  /** Stores pending changes. */
  flush(): void;
}

/** Delay of a delivery after a poll that does not count as missed. */
const GRACE_MS = 2 * MINUTE;
/** Events of our downtime are redelivered later than polls find them. */
const AWAY_GRACE_MS = 10 * MINUTE;
/** Counts of many specialists are rows of theirs each time; after a kill they lack the last minutes. */
const KEEP_EVERY_MS = 10 * MINUTE;
/** Consecutive misses after which polls no longer rely on deliveries. */
const UNHEALTHY_AFTER = 3;
const HEALTHY_AFTER = 3;
const REMEMBERED_MS = HOUR;
/** Per specialist and list. */
const MAX_REMEMBERED = 1_000;

interface Coverage {
  reported: number;
  missed: number;
  missedInRow: number;
  lastReportedAt: number | undefined;
  /** Kinds that deliveries have reported: only those can be missed. */
  readonly kinds: Set<string>;
  /** News recently reported by deliveries, with its time. */
  readonly recent: Map<string, number>;
  /** No time in it is earlier. */
  oldest: number;
  /** Recent reports that did not name their object, and that no poll has matched yet: each stands for one event. */
  readonly credits: Credit[];
  /** News that polls found and no delivery has reported yet. */
  readonly waiting: Map<string, Found>;
  /** The last stored version: its time, state and number of kinds. */
  keptAt: number;
  keptState: WebhookState;
  keptKinds: number;
}

interface Credit {
  readonly oneOf: string;
  readonly at: number;
}

interface Found {
  readonly at: number;
  readonly groups: readonly string[];
}

export const NOTHING_REPORTED: StoredCoverage = { reported: 0, missed: 0, missedInRow: 0, lastReportedAt: undefined, kinds: [] };
/** A network reports to an author only the replies to itself, so replies in watched threads prove nothing. */
const NO_EVIDENCE: readonly string[] = ["reply.created"];

export function createWebhookCoverage(clock: Clock): WebhookCoverage {
  const coverages = new Map<Handle, Coverage>();
  const keeper = createKeeper(clock);
  const suspended = new Set<Handle>();
  let countsFrom = -Infinity;
  const coverageOf = (handle: Handle, now: number): Coverage => {
    const known = coverages.get(handle);
    if (known !== undefined) return countMissed(known, now);
    const fresh = newCoverage(NOTHING_REPORTED);
    coverages.set(handle, fresh);
    return fresh;
  };

  const of = (handle: Handle): CoverageShown => {
    const known = coverages.get(handle);
    if (known === undefined) return { state: "unknown", reported: 0, missed: 0, missedInRow: 0, lastReportedAt: undefined };
    const { reported, missed, missedInRow, lastReportedAt } = countMissed(known, clock.now());
    return { state: stateOf(reported, missedInRow), reported, missed, missedInRow, lastReportedAt };
  };

  return {
    found(handle, events) {
      const coverage = coverages.get(handle);
      if (coverage === undefined) return; // no delivery has ever come: nothing to compare with
      countMissed(coverage, clock.now());
      if (clock.now() < countsFrom) return;
      for (const event of events) {
        const news = newsOf(event);
        if (event.via !== "poll" || !coverage.kinds.has(event.kind) || coverage.recent.has(news)) continue;
        const groups = groupsOf(event);
        if (!spend(coverage.credits, groups)) remember(coverage.waiting, news, { at: clock.now(), groups });
      }
      keeper.changed(handle, coverage, clock.now());
    },
    reported(handle, kind, news) {
      const now = clock.now();
      const coverage = coverageOf(handle, now);
      if (!NO_EVIDENCE.includes(kind)) coverage.kinds.add(kind);
      for (const one of news) {
        if ("oneOf" in one) credit(coverage, { ...one, at: now });
        else {
          coverage.waiting.delete(one.news);
          remember(coverage.recent, one.news, now);
          coverage.oldest = Math.min(coverage.oldest, now);
        }
      }
      coverage.reported += 1;
      coverage.missedInRow = 0;
      coverage.lastReportedAt = now;
      keeper.changed(handle, coverage, now);
    },
    restart(handle) {
      if (coverages.delete(handle)) keeper.keep(handle, newCoverage(NOTHING_REPORTED));
    },
    of,
    covers: (handle, kind) => !suspended.has(handle) && of(handle).state === "healthy" && coverages.get(handle)?.kinds.has(kind) === true,
    suspend: (handle) => void suspended.add(handle),
    resume: (handle) => void suspended.delete(handle),
    keepOn(kept, onChange) {
      for (const [handle, health] of kept) if (!coverages.has(handle)) coverages.set(handle, newCoverage(health));
      if (kept.size > 0) countsFrom = clock.now() + AWAY_GRACE_MS;
      keeper.keepBy(onChange);
    },
    flush() {
      for (const [handle, coverage] of coverages) keeper.keep(handle, countMissed(coverage, clock.now()));
    },
  };
}

/** Decides when a change of coverage is worth a write. */
function createKeeper(clock: Clock) {
  let save: SaveCoverage = () => undefined;
  const keep = (handle: Handle, coverage: Coverage): void => {
    const { reported, missed, missedInRow, lastReportedAt, kinds } = coverage;
    coverage.keptState = stateOf(reported, missedInRow);
    coverage.keptKinds = kinds.size;
    coverage.keptAt = clock.now();
    save(handle, { reported, missed, missedInRow, lastReportedAt, kinds: [...kinds] });
  };
  return {
    keep,
    keepBy: (onChange: SaveCoverage): void => void (save = onChange),
    changed(handle: Handle, coverage: Coverage, now: number): void {
      const { reported, missedInRow, kinds, keptState, keptKinds, keptAt } = coverage;
      const isKept = stateOf(reported, missedInRow) === keptState && kinds.size === keptKinds;
      if (!isKept || now - keptAt >= KEEP_EVERY_MS) keep(handle, coverage);
    },
  };
}

function newCoverage({ kinds, ...counts }: StoredCoverage): Coverage {
  const keptState = stateOf(counts.reported, counts.missedInRow);
  const kept = { keptAt: -Infinity, keptState, keptKinds: kinds.length };
  return { ...counts, ...kept, kinds: new Set(kinds), recent: new Map(), oldest: Infinity, credits: [], waiting: new Map() };
}

function stateOf(reported: number, missedInRow: number): WebhookState {
  if (missedInRow >= UNHEALTHY_AFTER) return "unhealthy";
  return reported >= HEALTHY_AFTER && missedInRow === 0 ? "healthy" : "doubtful";
}

/** Counts news as missed that has waited too long for a delivery. */
function countMissed(coverage: Coverage, now: number): Coverage {
  if (coverage.waiting.size > 0)
    for (const [news, { at }] of coverage.waiting) {
      if (at > now - GRACE_MS) break;
      coverage.waiting.delete(news);
      coverage.missed += 1;
      coverage.missedInRow += 1;
    }
  // Each delivery counts: most find nothing old.
  if (coverage.oldest <= now - REMEMBERED_MS) {
    coverage.oldest = Infinity;
    for (const [news, at] of coverage.recent) {
      if (at > now - REMEMBERED_MS) {
        coverage.oldest = at;
        break;
      }
      coverage.recent.delete(news);
    }
  }
  if (coverage.credits.length > 0) {
    const remembered = coverage.credits.findIndex(({ at }) => at > now - REMEMBERED_MS);
    coverage.credits.splice(0, remembered < 0 ? Infinity : remembered);
  }
  return coverage;
}

/** Matches the longest waiting event, else the next one a poll finds. */
function credit({ waiting, credits }: Coverage, reported: Credit): void {
  for (const [news, { groups }] of waiting) {
    if (!groups.includes(reported.oneOf)) continue;
    waiting.delete(news);
    return;
  }
  credits.push(reported);
  if (credits.length > MAX_REMEMBERED) credits.shift();
}

/** Returns true if there was a credit to spend. */
function spend(credits: Credit[], groups: readonly string[]): boolean {
  const at = credits.findIndex(({ oneOf }) => groups.includes(oneOf));
  if (at >= 0) credits.splice(at, 1);
  return at >= 0;
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_REMEMBERED) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
