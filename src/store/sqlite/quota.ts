/** Keys, their cells and cooldowns in SQLite, with the live state of busy keys in memory. The caller owns the transaction. */
import type { DatabaseSync } from "node:sqlite";
import { LANES, type Lane } from "../../contract/operations.ts";
import type { TierLimits } from "../../contract/tiers.ts";
import { Refused } from "../../core/errors.ts";
import type { KeyId } from "../../core/ids.ts";
import { isObject, numberIn, parseJson } from "../../core/json.ts";
import type { Random } from "../../core/random.ts";
import { HOUR, SECOND } from "../../core/units.ts";
import { addToCell, cellAt, listCells, slotIndex, WINDOWS, WINDOW_SHAPES, type WindowName } from "../../limits/window-counts.ts";
import { believeDownwards, ownWindowPauseMs } from "../../limits/server-hints.ts";
import { DEFAULT_FLOORS, type LaneFloors } from "../../limits/lanes.ts";
import { clearCooldown, pauseKey, startCooldown, type Cooldown } from "../../limits/cooldown.ts";
import {
  changeLimits,
  charge,
  deltaAt,
  inherit,
  newQuota,
  quotaUse,
  recover,
  refund,
  completeAttempt,
  type CellDelta,
  type QuotaState,
} from "../../limits/quota.ts";
import type { AttemptEnd } from "../../limits/verdict.ts";
import type { Ahead } from "../../limits/ledger-clock.ts";
import { ClockDoubt } from "./clock-correction.ts";
import { PendingCells, type PendingCell } from "./pending-cells.ts";
import { statements, type OpenRequest, type OpenRequests } from "./quota-statements.ts";

/** Keys whose state is kept in memory; beyond it the longest loaded ones without requests in flight are dropped. */
export const MAX_CACHED_KEYS = 20_000;
/** Interval at which the ledger's time is stored: a lag of that size after a crash errs on the safe side. */
const TIME_STEP_MS = 5 * SECOND;
/** Interval at which a busy key deletes its expired cells. */
const OWN_PRUNE_MS = HOUR;
const SPAN: { readonly [name in WindowName]: number } = { hour: 0, day: 1 };

interface Cached {
  readonly state: QuotaState;
  prunedAt: number;
}

export interface Ended {
  /** The cooldown after a 429. */
  readonly parked: Cooldown | undefined;
  /** External calls that the server's headers revealed. */
  readonly foreign: number;
  /** The time from which the request ages; undefined if it never left. */
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
  readonly #doubt: ClockDoubt;
  readonly #open: OpenRequests;
  readonly #pending = new PendingCells();
  #seenAt: number | undefined;
  /** True if requests may have been counted while time stood still, by this process or an earlier one. Undefined before it is read. */
  #mayHaveStood: boolean | undefined;
  #pruneFrom = "";

