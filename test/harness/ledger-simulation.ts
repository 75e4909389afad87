/** Drives the pure ledger in virtual time against the strict server: demand, latency, lost answers, restarts, clock jumps. */
import type { Clock } from "../../src/core/clock.ts";
import { seededRandom, type Random } from "../../src/core/random.ts";
import type { Lane } from "../../src/contract/operations.ts";
import type { TierLimits } from "../../src/contract/tiers.ts";
import { addToCell, cellAt, listCells, slotIndex } from "../../src/limits/window-counts.ts";
import {
  charge,
  newQuota,
  observe,
  recover,
  refund,
  completeAttempt,
  takeable,
  type OpenAttempt,
  type QuotaState,
} from "../../src/limits/quota.ts";
import type { LaneFloors } from "../../src/limits/lanes.ts";
import { ledgerTime, type LedgerTime } from "../../src/limits/ledger-clock.ts";
import { StrictServer, type Verdicts } from "./strict-server.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DEADLINE_MS = 30_000;
const LATE_MS = 120_000;

export interface WorldOptions {
  readonly limits: TierLimits;
  readonly days: number;
  readonly seed: number;
  /** Lanes that always want more. Default: all six. */
  readonly lanes?: readonly Lane[];
  readonly floors?: LaneFloors;
  /** Most milliseconds an answer takes. */
  readonly latencyMs?: number;
  /** Shares of attempts: answers lost (the request lands any time within deadline and late bound), and never sent. */
  readonly lost?: number;
  readonly neverLeft?: number;
  /** Mean days between crashes, and between jumps of the wall clock. */
  readonly crashEveryDays?: number;
  readonly jumpEveryDays?: number;
  readonly alignments?: number;
  /** A bug put in on purpose, to see that the server catches it. */
  readonly bug?: "age from admission" | "refund lost answers" | "forget in flight at restart" | "follow the wall clock";
}

export interface WorldResult {
  readonly verdicts: Verdicts;
  readonly requests: number;
  /** Requests beyond the first day, as a share of the most the binding window allows in that time. */
  readonly utilisation: number;
  readonly crashes: number;
  readonly jumps: number;
  readonly byLane: ReadonlyMap<Lane, number>;
}

interface Flight {
  readonly lane: Lane;
  readonly ends: number;
  readonly deadlineAt: number;
  readonly how: "answered" | "lost" | "never-left";
}

const ALL: readonly Lane[] = ["obligation", "reply", "act", "watch", "poll", "explore"];

/** Real time moves in `real`; the wall clock the ledger sees may be off. */
class World implements Clock {
  real = Date.UTC(2026, 2, 1);
  #offset = 0;
  readonly #start = this.real;
  now(): number {
    return this.real + this.#offset;
  }
  monotonic(): number {
    return this.real - this.#start;
  }
  jump(byMs: number): void {
    this.#offset += byMs;
  }
  after(): never {
    throw new Error("the ledger sets no timers");
  }
  soon(): never {
    throw new Error("the ledger sets no timers");
  }
}

export function runWorld(options: WorldOptions): WorldResult {
  const random = seededRandom(options.seed);
  const world = new World();
  const server = new StrictServer(options.limits, options.alignments ?? 24);
  const begin = world.real;
  const end = begin + options.days * DAY_MS;
  const lanes = options.lanes ?? ALL;
  const byLane = new Map<Lane, number>();
  let time: LedgerTime = options.bug === "follow the wall clock" ? wallTime(world) : ledgerTime(world);
  let state = newQuota(options.limits, options.floors);
  let flights: Flight[] = [];
  let crashes = 0;
  let jumps = 0;
  let laterThanFirstDay = 0;
  let nextCrash = next(random, begin, options.crashEveryDays);
  let nextJump = next(random, begin, options.jumpEveryDays);

  while (world.real < end) {
    for (const flight of flights) if (flight.ends <= world.real) land(state, time.now(), flight, options.bug);
    flights = flights.filter(({ ends }) => ends > world.real);
    if (world.real >= nextJump) {
      jumps++;
      world.jump((random.next() - 0.5) * 2 * DAY_MS);
      nextJump = next(random, world.real, options.jumpEveryDays);
    }
    if (world.real >= nextCrash) {
      crashes++;
      world.real += random.int(10 * MINUTE_MS);
      ({ state, time } = restart(state, options.bug === "forget in flight at restart" ? [] : flights, world, time));
      flights = [];
      if (options.bug === "follow the wall clock") time = wallTime(world);
      nextCrash = next(random, world.real, options.crashEveryDays);
    }
    let wake = Math.min(end, nextCrash, nextJump, ...flights.map(({ ends }) => ends));
    for (const lane of shuffled(lanes, random)) {
      for (;;) {
        const now = time.now();
        const taken = takeable(state, now, { lane, cost: 1, obligations: 0 });
        if (!taken.ok) {
          wake = Math.min(wake, world.real + Math.max(1, taken.until - now));
          break;
        }
        charge(state, now, lane, 1);
        const flight = send(random, world.real, now, lane, options);
        flights.push(flight.flight);
        wake = Math.min(wake, flight.flight.ends);
        if (flight.countedAt !== undefined) {
          server.count(flight.countedAt);
          byLane.set(lane, (byLane.get(lane) ?? 0) + 1);
          if (world.real >= begin + DAY_MS) laterThanFirstDay++;
        }
        if (flights.length > 400) break;
      }
    }
    world.real = Math.max(world.real + 1, Math.ceil(wake));
  }
  const perDay = Math.min(options.limits.perDay, options.limits.perHour * 24);
  return {
    verdicts: server.judge(),
    requests: server.requests,
    utilisation: laterThanFirstDay / (perDay * (options.days - 1)),
    crashes,
    jumps,
    byLane,
  };
}

