/**
 * Keys, their cells and cooldowns in SQLite, with the live state of busy keys in memory. Rows are in the time of the quota's clock, memory in
 * the time of the clock that dates everything else. The caller owns the transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Lane } from "../../contract/operations.ts";
import type { TierLimits } from "../../contract/tiers.ts";
import { Refused } from "../../core/errors.ts";
import { asKeyId, type KeyId } from "../../core/ids.ts";
import type { Random } from "../../core/random.ts";
import { HOUR } from "../../core/units.ts";
import { addToCell, cellAt, slotIndex, WINDOW_SHAPES, type CellCount, type Cells, type WindowName } from "../../limits/window-counts.ts";
import { believeDownwards, ownWindowPauseMs } from "../../limits/server-hints.ts";
import { DEFAULT_FLOORS, type LaneFloors } from "../../limits/lanes.ts";
import { clearCooldown, pauseKey, startCooldown, type Cooldown } from "../../limits/cooldown.ts";
import {
  changeLimits,
  charge,
  deltaAt,
  inheritCooldown,
  LATE_LANDING_MS,
  newQuota,
  quotaUse,
  recover,
  refund,
  completeAttempt,
  type CellDelta,
  type QuotaState,
} from "../../limits/quota.ts";
import type { AttemptEnd } from "../../limits/verdict.ts";
import type { ObservedTime } from "../../limits/ledger-clock.ts";
import { QuotaClock } from "./clock-correction.ts";
import { isInheritedCell, moveInherited, readInherited, writeInherited, type Inherited } from "./inherited-keys.ts";
import { CELLS_A_MINUTE, PendingCells, SPAN, type PendingCell } from "./pending-cells.ts";
import { floorsOf, statements, type OpenRequest, type OpenRequests } from "./quota-statements.ts";

/** Keys whose state is kept in memory; beyond it the longest loaded ones without requests in flight are dropped. */
export const MAX_CACHED_KEYS = 20_000;
/** Interval at which a busy key deletes its expired cells. */
const OWN_PRUNE_MS = HOUR;
/** Busy keys gather cells that have left the hour by minutes: those of ten seconds of a whole day are six times as many. */
const GATHERED_FROM = 500;

type CellRow = Record<string, unknown>;

interface Cached {
  readonly state: QuotaState;
  prunedAt: number;
}

export interface Ended {
  /** The cooldown after a 429. */
  readonly parked: Cooldown | undefined;
  /** External calls that the server's headers revealed. */
  readonly foreign: number;
  /** The time from which the request ages, by the quota's clock; undefined if it never left. */
  readonly countedAt: number | undefined;
}

export interface QuotaTableOptions {
  readonly random: Random;
  /** The profile's bound on late requests, if it differs from the default. */
  readonly lateLandingMs?: number;
  readonly maxCachedKeys?: number;
  readonly open: OpenRequests;
  /** Called after each flush of cells. */
  readonly onFlush?: () => void;
}

export class QuotaTable {
  readonly #sql: ReturnType<typeof statements>;
  readonly #options: QuotaTableOptions;
  readonly #cache = new Map<KeyId, Cached>();
  readonly #clock: QuotaClock;
  readonly #open: OpenRequests;
  readonly #pending = new PendingCells();
  #pruneFrom = "";

  constructor(db: DatabaseSync, options: QuotaTableOptions) {
    this.#sql = statements(db);
    this.#options = options;
    this.#clock = new QuotaClock(db);
    this.#open = options.open;
  }

  /** Registers a key, or changes its limits; its usage stays. */
  register(key: KeyId, limits: TierLimits, floors: LaneFloors = DEFAULT_FLOORS): void {
    this.#sql.register.run(key, limits.perHour, limits.perDay, JSON.stringify(floors));
    const hit = this.#cache.get(key);
    if (hit !== undefined) changeLimits(hit.state, limits, floors);
  }

  /** The live state of a key, to be read and passed to `decide`. Throws `Refused` (`key_unregistered`). */
  load(key: KeyId): QuotaState {
    return this.#cached(key).state;
  }

