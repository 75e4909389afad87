/** Whether webhooks can be relied on: what polls found that no delivery had told of counts against them. */
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

/** Told what to keep of a specialist's. */
export type SaveCoverage = (handle: Handle, health: StoredCoverage) => void;

export interface WebhookCoverage {
  /** A poll brought these, new to us. */
  found(handle: Handle, events: readonly NewEvent[]): void;
  /** A delivery of this kind told of these. */
  told(handle: Handle, kind: string, news: readonly ReportedNews[]): void;
  of(handle: Handle): CoverageShown;
  /** Whether polls for this kind may rest: deliveries are healthy, and have told of it before. A network may announce some kinds only. */
  covers(handle: Handle, kind: string): boolean;
  /**
   * Goes on from what an earlier process kept, and from now on says what to keep: at once where the state or the kinds
   * change, else once a minute.
   */
  keepOn(kept: ReadonlyMap<Handle, StoredCoverage>, keep: SaveCoverage): void;
  /** Says what has not been kept yet. */
  flush(): void;
}

/** A delivery may come this much later than a poll without counting as missed. */
const GRACE_MS = 2 * MINUTE;
/** What happened while we were away is delivered again later than polls find it. */
const AWAY_GRACE_MS = 10 * MINUTE;
const KEEP_EVERY_MS = MINUTE;
/** Misses in a row after which polls no longer count on deliveries. */
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
  /** Kinds a delivery has told of before: only those can be missed. */
  readonly kinds: Set<string>;
  /** The news that deliveries told of lately, and when. */
  readonly recent: Map<string, number>;
  /** What deliveries told of lately without saying which it is, and no poll has found yet: each stands for one. */
  readonly credits: Credit[];
  /** The news that polls found and no delivery has told of yet. */
  readonly waiting: Map<string, Found>;
  /** What was last kept: when, and the state and number of kinds it had. */
  keptAt: number;
  kept: string;
}

interface Credit {
  readonly oneOf: string;
  readonly at: number;
}

interface Found {
  readonly at: number;
  readonly groups: readonly string[];
}

/** A network tells an author of replies to itself only, so replies in followed threads are no evidence. */
const NO_EVIDENCE: readonly string[] = ["reply.created"];

export function createWebhookCoverage(clock: Clock): WebhookCoverage {
  const standings = new Map<Handle, Standing>();
  const keeper = createKeeper(clock);
  let countsFrom = -Infinity;
  const standingOf = (handle: Handle): Standing => {
    const known = standings.get(handle);
    if (known !== undefined) return settle(known, clock.now());
    const fresh = newStanding({ told: 0, missed: 0, missedInRow: 0, lastToldAt: undefined, kinds: [] });
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
      keeper.changed(handle, standing);
    },
    told(handle, kind, news) {
      const standing = standingOf(handle);
      if (!NO_EVIDENCE.includes(kind)) standing.kinds.add(kind);
      for (const one of news) {
        if ("oneOf" in one) credit(standing, { ...one, at: clock.now() });
        else {
          standing.waiting.delete(one.news);
          remember(standing.recent, one.news, clock.now());
        }
      }
      standing.told += 1;
      standing.missedInRow = 0;
      standing.lastToldAt = clock.now();
      keeper.changed(handle, standing);
    },
    of,
    covers: (handle, kind) => of(handle).state === "healthy" && standings.get(handle)?.kinds.has(kind) === true,
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

/** Decides when what is known of a standing is worth a write. */
function createKeeper(clock: Clock) {
  let tell: SaveCoverage = () => undefined;
  const keep = (handle: Handle, standing: Standing): void => {
    const { told, missed, missedInRow, lastToldAt, kinds } = standing;
    standing.kept = marksOf(standing);
    standing.keptAt = clock.now();
    tell(handle, { told, missed, missedInRow, lastToldAt, kinds: [...kinds] });
  };
  return {
    keep,
    keepBy: (onChange: SaveCoverage): void => void (tell = onChange),
    changed(handle: Handle, standing: Standing): void {
      if (marksOf(standing) !== standing.kept || clock.now() - standing.keptAt >= KEEP_EVERY_MS) keep(handle, standing);
    },
  };
}

function newStanding({ kinds, ...counts }: StoredCoverage): Standing {
  const standing = { ...counts, kinds: new Set(kinds), recent: new Map(), credits: [], waiting: new Map(), keptAt: -Infinity };
  return { ...standing, kept: marksOf(standing) };
}

function marksOf({ told, missedInRow, kinds }: Pick<Standing, "told" | "missedInRow" | "kinds">): string {
  return `${stateOf(told, missedInRow)} ${kinds.size}`;
}

function stateOf(told: number, missedInRow: number): WebhookState {
  if (missedInRow >= UNHEALTHY_AFTER) return "unhealthy";
  return told >= HEALTHY_AFTER && missedInRow === 0 ? "healthy" : "doubtful";
}

/** What has waited too long for a delivery was missed. */
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
  const remembered = standing.credits.findIndex(({ at }) => at > now - REMEMBERED_MS);
  standing.credits.splice(0, remembered < 0 ? Infinity : remembered);
  return standing;
}

/** For what waits longest, else for what a poll finds next. */
function credit({ waiting, credits }: Standing, told: Credit): void {
  for (const [news, { groups }] of waiting) {
    if (!groups.includes(told.oneOf)) continue;
    waiting.delete(news);
    return;
  }
  credits.push(told);
  if (credits.length > MAX_REMEMBERED) credits.shift();
}

/** Answers whether there was one to spend. */
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
