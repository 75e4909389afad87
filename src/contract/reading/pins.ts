/** What reading has settled on for one operation, so that a network that changes its shapes is noticed and not obeyed. */
import { isObject, type JsonObject } from "../../core/json.ts";
import type { RecordName } from "../operations.ts";

export const DRIFT_KINDS = ["new-field", "missing-field", "type-change", "new-status", "winner-change", "oldest-first"] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** `note`: nothing is lost by it; `warning`: something is read differently; `breaking`: something can no longer be read. */
export const SEVERITIES = ["note", "warning", "breaking"] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * What a breaking departure leads to. `note`: it is recorded; `slow`: writes of that operation leave minutes apart; `stop`:
 * none of them leaves until a person has looked.
 */
export const DRIFT_POLICIES = ["note", "slow", "stop"] as const;
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

/** One departure from what was seen before: paths and types, never values. */
export interface Observation {
  readonly severity: Severity;
  readonly kind: DriftKind;
  readonly record: RecordName;
  /** Our field, and where in the answer: `authorHandle at author.handle`. */
  readonly path: string;
  readonly type: string;
}

export interface Pin {
  /** The candidate that won. */
  path: string;
  type: string;
  seen: number;
  /** Records in a row without it. */
  missed: number;
  /** Of references: the member that holds each id. */
  by?: string;
}

/** The memory of one operation's reading. Bounded by our own fields and `MAX_KNOWN_KEYS`. */
export interface Pins {
  /** Where in the answer the record, or the list, was found. */
  place?: string;
  readonly fields: Map<string, Pin>;
  /** Top-level keys of the record seen so far. */
  readonly known: Set<string>;
  /** Candidates that held something of another kind, so that each is reported once. */
  readonly misfits: Set<string>;
  /** The same for posts within posts, once there were some. */
  nested?: Pins;
}

/** Past this many keys, new ones are no news: the network uses ids as keys. */
export const MAX_KNOWN_KEYS = 300;

export function createPins(): Pins {
  return { fields: new Map(), known: new Set(), misfits: new Set() };
}

/** How much is settled: it grows with every place that is, and never otherwise changes. */
export function settledPins({ place, fields, nested }: Pins): number {
  let settled = (place === undefined ? 0 : 1) + fields.size + (nested === undefined ? 0 : settledPins(nested));
  for (const { by } of fields.values()) if (by !== undefined) settled++;
  return settled;
}

/** What is settled, to be kept: places and types. Counts, and which keys are no news, begin anew. */
export function pinsAsData({ place, fields, nested }: Pins): JsonObject {
  return {
    ...(place === undefined ? {} : { place }),
    fields: Object.fromEntries(
      [...fields].map(([field, { path, type, by }]) => [field, { path, type, ...(by === undefined ? {} : { by }) }]),
    ),
    ...(nested === undefined ? {} : { nested: pinsAsData(nested) }),
  };
}

/** Takes up what was kept; what makes no sense is left out. */
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

/** A person has looked: what comes next settles it anew. */
export function clearPins(pins: Pins): void {
  delete pins.place;
  delete pins.nested;
  pins.fields.clear();
  pins.known.clear();
  pins.misfits.clear();
}
