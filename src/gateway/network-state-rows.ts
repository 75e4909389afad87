/** Where we stand as stored rows: what a restart must not learn again, and what a changed profile makes worth trying again. */
import { foreignCode } from "../core/error-codes.ts";
import { driftKey, type DriftEntry } from "./drift.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { DRIFT_KINDS, SEVERITIES } from "../contract/reading/pins.ts";
import { RECORDS } from "../contract/operations.ts";
import { asJson, numberIn, sha256, type Json, type JsonObject } from "../core/json.ts";
import type { StoredBreaker } from "./classify-refusal.ts";
import type { NetworkStateRow } from "../store/network-state.ts";

export const STOP = "stop";
export const DRIFT = "drift";
/** When a write of an operation that is slowed last left. */
export const SLOWED = "slowed";
/** Where an operation's answers have been read. */
export const PINS = "pins";
const PROFILE = "profile";
/** What the network last said of its trust in a specialist. */
const TRUST = "trust";

/** What was learnt under one profile may be cured by another: refused accounts and unpaid bills are not. */
const CURED_BY_A_PROFILE: readonly string[] = ["unreadable", "operation_missing"];

export interface StoredNetworkState {
  readonly stops: readonly StoredBreaker[];
  readonly drift: readonly DriftEntry[];
  readonly slowed: readonly (readonly [operation: string, at: number])[];
}

/** What a network said of its trust in a specialist. */
export interface ObservedTrust {
  readonly handle: string;
  readonly trust: string | undefined;
  readonly reputation: number | undefined;
  /** Since when it is this trust. */
  readonly since: number;
  /** When the network is asked again. */
  readonly lookAt: number;
  /** What the profile said that this trust may not do: for whoever has no profile at hand. */
  readonly lacks: readonly string[];
}

export function stopName({ handle, operation }: Pick<StoredBreaker, "handle" | "operation">): string {
  return `${handle ?? "*"} ${operation ?? "*"}`;
}

export function stopRow(stop: StoredBreaker): NetworkStateRow {
  return { kind: STOP, name: stopName(stop), data: asJson(stop) };
}

export function driftRow(entry: DriftEntry): NetworkStateRow {
  return { kind: DRIFT, name: driftName(entry), data: asJson(entry) };
}

export function driftName(entry: DriftEntry): string {
  return `${entry.operation} ${driftKey(entry)}`;
}

export function slowedRow(operation: string, at: number): NetworkStateRow {
  return { kind: SLOWED, name: operation, data: { at } };
}

export function trustRow(heard: ObservedTrust): NetworkStateRow {
  return { kind: TRUST, name: heard.handle, data: asJson(heard) };
}

export function readTrust(rows: readonly NetworkStateRow[]): readonly ObservedTrust[] {
  return rows.flatMap(({ kind, name, data }) => {
    if (kind !== TRUST) return [];
    const { trust, lacks } = data;
    return [
      {
        handle: name,
        trust: maybe(trust),
        reputation: numberIn(data, "reputation"),
        since: number(data, "since"),
        lookAt: number(data, "lookAt"),
        lacks: Array.isArray(lacks) ? lacks.filter((one) => typeof one === "string") : [],
      },
    ];
  });
}

/** What rows say; those of another version of ours that make no sense any more are left out. */
export function readRows(rows: readonly NetworkStateRow[]): StoredNetworkState {
  return {
    stops: rows.flatMap(({ kind, data }) => (kind === STOP ? asStop(data) : [])),
    drift: rows.flatMap(({ kind, data }) => (kind === DRIFT ? asDrift(data) : [])),
    slowed: rows.flatMap(({ kind, name, data }) =>
      kind === SLOWED && typeof data["at"] === "number" ? [[name, data["at"]] as const] : [],
    ),
  };
}

/** The row that says which profile the others were learnt under, and those that another profile makes void. */
export function underProfile(
  profile: Profile,
  rows: readonly NetworkStateRow[],
): { readonly row: NetworkStateRow; readonly void: readonly NetworkStateRow[] } {
  const hash = sha256(asJson(speechOf(profile)));
  const known = rows.find(({ kind }) => kind === PROFILE)?.data["hash"];
  const cured = ({ kind, data }: NetworkStateRow): boolean =>
    kind === DRIFT ||
    kind === SLOWED ||
    kind === TRUST ||
    kind === PINS ||
    (kind === STOP && CURED_BY_A_PROFILE.includes(text(data, "code")));
  return { row: { kind: PROFILE, name: "", data: { hash } }, void: known === undefined || known === hash ? [] : rows.filter(cured) };
}

/** What decides how requests are made and answers are read; what they cost or lead to is another matter. */
function speechOf({ data }: Profile): object {
  const { extra, records, lists, singles, statuses, times, paging, errors, pending } = data;
  const operations = Object.fromEntries(Object.entries(data.operations).map(([name, { price: _price, ...rest }]) => [name, rest]));
  return { operations, extra, records, lists, singles, statuses, times, paging, errors, pending };
}

function text(data: JsonObject, name: string): string {
  const value = data[name];
  return typeof value === "string" ? value : "";
}

function number(data: JsonObject, name: string): number {
  return numberIn(data, name) ?? 0;
}

function maybe(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function asStop(data: JsonObject): StoredBreaker[] {
  const rule = data["rule"];
  if (rule !== "drift" && rule !== "capability") return [];
  return [
    {
      rule,
      code: foreignCode(text(data, "code")),
      message: text(data, "message"),
      handle: maybe(data["handle"]),
      operation: maybe(data["operation"]),
      since: number(data, "since"),
      probeAt: number(data, "probeAt"),
      waitMs: number(data, "waitMs"),
    },
  ];
}

function asDrift(data: JsonObject): DriftEntry[] {
  const severity = SEVERITIES.find((one) => one === data["severity"]);
  const kind = DRIFT_KINDS.find((one) => one === data["kind"]);
  const record = RECORDS.find((one) => one === data["record"]);
  if (severity === undefined || kind === undefined || record === undefined) return [];
  return [
    {
      severity,
      kind,
      record,
      operation: text(data, "operation"),
      path: text(data, "path"),
      type: text(data, "type"),
      firstSeenMs: number(data, "firstSeenMs"),
      lastSeenMs: number(data, "lastSeenMs"),
      count: number(data, "count"),
    },
  ];
}