  constructor(db: DatabaseSync, options: QuotaTableOptions) {
    this.#sql = statements(db);
    this.#options = options;
    this.#doubt = new ClockDoubt(db);
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
    this.passTime(now);
    charge(this.#cached(key).state, now, lane, cost);
  }

  /** Called at the end of an attempt, in the transaction that closes its row, before this key is loaded again in it. */
  end(end: AttemptEnd, now: number): Ended {
    this.passTime(now);
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
    this.#save(end.key, delta);
    if (now - entry.prunedAt > OWN_PRUNE_MS) {
      if (entry.prunedAt > 0) this.#pruneKey(end.key, now);
      entry.prunedAt = now;
    }
    return { ...this.#heed(end, state, now), countedAt: delta.at };
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
      this.#sql.addOne.run(end.key, SPAN[delta.window], delta.cell, delta.slot, delta.count);
      foreign = Math.max(foreign, delta.count);
    }
    return { parked, foreign };
  }

  /**
   * At the start, before any admission: counts the attempts a crash left open, from now on. The caller adds their answers in the same
   * transaction: `onCounted` gets the time from which each counts. Returns the number of requests found.
   */
  recoverOpen(now: number, onCounted: (open: OpenRequest, at: number) => void): number {
    this.forget();
    if (now < this.seenAt()) this.#stands();
    const at = Math.max(now, this.seenAt());
    let found = 0;
    for (const open of this.#open.all()) {
      found += open.cost;
      for (const delta of recover(newQuota({ perHour: 1, perDay: 1 }), at, [open], this.#options.lateLandingMs)) {
        this.#save(open.key, delta);
        onCounted(open, delta.at);
      }
    }
    return found;
  }

  /** Counts an answer whose cells were not written before the process ended. */
  replay(key: KeyId, lane: Lane, cost: number, countedAt: number): void {
    this.#save(key, deltaAt(countedAt, slotIndex(lane), cost));
  }

  /** Cells that are only in memory. */
  get pendingCells(): readonly PendingCell[] {
    return this.#pending.all();
  }

  /** Writes all cells that are only in memory. */
  flush(): void {
    for (const { key, span, cell, slot, count } of this.#pending.take()) this.#sql.addOne.run(key, span, cell, slot, count);
    this.#options.onFlush?.();
  }

  /** A regenerated key takes over its predecessor's usage, once; both must be registered. Returns false the second time. */
  inherit(from: KeyId, to: KeyId, now: number): boolean {
    if (from === to || Number(this.#sql.succeed.run(to, from).changes) === 0) return false;
    this.flush();
    const heir = this.load(to);
    inherit(this.load(from), heir, now, this.#options.lateLandingMs);
    this.#sql.clear.run(to);
    for (const name of WINDOWS)
      for (const row of listCells(heir[name])) this.#sql.addOne.run(to, SPAN[name], row.cell, row.slot, row.count);
    this.#savePark(to, heir);
    return true;
  }

  /** The time at which the ledger continues after a restart: at most five seconds before the last time it passed on. */
  seenAt(): number {
    this.#seenAt ??= Number(this.#sql.time.get()?.["seen_at"] ?? 0);
    return this.#seenAt;
  }

  /**
   * The ledger's time, never before the last one seen. Call it in a transaction, before a key is loaded in it.
   *
   * A wall clock that is behind when a process starts makes this time stand still, and requests meanwhile are counted at that one moment.
   * When the clock is right again, their age is unknown: so they count from then on.
   */
  passTime(asked: number): number {
    const seenAt = this.seenAt();
    if (asked < seenAt) this.#stands();
    if (asked - seenAt < TIME_STEP_MS) return Math.max(asked, seenAt);
    this.#mayHaveStood ??= this.#sql.stood.get()?.["stood"] === 1;
    if (this.#mayHaveStood) {
      this.#countFrom(seenAt, asked);
      this.#mayHaveStood = false;
    }
    this.#sql.saveTime.run(asked);
    this.#seenAt = asked;
    return asked;
  }

  /** Marks that time stands still: requests counted now have no time of their own, and a later process must know. */
  #stands(): void {
    if (this.#mayHaveStood === true) return;
    this.#mayHaveStood = true;
    this.#sql.saveStood.run();
  }

  /** Recounts at `now` everything counted at or after this moment. */
  #countFrom(from: number, now: number): void {
    this.flush();
    for (const name of WINDOWS) {
      const place = { span: SPAN[name], from: cellAt(WINDOW_SHAPES[name], from), to: cellAt(WINDOW_SHAPES[name], now) };
      this.#sql.gather.run(place);
      this.#sql.gathered.run(place);
    }
    this.#cache.clear();
  }

  /** The earliest possible present time. */
  earliest(now: number): number {
    return this.#doubt.earliest(now);
  }

  /** At the start: until the network has reported the time, no counted request ages by downtime. */
  beginDoubt(now: number): void {
    if (now < this.seenAt()) this.#comeBack(now);
    this.#doubt.begin(now);
    this.#seenAt = undefined;
    this.#cache.clear();
  }

  /**
   * Handles an earlier process that was ahead of this one's clock. Whichever of them is wrong, future requests count from now on: if time
   * stood still until the clock has caught up, nothing would be freed for as long, which may be years.
   */
  #comeBack(now: number): void {
    this.flush();
    for (const name of WINDOWS) {
      const [span, to, seen] = [SPAN[name], cellAt(WINDOW_SHAPES[name], now), cellAt(WINDOW_SHAPES[name], this.seenAt())];
      this.#sql.pull.run({ span, to, seen }); // requests that may still arrive keep their distance from now
      this.#sql.lifted.run({ span, from: to });
      this.#sql.land.run({ span });
    }
    this.#sql.parkBack.run({ now });
    this.#sql.timeBack.run({ now });
    this.#seenAt = now;
  }

  /**
   * Ends the doubt: the network has reported the ledger's lead, or has answered without a `Date`. Returns the overestimate of the passed
   * time.
   */
  endDoubt(ahead: Ahead | undefined, now: number): number {
    const at = Math.max(now, this.seenAt());
    const byMs = (ms: number): number => Math.max(0, ms + at - now); // while time stands still, the store is ahead of the ledger's clock
    const over = this.#doubt.end(ahead === undefined ? undefined : { leastMs: byMs(ahead.leastMs), mostMs: byMs(ahead.mostMs) }, at);
    if (over === undefined) return 0;
    this.#countFrom(over.unsureFrom, at); // first, while only requests without a known date are there
    if (over.ms > 0) this.#shift(over.ms, 0, at);
    return over.ms;
  }

  /** Corrects requests counted since `since`, `ms` too early: they count as later, and cooldowns end later. */
  redate(ms: number, since: number, now: number): void {
    this.#shift(ms, since, now);
    this.#sql.saveTime.run(now);
    this.#seenAt = Math.max(now, this.seenAt());
    this.#mayHaveStood = false;
  }

  #shift(ms: number, since: number, now: number): void {
    this.flush();
    for (const name of WINDOWS) {
      const shape = WINDOW_SHAPES[name];
      const place = { span: SPAN[name], from: cellAt(shape, since) };
      const cells = cellAt(shape, since + ms) - cellAt(shape, since) + 1;
      this.#sql.lift.run({ ...place, cells, to: cellAt(shape, now) });
      this.#sql.lifted.run(place);
      this.#sql.land.run({ span: SPAN[name] });
    }
    this.#sql.parkLater.run({ ms, over: now - ms });
    this.#cache.clear();
  }

  /** Clears the cache: after a rollback, or to free memory. Rows are the truth. */
  forget(): void {
    this.#mayHaveStood = undefined;
    this.#cache.clear();
    this.#doubt.forget();
    this.#seenAt = undefined;
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

  #read(key: KeyId, exceptAttempt: number): QuotaState {
    const row = this.#sql.key.get(key);
    if (row === undefined)
      throw new Refused("key_unregistered", "this key has no limits yet", { hint: "register it before its first request" });
    const state = newQuota({ perHour: Number(row["per_hour"]), perDay: Number(row["per_day"]) }, floorsOf(String(row["floors"])));
    const heldMs = this.#doubt.heldMs(Number(row["parked_at"]));
    state.parkedAt = Number(row["parked_at"]) + heldMs;
    state.parkedUntil = Number(row["parked_until"]) + heldMs;
    state.parkReason = String(row["park_reason"]);
    state.consecutive429s = Number(row["strikes"]);
    state.seenMs = this.seenAt();
    for (const row of this.#sql.cells.iterate(key)) {
      const cells = row["span"] === SPAN.hour ? state.hour : state.day;
      addToCell(cells, this.#doubt.heldCell(cells.shape, Number(row["cell"])), Number(row["slot"]), Number(row["used"]));
    }
    for (const { span, cell, slot, count } of this.#pending.of(key))
      addToCell(span === SPAN.hour ? state.hour : state.day, cell, slot, count);
    for (const open of this.#open.of(key, exceptAttempt)) charge(state, 0, open.lane, open.cost);
    return state;
  }

  #save(key: KeyId, { hourCell, dayCell, slot, count }: CellDelta): void {
    this.#pending.add({ key, span: SPAN.hour, cell: hourCell, slot, count });
    this.#pending.add({ key, span: SPAN.day, cell: dayCell, slot, count });
  }

  #savePark(key: KeyId, state: QuotaState): void {
    this.#sql.park.run(state.parkedAt, state.parkedUntil, state.parkReason, state.consecutive429s, key);
  }

  #pruneKey(key: string, now: number): number {
    let deleted = 0;
    for (const name of WINDOWS)
      deleted += Number(this.#sql.prune.run(key, SPAN[name], oldestCell(name, this.#doubt.earliest(now))).changes);
    return deleted;
  }
}

/** Cells below this one have left their window. */
function oldestCell(name: WindowName, now: number): number {
  const shape = WINDOW_SHAPES[name];
  return cellAt(shape, now - shape.lengthMs - shape.marginMs) - 1;
}

function floorsOf(text: string): LaneFloors {
  const given = parseJson(text);
  const floor = (lane: Lane): number => (isObject(given) ? numberIn(given, lane) : undefined) ?? DEFAULT_FLOORS[lane];
  return Object.fromEntries(LANES.map((lane) => [lane, floor(lane)])) as { [lane in Lane]: number };
}