  /**
   * Called after `decide` admitted, in the transaction that inserts the attempt's row. Writes nothing itself: the open row preserves the
   * charge over a crash.
   */
  charge(key: KeyId, lane: Lane, cost: number, now: number): void {
    this.#clock.pass(now);
    charge(this.#cached(key).state, now, lane, cost);
  }

  /** Called at the end of an attempt, in the transaction that closes its row, before this key is loaded again in it. */
  end(end: AttemptEnd, now: number): Ended {
    this.#clock.pass(now);
    // Loaded without this attempt if it was not in memory: the order of closing its row must not matter.
    const known = this.#cache.has(end.key);
    const entry = this.#cached(end.key, end.attempt);
    const { state } = entry;
    if (end.ending === "never-left") {
      if (known) refund(state, end.lane, end.cost);
      return { parked: undefined, foreign: 0, countedAt: undefined };
    }
    if (!known) charge(state, now, end.lane, end.cost);
    const ending = end.ending === "lost" ? ({ answered: false, deadlineAt: end.deadlineAt } as const) : ({ answered: true } as const);
    const delta = completeAttempt(state, now, end.lane, end.cost, ending, this.#options.lateLandingMs);
    const countedAt = this.#save(end.key, delta);
    if (now - entry.prunedAt > OWN_PRUNE_MS) {
      if (entry.prunedAt > 0) this.#pruneKey(end.key, now);
      entry.prunedAt = now;
    }
    return { ...this.#heed(end, state, now), countedAt };
  }

  /** Applies the answer's rate limits. */
  #heed(end: AttemptEnd, state: QuotaState, now: number): Omit<Ended, "countedAt"> {
    let parked: Cooldown | undefined;
    if (end.ending === "limited") {
      parked = startCooldown(state, now, { retryAfterMs: end.retryAfterMs, admittedAt: end.admittedAt }, this.#options.random);
      if (parked.changed) this.#savePark(end.key, state);
    } else if (end.ending === "answered" && clearCooldown(state, end.admittedAt)) this.#savePark(end.key, state);
    const pauseMs = end.hints === undefined ? undefined : ownWindowPauseMs(state, end.hints);
    if (pauseMs !== undefined && pauseKey(state, now, pauseMs)) this.#savePark(end.key, state);
    let foreign = 0;
    for (const delta of end.hints === undefined ? [] : believeDownwards(state, now, end.hints)) {
      this.#addRow(end.key, delta.window, delta);
      foreign = Math.max(foreign, delta.count);
    }
    return { parked, foreign };
  }

  /**
   * At the start, before any admission: counts the attempts a crash left open, from now on. The caller adds their answers in the same
   * transaction: `onCounted` gets the time from which each counts, by the quota's clock. Returns the number of requests found.
   */
  recoverOpen(now: number, onCounted: (open: OpenRequest, at: number) => void): number {
    this.forget();
    let found = 0;
    for (const open of this.#open.all()) {
      found += open.cost;
      for (const delta of recover(newQuota({ perHour: 1, perDay: 1 }), now, [open], this.#options.lateLandingMs))
        onCounted(open, this.#save(open.key, delta));
    }
    return found;
  }

  /** Counts an answer whose cells were not written before the process ended. */
  replay(key: KeyId, lane: Lane, cost: number, countedAt: number): void {
    this.#pending.add(key, deltaAt(countedAt, slotIndex(lane), cost));
  }

  /** Keys with counts that are only in memory. */
  get countedKeys(): number {
    return this.#pending.keys;
  }

  /** Cells that are only in memory. */
  get pendingCells(): readonly PendingCell[] {
    return this.#pending.all();
  }

  /** Writes all cells that are only in memory. */
  flush(): void {
    this.#sql.add(this.#pending.take());
    this.#options.onFlush?.();
  }

  /**
   * The usage of a key until now counts from now on for the one that replaces it too, which must be registered. It is read there and not
   * copied, so that a key that comes back, or that others keep, counts each request once.
   */
  inherit(from: KeyId, to: KeyId, now: number): void {
    if (from === to) return;
    if (this.#sql.key.get(from) === undefined) return; // its rows are in another shard
    const at = now - this.#clock.lagMs;
    const open = [...this.#open.all()].filter(({ key }) => key === from);
    const until = Math.max(at, ...open.map((one) => this.#latest(one)));
    this.#sql.inherit.run(writeInherited([...this.#inherited(to), ...this.#inherited(from), [from, until]], to, at), to);
    this.#sql.inheritUses.run({ from, to, at, lateMs: this.#lateMs });
    const heir = this.load(to);
    inheritCooldown(this.load(from), heir);
    this.#savePark(to, heir);
    this.#cache.delete(to);
  }

  #inherited(key: KeyId): readonly Inherited[] {
    return readInherited(this.#sql.key.get(key)?.["inherits"]);
  }

  get #lateMs(): number {
    return this.#options.lateLandingMs ?? LATE_LANDING_MS;
  }

  /** The latest time, by the quota's clock, at which the network may count a request. */
  #latest({ deadlineAt }: OpenRequest): number {
    return deadlineAt - this.#clock.lagMs + this.#lateMs;
  }

  /** The last time stored: a later one is not far behind it. */
  seenAt(): number {
    return this.#clock.seenAt;
  }

  /** Lag of the quota's clock behind the one that dates rows. */
  lagMs(): number {
    return this.#clock.lagMs;
  }

  /** The earliest possible present time. */
  earliest(now: number): number {
    return this.#clock.earliest(now);
  }

  /** Stores that time has passed, so that a crash does not forget it. */
  passTime(now: number): void {
    this.#clock.pass(now);
  }

  /** Starts a process: until the network has stated the time, nothing ages by the time in which none ran. */
  begin(now: number): void {
    this.#clock.begin(now);
    this.#cache.clear();
  }

  /** Observes the time that an answer states, before anything is counted at `now`; undefined if it states none. */
  heed(heard: ObservedTime | undefined, now: number): void {
    const change = heard === undefined ? this.#clock.believe(now) : this.#clock.heed(heard, now);
    if (change === undefined) return;
    if (change.recountFrom !== undefined) this.#countFrom(change.recountFrom, now - this.#clock.lagMs);
    this.#cache.clear();
  }

  /** Counts everything that was counted between two times, by the quota's clock, at the later one. */
  #countFrom(from: number, to: number): void {
    this.flush();
    for (const span of Object.values(SPAN)) {
      const shape = WINDOW_SHAPES[span === SPAN.day ? "day" : "hour"];
      const place = { span, from: cellAt(shape, from), to: cellAt(shape, to) };
      this.#sql.gather.run(place);
      this.#sql.gathered.run(place);
    }
    this.#sql.usesFrom.run({ from, to });
    for (const row of this.#sql.heirs.all()) {
      const heir = asKeyId(String(row["key_id"]));
      this.#sql.inherit.run(moveInherited(row["inherits"], heir, { from, to }), heir);
    }
  }

  /** Clears the cache: after a rollback, or to free memory. Rows are the truth. */
  forget(): void {
    this.#cache.clear();
    this.#clock.forget();
  }

  /** Drops keys without requests in flight whose windows are empty: an idle key costs nothing. Returns the number of remaining keys. */
  evict(now: number): number {
    for (const [key, { state }] of this.#cache) if (quotaUse(state, now).day.used === 0) this.#cache.delete(key);
    return this.#cache.size;
  }

  /** Deletes expired cells of up to `keys` keys, in rotation. Returns the number of deleted rows. */
  prune(now: number, keys: number): number {
    let deleted = 0;
    const rows = this.#sql.keysAfter.all(this.#pruneFrom, keys);
    for (const row of rows) deleted += this.#pruneKey(String(row["key_id"]), now);
    this.#pruneFrom = rows.length < keys ? "" : String(rows.at(-1)?.["key_id"]);
    return deleted;
  }

  #cached(key: KeyId, exceptAttempt = -1): Cached {
    const hit = this.#cache.get(key);
    if (hit !== undefined) return hit;
    const made = { state: this.#read(key, exceptAttempt), prunedAt: 0 };
    this.#cache.set(key, made);
    if (this.#cache.size > (this.#options.maxCachedKeys ?? MAX_CACHED_KEYS)) this.#dropOne();
    return made;
  }

  /** Drops the longest loaded of the first few keys without requests in flight. */
  #dropOne(): void {
    let looked = 0;
    for (const [key, entry] of this.#cache) {
      this.#cache.delete(key);
      if (entry.state.inFlightTotal === 0 || ++looked > 16) return;
      this.#cache.set(key, entry);
    }
  }

  /** Loads keys into memory by one query each for all that are not there yet. */
  loadAll(keys: readonly KeyId[]): void {
    const missing = new Set(keys.filter((key) => !this.#cache.has(key))); // several specialists may have one
    if (missing.size < 2) return;
    const list = JSON.stringify([...missing]);
    const cells = new Map<string, CellRow[]>();
    for (const row of this.#sql.allCells.all(list)) {
      const known = cells.get(String(row["key_id"]));
      if (known === undefined) cells.set(String(row["key_id"]), [row]);
      else known.push(row);
    }
    for (const row of this.#sql.allKeys.all(list)) {
      const key = asKeyId(String(row["key_id"]));
      this.#cache.set(key, { state: this.#stateOf(key, row, cells.get(key) ?? [], -1), prunedAt: 0 });
    }
  }

  #read(key: KeyId, exceptAttempt: number): QuotaState {
    return this.#stateOf(key, this.#sql.key.get(key), this.#sql.cells.iterate(key), exceptAttempt);
  }

  #stateOf(key: KeyId, row: CellRow | undefined, cells: Iterable<CellRow>, exceptAttempt: number): QuotaState {
    if (row === undefined)
      throw new Refused("key_unregistered", "this key has no limits yet", { hint: "register it before its first request" });
    const state = newQuota({ perHour: Number(row["per_hour"]), perDay: Number(row["per_day"]) }, floorsOf(String(row["floors"])));
    const lagMs = this.#clock.lagMs;
    state.parkedAt = Number(row["parked_at"]) + lagMs;
    state.parkedUntil = Number(row["parked_until"]) + lagMs;
    state.parkReason = String(row["park_reason"]);
    state.consecutive429s = Number(row["strikes"]);
    state.seenMs = this.seenAt();
    const addTo = (cells: Cells, cell: number, slot: number, count: number): void =>
      addToCell(cells, cell + Math.ceil(lagMs / cells.shape.cellMs), slot, count);
    const add = (span: unknown, cell: number, slot: number, count: number): void => {
      if (span !== SPAN.day) addTo(state.hour, cell, slot, count);
      if (span !== SPAN.hour) addTo(state.day, span === SPAN.day ? cell : Math.floor(cell / CELLS_A_MINUTE), slot, count);
    };
    for (const row of cells) add(row["span"], Number(row["cell"]), Number(row["slot"]), Number(row["used"]));
    for (const { span, cell, slot, count } of this.#pending.of(key)) add(span, cell, slot, count);
    for (const open of this.#open.of(key, exceptAttempt)) charge(state, 0, open.lane, open.cost);
    for (const inherited of readInherited(row["inherits"])) this.#addInherited(inherited, add);
    return state;
  }

  /** Adds what another key has used up to a time; requests that had no answer by then count as late as they can. */
  #addInherited([key, until]: Inherited, add: (span: unknown, cell: number, slot: number, count: number) => void): void {
    const upTo: typeof add = (span, cell, slot, count) => void (isInheritedCell(span, cell, until) && add(span, cell, slot, count));
    for (const row of this.#sql.cells.all(key)) upTo(row["span"], Number(row["cell"]), Number(row["slot"]), Number(row["used"]));
    for (const { span, cell, slot, count } of this.#pending.of(key)) upTo(span, cell, slot, count);
    const last = cellAt(WINDOW_SHAPES.hour, until);
    for (const open of this.#open.all())
      if (open.key === key && this.#latest(open) <= until) add(SPAN.both, last, slotIndex(open.lane), open.cost);
  }

  /** Returns the time from which it counts, by the quota's clock. */
  #save(key: KeyId, { at, slot, count }: CellDelta): number {
    const delta = deltaAt(Math.max(at - this.#clock.lagMs, this.#clock.countsFrom), slot, count);
    this.#pending.add(key, delta);
    return delta.at;
  }

  /** Stores a cell of the memory. */
  #addRow(key: KeyId, name: WindowName, { cell, slot, count }: CellCount): void {
    this.#sql.add([{ key, span: SPAN[name], cell: cell - Math.floor(this.#clock.lagMs / WINDOW_SHAPES[name].cellMs), slot, count }]);
  }

  #savePark(key: KeyId, state: QuotaState): void {
    const lagMs = this.#clock.lagMs;
    this.#sql.park.run(state.parkedAt - lagMs, state.parkedUntil - lagMs, state.parkReason, state.consecutive429s, key);
  }

  #pruneKey(key: string, now: number): number {
    const at = now - this.#clock.lagMs;
    const [hour, day] = [oldestCell("hour", at), oldestCell("day", at)];
    const prune = (span: number, before: number): number => Number(this.#sql.prune.run(key, span, before).changes);
    let deleted = prune(SPAN.hour, hour) + prune(SPAN.day, day) + prune(SPAN.both, day * CELLS_A_MINUTE);
    if (Number(this.#sql.olderThan.get(key, SPAN.both, hour)?.["n"]) < GATHERED_FROM) return deleted;
    this.#sql.byMinute.run({ key, before: hour });
    deleted += prune(SPAN.both, hour);
    return deleted;
  }
}

/** Cells below this one have left their window. */
function oldestCell(name: WindowName, now: number): number {
  const shape = WINDOW_SHAPES[name];
  return cellAt(shape, now - shape.lengthMs - shape.marginMs) - 1;
}
