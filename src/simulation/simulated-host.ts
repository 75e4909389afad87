/** A process of a simulated machine, over its lives: what it runs, and the state of its clock and of itself. */
import type { Random } from "../core/random.ts";
import { createCrashPoints, type CrashPointOptions, type CrashPoints } from "./crash-points.ts";
import type { SimulatedPart, Work } from "./simulated-work.ts";
import type { StoreSession } from "./store-session.ts";

const LATE_MS = 20;
const BUSY_SHARE = 0.03;
const BUSY_MS = 500;
/** Before it looks if it still has its store, and after. */
export const AIMS = ["after admit", "before request"] as const;

/** The runtime of a part, in a process. */
export interface Held extends Work {
  readonly part: SimulatedPart;
  readonly host: Host;
  /** Undefined for a process alone. */
  readonly session: StoreSession | undefined;
  isEnding: boolean;
}

/** A process of the operating system, over its lives. */
export interface Host {
  readonly crashPoints: CrashPoints;
  /** Runtimes whose code may run, those included that have lost their part. */
  readonly works: Set<Held>;
  skewMs: number;
  isUp: boolean;
  isLeaving: boolean;
  frozenAt: number | undefined;
  /** The last time at which it went on, or died. */
  thawedAt: number;
  /** It freezes at the next such point, for this time. */
  freezesAt: { readonly point: (typeof AIMS)[number]; readonly ms: number } | undefined;
  /** Resolves when it goes on. */
  thaws: PromiseWithResolvers<void> | undefined;
}

export function createHost(options: CrashPointOptions): Host {
  return {
    crashPoints: createCrashPoints(options),
    works: new Set(),
    skewMs: 0,
    isUp: false,
    isLeaving: false,
    frozenAt: undefined,
    thawedAt: Number.NEGATIVE_INFINITY,
    freezesAt: undefined,
    thaws: undefined,
  };
}

/** It takes parts. */
export function isReady({ isUp, isLeaving, frozenAt }: Host): boolean {
  return isUp && !isLeaving && frozenAt === undefined;
}

/** The time until which these processes may have sent something; infinite while one of them is stopped. */
export function maySendUntil(hosts: Iterable<Host>): number {
  return Math.max(...[...hosts].map(({ frozenAt, thawedAt }) => (frozenAt === undefined ? thawedAt : Number.POSITIVE_INFINITY)));
}

/** Draws how late timers fire: a few milliseconds, and now and then as long as a blocked event loop. */
export function latenessOf(random: Random): () => number {
  return () => (random.next() < BUSY_SHARE ? random.int(BUSY_MS) : random.int(LATE_MS));
}