/** Where in its life the server counts a request is up to chance. */
function send(
  random: Random,
  real: number,
  now: number,
  lane: Lane,
  options: WorldOptions,
): { flight: Flight; countedAt: number | undefined } {
  const chance = random.next();
  const lost = options.lost ?? 0;
  const deadlineAt = now + DEADLINE_MS;
  if (chance < lost) {
    const countedAt = random.next() < 0.3 ? undefined : real + random.int(DEADLINE_MS + LATE_MS);
    return { flight: { lane, ends: real + DEADLINE_MS, deadlineAt, how: "lost" }, countedAt };
  }
  if (chance < lost + (options.neverLeft ?? 0))
    return { flight: { lane, ends: real + 5, deadlineAt, how: "never-left" }, countedAt: undefined };
  const latency = 1 + random.int(options.latencyMs ?? 400);
  return { flight: { lane, ends: real + latency, deadlineAt, how: "answered" }, countedAt: real + random.int(latency + 1) };
}

function land(state: QuotaState, now: number, { lane, how, deadlineAt }: Flight, bug: WorldOptions["bug"]): void {
  if (how === "never-left" || (how === "lost" && bug === "refund lost answers")) refund(state, lane, 1);
  else if (bug === "age from admission") {
    refund(state, lane, 1);
    const admittedAt = deadlineAt - DEADLINE_MS;
    for (const name of ["hour", "day"] as const) addToCell(state[name], cellAt(state[name].shape, admittedAt) - 1, slotIndex(lane), 1);
  } else completeAttempt(state, now, lane, 1, how === "answered" ? { answered: true } : { answered: false, deadlineAt }, LATE_MS);
}

/** What survives a crash: cells, open attempts, and a time written down a few seconds ago. */
function restart(old: QuotaState, flights: readonly Flight[], world: World, time: LedgerTime): { state: QuotaState; time: LedgerTime } {
  // The windows' time continues from there, whatever the wall clock is now: the network's time has confirmed the time without a process.
  const seenAt = time.now() - 5_000;
  const state = { ...newQuota({ perHour: 1, perDay: 1 }), shares: old.shares };
  for (const name of ["hour", "day"] as const)
    for (const { cell, slot, count } of listCells(old[name])) addToCell(state[name], cell, slot, count);
  const wall = ledgerTime(world);
  const lagMs = wall.now() - seenAt;
  const fresh: LedgerTime = { ...wall, now: () => wall.now() - lagMs };
  observe(state, fresh.now());
  const open: OpenAttempt[] = flights.map(({ lane, deadlineAt }) => ({ lane, cost: 1, deadlineAt }));
  recover(state, fresh.now(), open, LATE_MS);
  return { state, time: fresh };
}

function wallTime(world: World): LedgerTime {
  return { now: () => world.now(), lagMs: () => 0, networkNow: () => world.now(), jumped: () => false, heed: () => undefined };
}

function next(random: Random, from: number, everyDays: number | undefined): number {
  return everyDays === undefined ? Infinity : from + Math.ceil(-Math.log(1 - random.next()) * everyDays * DAY_MS);
}

function shuffled(lanes: readonly Lane[], random: Random): Lane[] {
  const left = [...lanes];
  const out: Lane[] = [];
  while (left.length > 0) out.push(...left.splice(random.int(left.length), 1));
  return out;
}
