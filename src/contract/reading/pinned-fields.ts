/** Remembers where the fields of one operation's answers were found, so that a change of shape is reported rather than followed. */
import { isObject, type JsonObject } from "../../core/json.ts";
import type { RecordName } from "../operations.ts";

export const DRIFT_KINDS = ["new-field", "missing-field", "type-change", "new-status", "winner-change", "oldest-first"] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** `note`: no loss; `warning`: a value is read differently; `breaking`: a value can no longer be read. */
export const SEVERITIES = ["note", "warning", "breaking"] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * Reaction to a breaking change. `note`: record it; `slow`: send writes of that operation minutes apart; `stop`: send none until a person
 * has looked.
 */
export const DRIFT_POLICIES = ["note", "slow", "stop"] as const;
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

/** One change since earlier answers: paths and types, never values. */
export interface Observation {
  readonly severity: Severity;
  readonly kind: DriftKind;
  readonly record: RecordName;
  /** Our field and its place in the answer: `authorHandle at author.handle`. */
  readonly path: string;
  readonly type: string;
}

export interface Pin {
  /** The candidate path that was found. */
  path: string;
  type: string;
  seen: number;
  /** Consecutive records without the field. */
  missed: number;
  /** For references: the member that holds each id. */
  by?: string;
}

/** Pinned places of one operation. Bounded by our own fields and `MAX_KNOWN_KEYS`. */
export interface Pins {
  /** Place of the record, or the list, in the answer. */
  place?: string;
  readonly fields: Map<string, Pin>;
  /** Top-level keys of the record seen so far. */
  readonly known: Set<string>;
  /** Candidates that held a value of another type, so that each is reported once. */
  readonly misfits: Set<string>;
  /** Pins of posts within posts, once there were some. */
  nested?: Pins;
}

/** Above this many keys, new ones are not reported: the network uses ids as keys. */
export const MAX_KNOWN_KEYS = 300;

export function createPins(): Pins {
  return { fields: new Map(), known: new Set(), misfits: new Set() };
}

/** Counts the pinned places. The count grows with each new one and never changes otherwise. */
export function settledPins({ place, fields, nested }: Pins): number {
  let settled = (place === undefined ? 0 : 1) + fields.size + (nested === undefined ? 0 : settledPins(nested));
  for (const { by } of fields.values()) if (by !== undefined) settled++;
  return settled;
}

/** The pinned places and types as data. Counts and known keys are not stored and start over. */
export function pinsAsData({ place, fields, nested }: Pins): JsonObject {
  return {
    ...(place === undefined ? {} : { place }),
    fields: Object.fromEntries(
      [...fields].map(([field, { path, type, by }]) => [field, { path, type, ...(by === undefined ? {} : { by }) }]),
    ),
    ...(nested === undefined ? {} : { nested: pinsAsData(nested) }),
  };
}

/** Restores stored pins; malformed parts are left out. */
export function restorePins(pins: Pins, { place, fields, nested }: JsonObject): void {
  if (typeof place === "string") pins.place = place;
  for (const [field, pin] of Object.entries(isObject(fields) ? fields : {})) {
    if (!isObject(pin)) continue;
    const { path, type, by } = pin;
    if (typeof path === "string" && typeof type === "string")
      pins.fields.set(field, { path, type, seen: 0, missed: 0, ...(typeof by === "string" ? { by } : {}) });
  }
  if (isObject(nested)) restorePins((pins.nested ??= createPins()), nested);
}

/** Clears the pins after a person has looked: the next answer pins new places. */
export function clearPins(pins: Pins): void {
  delete pins.place;
  delete pins.nested;
  pins.fields.clear();
  pins.known.clear();
  pins.misfits.clear();
}
