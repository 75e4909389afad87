/** Network state as stored rows: knowledge that survives a restart, and the part that a changed profile invalidates. */
import { foreignCode } from "../core/error-codes.ts";
import { driftKey, type DriftEntry } from "./drift.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { DRIFT_KINDS, SEVERITIES } from "../contract/reading/pinned-fields.ts";
import { RECORDS } from "../contract/operations.ts";
import { asJson, numberIn, sha256, type Json, type JsonObject } from "../core/json.ts";
import { isBreakerRule } from "../limits/wait-rules.ts";
import type { Circuit, OpenBreaker, RequestProbed } from "./breaker.ts";
import type { NetworkStateChange, NetworkStateRow } from "../store/network-state.ts";

const STOP = "stop";
export const DRIFT = "drift";
/** Time of the last write of a slowed operation. */
const SLOWED = "slowed";
/** Pinned places of an operation's answers. */
export const PINS = "pins";
const PROFILE = "profile";
/** The network's last report of its trust in a specialist. */
const TRUST = "trust";

/** Breakers that another profile may cure: not those of stopped accounts and unpaid bills. */
const CURED_BY_A_PROFILE: readonly string[] = ["unreadable", "operation_missing"];

/** An open breaker that requests probe, with its circuit. */
export type HeldBreaker = OpenBreaker & Circuit & { readonly kind: RequestProbed };

export interface StoredNetworkState {
  readonly stops: readonly HeldBreaker[];
  readonly drift: readonly DriftEntry[];
  readonly slowed: readonly (readonly [operation: string, at: number])[];
}

/** A network's report of its trust in a specialist. */
export interface ObservedTrust {
  readonly handle: string;
  readonly trust: string | undefined;
  readonly reputation: number | undefined;
  /** Time since which it has this trust. */
  readonly since: number;
  /** Time of the next check. */
  readonly lookAt: number;
  /** Operations that this trust does not permit by the profile: for use without a profile. */
  readonly lacks: readonly string[];
}

/** Key of a breaker among the open ones. */
export function breakerName({ kind, handle, operation }: Pick<HeldBreaker, "kind" | "handle" | "operation">): string {
  return `${kind === "drift" ? "drift " : ""}${handle ?? "*"} ${operation ?? "*"}`;
}

/** The row of a breaker whose probe is set. One of drift is stored by its entries, and here only the time of its last write. */
export function rowOf(breaker: HeldBreaker, now: number): NetworkStateRow {
  const { kind, probe: _probe, ...data } = breaker;
  return { ...rowNameOf(breaker), data: kind === "drift" ? { at: now } : asJson(data) };
}

export function rowNameOf(breaker: Pick<HeldBreaker, "kind" | "handle" | "operation">): NetworkStateChange["drop"][number] {
  return breaker.kind === "drift" ? { kind: SLOWED, name: breaker.operation ?? "" } : { kind: STOP, name: breakerName(breaker) };
}

export function driftRow(entry: DriftEntry): NetworkStateRow {
  return { kind: DRIFT, name: driftName(entry), data: asJson(entry) };
}

export function driftName(entry: DriftEntry): string {
  return `${entry.operation} ${driftKey(entry)}`;
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

/** Parses the rows; unreadable ones of another version are left out. */
export function readRows(rows: readonly NetworkStateRow[]): StoredNetworkState {
  return {
    stops: rows.flatMap(({ kind, data }) => (kind === STOP ? asStop(data) : [])),
    drift: rows.flatMap(({ kind, data }) => (kind === DRIFT ? asDrift(data) : [])),
    slowed: rows.flatMap(({ kind, name, data }) =>
      kind === SLOWED && typeof data["at"] === "number" ? [[name, data["at"]] as const] : [],
    ),
  };
}

/** The row that identifies the profile of the others, and the rows that another profile invalidates. */
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

/** The parts of a profile that affect requests and reading, without prices and policies. */
function speechOf({ data }: Profile): object {
  const { extra, records, lists, singles, statuses, times, paging, errors, pending } = data;
  const stated = Object.entries(data.operations).map(([name, { price: _price, ...rest }]) => [name, rest] as const);
  // An operation of which only the price is stated is as one of which nothing is.
  const operations = Object.fromEntries(stated.filter(([, rest]) => Object.keys(rest).length > 0));
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

function asStop(data: JsonObject): HeldBreaker[] {
  const rule = text(data, "rule");
  if (!isBreakerRule(rule)) return [];
  return [
    {
      kind: "refusal",
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
