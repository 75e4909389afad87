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
  told(handle: Handle, kind: string, news: readonly ReportedNews[]): void;
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
   * Continues from the stored coverage of an earlier process, and stores changes from now on: at once for the state or the kinds, else once
   * a minute.
   */
  keepOn(kept: ReadonlyMap<Handle, StoredCoverage>, keep: SaveCoverage): void;
  /** Stores pending changes. */
  flush(): void;
}

/** Delay of a delivery after a poll that does not count as missed. */
const GRACE_MS = 2 * MINUTE;
/** Events of our downtime are redelivered later than polls find them. */
const AWAY_GRACE_MS = 10 * MINUTE;
const KEEP_EVERY_MS = MINUTE;
/** Consecutive misses after which polls no longer rely on deliveries. */
const UNHEALTHY_AFTER = 3;
const HEALTHY_AFTER = 3;
const REMEMBERED_MS = HOUR;
/** Per specialist and list. */
const MAX_REMEMBERED = 1_000;

interface Standing {
  told: number;
  missed: number;
  missedInRow: number;
  lastToldAt: number | undefined;
  /** Kinds that deliveries have reported: only those can be missed. */
  readonly kinds: Set<string>;
  /** News recently reported by deliveries, with its time. */
  readonly recent: Map<string, number>;
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

export const NOTHING_TOLD: StoredCoverage = { told: 0, missed: 0, missedInRow: 0, lastToldAt: undefined, kinds: [] };
/** A network reports to an author only the replies to itself, so replies in watched threads prove nothing. */
const NO_EVIDENCE: readonly string[] = ["reply.created"];

export function createWebhookCoverage(clock: Clock): WebhookCoverage {
  const standings = new Map<Handle, Standing>();
  const keeper = createKeeper(clock);
  const suspended = new Set<Handle>();
  let countsFrom = -Infinity;
  const standingOf = (handle: Handle, now: number): Standing => {
    const known = standings.get(handle);
    if (known !== undefined) return settle(known, now);
    const fresh = newStanding(NOTHING_TOLD);
    standings.set(handle, fresh);
    return fresh;
  };

  const of = (handle: Handle): CoverageShown => {
    const known = standings.get(handle);
    if (known === undefined) return { state: "unknown", told: 0, missed: 0, missedInRow: 0, lastToldAt: undefined };
    const { told, missed, missedInRow, lastToldAt } = settle(known, clock.now());
    return { state: stateOf(told, missedInRow), told, missed, missedInRow, lastToldAt };
  };

  return {
    found(handle, events) {
      const standing = standings.get(handle);
      if (standing === undefined) return; // no delivery has ever come: nothing to compare with
      settle(standing, clock.now());
      if (clock.now() < countsFrom) return;
      for (const event of events) {
        const news = newsOf(event);
        if (event.via !== "poll" || !standing.kinds.has(event.kind) || standing.recent.has(news)) continue;
        const groups = groupsOf(event);
        if (!spend(standing.credits, groups)) remember(standing.waiting, news, { at: clock.now(), groups });
      }
      keeper.changed(handle, standing, clock.now());
    },
    told(handle, kind, news) {
      const now = clock.now();
      const standing = standingOf(handle, now);
      if (!NO_EVIDENCE.includes(kind)) standing.kinds.add(kind);
      for (const one of news) {
        if ("oneOf" in one) credit(standing, { ...one, at: now });
        else {
          standing.waiting.delete(one.news);
          remember(standing.recent, one.news, now);
        }
      }
      standing.told += 1;
      standing.missedInRow = 0;
      standing.lastToldAt = now;
      keeper.changed(handle, standing, now);
    },
    restart(handle) {
      if (standings.delete(handle)) keeper.keep(handle, newStanding(NOTHING_TOLD));
    },
    of,
    covers: (handle, kind) => !suspended.has(handle) && of(handle).state === "healthy" && standings.get(handle)?.kinds.has(kind) === true,
    suspend: (handle) => void suspended.add(handle),
    resume: (handle) => void suspended.delete(handle),
    keepOn(kept, onChange) {
      for (const [handle, health] of kept) if (!standings.has(handle)) standings.set(handle, newStanding(health));
      if (kept.size > 0) countsFrom = clock.now() + AWAY_GRACE_MS;
      keeper.keepBy(onChange);
    },
    flush() {
      for (const [handle, standing] of standings) keeper.keep(handle, settle(standing, clock.now()));
    },
  };
}

/** Decides when a change of coverage is worth a write. */
function createKeeper(clock: Clock) {
  let tell: SaveCoverage = () => undefined;
  const keep = (handle: Handle, standing: Standing): void => {
    const { told, missed, missedInRow, lastToldAt, kinds } = standing;
    standing.keptState = stateOf(told, missedInRow);
    standing.keptKinds = kinds.size;
    standing.keptAt = clock.now();
    tell(handle, { told, missed, missedInRow, lastToldAt, kinds: [...kinds] });
  };
  return {
    keep,
    keepBy: (onChange: SaveCoverage): void => void (tell = onChange),
    changed(handle: Handle, standing: Standing, now: number): void {
      const { told, missedInRow, kinds, keptState, keptKinds, keptAt } = standing;
      const isKept = stateOf(told, missedInRow) === keptState && kinds.size === keptKinds;
      if (!isKept || now - keptAt >= KEEP_EVERY_MS) keep(handle, standing);
    },
  };
}

function newStanding({ kinds, ...counts }: StoredCoverage): Standing {
  const keptState = stateOf(counts.told, counts.missedInRow);
  const kept = { keptAt: -Infinity, keptState, keptKinds: kinds.length };
  return { ...counts, ...kept, kinds: new Set(kinds), recent: new Map(), credits: [], waiting: new Map() };
}

function stateOf(told: number, missedInRow: number): WebhookState {
  if (missedInRow >= UNHEALTHY_AFTER) return "unhealthy";
  return told >= HEALTHY_AFTER && missedInRow === 0 ? "healthy" : "doubtful";
}

/** Counts news as missed that has waited too long for a delivery. */
function settle(standing: Standing, now: number): Standing {
  for (const [news, { at }] of standing.waiting) {
    if (at > now - GRACE_MS) break;
    standing.waiting.delete(news);
    standing.missed += 1;
    standing.missedInRow += 1;
  }
  for (const [news, at] of standing.recent) {
    if (at > now - REMEMBERED_MS) break;
    standing.recent.delete(news);
  }
  if (standing.credits.length > 0) {
    const remembered = standing.credits.findIndex(({ at }) => at > now - REMEMBERED_MS);
    standing.credits.splice(0, remembered < 0 ? Infinity : remembered);
  }
  return standing;
}

/** Matches the longest waiting event, else the next one a poll finds. */
function credit({ waiting, credits }: Standing, told: Credit): void {
  for (const [news, { groups }] of waiting) {
    if (!groups.includes(told.oneOf)) continue;
    waiting.delete(news);
    return;
  }
  credits.push(told);
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
  const oldest = map.keys().next();
  if (map.size > MAX_REMEMBERED && oldest.done !== true) map.delete(oldest.value);
}
