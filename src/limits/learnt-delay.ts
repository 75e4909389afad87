/** Learns a delay on a network from checks that each saw an event happen within a span. A small histogram over doubling times. */
import { DAY } from "../core/units.ts";

/** The lower edge of the first bucket. */
const FIRST_MS = 250;
/** Buckets per doubling of the time: a check aimed at one is late by a fifth at most. */
const PER_DOUBLING = 4;
/** Number of buckets up to thirty days. */
const BUCKETS = Math.ceil(PER_DOUBLING * Math.log2((30 * DAY) / FIRST_MS));
/** Weight factor of earlier observations at each new one: about fifty count. */
const MEMORY = 0.98;
/** Share of an observation that is spread evenly over its span, whatever is known. */
const DOUBT = 0.05;
/** With less than this share still to come, nothing is known of the rest. */
const BEYOND = 0.05;

/** Weights by bucket. Empty if nothing is known. */
export type LearntDelay = readonly number[];

export const NOTHING_LEARNT: LearntDelay = [];

/** Records that it had not happened `afterMs` after its cause, and had `byMs` after it. */
export function learnDelay(known: LearntDelay, { afterMs, byMs }: { readonly afterMs: number; readonly byMs: number }): LearntDelay {
  const from = bucketOf(Math.min(afterMs, byMs));
  const to = bucketOf(byMs);
  const spans = Array.from({ length: to - from + 1 }, (_, i) => upperEdge(from + i) - lowerEdge(from + i));
  const width = spans.reduce((sum, span) => sum + span, 0);
  const mass = spans.reduce((sum, _, i) => sum + (known[from + i] ?? 0), 0);
  const after = Array.from({ length: BUCKETS }, (_, i) => (known[i] ?? 0) * MEMORY);
  // Within the span the known distribution applies, or an even one if nothing is known.
  for (const [i, span] of spans.entries()) {
    const usual = mass > 0 ? (known[from + i] ?? 0) / mass : 0;
    after[from + i] = (after[from + i] ?? 0) + (mass > 0 ? (1 - DOUBT) * usual : 0) + ((mass > 0 ? DOUBT : 1) * span) / width;
  }
  return after.map((weight) => (weight < 0.001 ? 0 : Math.round(weight * 1e4) / 1e4));
}

/**
 * Time at which `share` of the events still to come after `ageMs` will have happened, as an edge of its bucket; undefined if nothing is
 * known.
 */
export function delayAt(known: LearntDelay, ageMs: number, share: number, edge: "lower" | "upper" = "upper"): number | undefined {
  const total = known.reduce((sum, weight) => sum + weight, 0);
  const from = ageMs <= 0 ? 0 : bucketOf(ageMs) + (ageMs > FIRST_MS ? 1 : 0);
  const rest = known.reduce((sum, weight, i) => sum + (i >= from ? weight : 0), 0);
  if (total === 0 || rest < BEYOND * total) return undefined;
  let passed = 0;
  for (let i = from; i < BUCKETS; i++) {
    passed += known[i] ?? 0;
    if (passed >= share * rest - 1e-6) return edge === "upper" ? upperEdge(i) : lowerEdge(i);
  }
  return undefined;
}

/** Chance that it happened by `byMs`, if it had not `afterMs` after its cause; undefined if nothing is known. */
export function chanceWithin(
  known: LearntDelay,
  { afterMs, byMs }: { readonly afterMs: number; readonly byMs: number },
): number | undefined {
  const left = (ageMs: number): number => known.reduce((sum, weight, i) => sum + weight * Math.min(1, Math.max(0, beyond(i, ageMs))), 0);
  const rest = left(afterMs);
  return rest <= 0 ? undefined : 1 - left(byMs) / rest;
}

/** Part of a bucket that lies after this age. */
function beyond(bucket: number, ageMs: number): number {
  return (upperEdge(bucket) - ageMs) / (upperEdge(bucket) - lowerEdge(bucket));
}

/** For storage: weights by bucket, without zeros. */
export function storeDelay(known: LearntDelay): { readonly [bucket: string]: number } {
  return Object.fromEntries(known.flatMap((weight, i) => (weight > 0 ? [[i, weight] as const] : [])));
}

export function readDelay(stored: { readonly [bucket: string]: unknown }): LearntDelay {
  const weights = Array.from({ length: BUCKETS }, (_, i) => stored[i]);
  const known = weights.map((weight) => (typeof weight === "number" && weight > 0 && weight < 1e6 ? weight : 0));
  return known.some((weight) => weight > 0) ? known : NOTHING_LEARNT;
}

function bucketOf(ms: number): number {
  return Math.max(0, Math.min(BUCKETS - 1, Math.ceil(PER_DOUBLING * Math.log2(Math.max(ms, 1) / FIRST_MS)) - 1));
}

function lowerEdge(bucket: number): number {
  return bucket === 0 ? 0 : upperEdge(bucket - 1);
}

function upperEdge(bucket: number): number {
  return Math.round(FIRST_MS * 2 ** ((bucket + 1) / PER_DOUBLING));
}
