/** The part of the fleet that a row belongs to, by table. */
import { GUARDIAN, scopeOf } from "../../limits/spending.ts";
import type { Row } from "../sqlite/columns.ts";
import { asHandle, type Handle, type KeyId } from "../../core/ids.ts";

/**
 * `holder`: one row for each holder of shards. `all`: rows of the whole store. `home`: rows of any one shard of the holder that made them.
 * Otherwise rows of one shard, by a column that names its specialist or key, by a scope of money, or by another row.
 */
export type RowPlace = "holder" | "all" | "home" | "scope" | "other" | { readonly specialist: string } | { readonly key: string };

const BY_SPECIALIST = { specialist: "specialist" } as const;
const BY_KEY = { key: "key_id" } as const;

export const ROW_PLACES: { readonly [table: string]: RowPlace } = {
  answer: "other",
  approval: BY_SPECIALIST,
  attempt: BY_SPECIALIST,
  change: "other",
  delivery: BY_SPECIALIST,
  delivery_count: BY_SPECIALIST,
  event: BY_SPECIALIST,
  guardian_order: "home",
  hold: BY_SPECIALIST,
  intent: BY_SPECIALIST,
  intent_count: BY_SPECIALIST,
  ledger_time: "holder",
  limited_use: BY_KEY,
  mark: "holder",
  meta: "all",
  money_hour: BY_SPECIALIST,
  open: "other",
  proof: BY_KEY,
  quota_cell: BY_KEY,
  quota_key: BY_KEY,
  registration: BY_SPECIALIST,
  rolled_up: "holder",
  run: BY_SPECIALIST,
  source: BY_SPECIALIST,
  specialist: { specialist: "handle" },
  spend_entry: "scope",
  spend_frozen: "scope",
  spend_row: "scope",
  standing: "all",
  step: "other",
  stop: "all",
  usage_hour: BY_SPECIALIST,
  watch: BY_SPECIALIST,
  webhook_health: BY_SPECIALIST,
};

/** Tables whose rows are inserted once and never changed. */
export const FACT_TABLES: ReadonlySet<string> = new Set(["answer", "attempt", "change", "event", "run", "spend_entry"]);

/** The shard of the Guardian's account, to which every holder adds. */
export const NO_SHARD = -1;
const OWN = scopeOf(asHandle(""));

export interface ShardMap {
  readonly ofSpecialist: (handle: Handle) => number;
  ofKey(key: KeyId): number;
  /** The shard of rows that belong to no specialist. */
  readonly home: number;
}

/** The shard of a row; undefined if it has none, or nobody knows. */
export function shardOf(
  table: string,
  row: Row,
  shards: ShardMap,
  other: (table: string, row: Row) => Handle | undefined,
): number | undefined {
  const place = ROW_PLACES[table];
  if (place === undefined || place === "holder" || place === "all") return undefined;
  if (place === "home") return shards.home;
  if (place === "scope") {
    const scope = String(row["scope"]);
    return scope === GUARDIAN ? NO_SHARD : shards.ofSpecialist(asHandle(scope.slice(OWN.length)));
  }
  if (place === "other") {
    const handle = other(table, row);
    return handle === undefined ? undefined : shards.ofSpecialist(handle);
  }
  return "key" in place ? shards.ofKey(String(row[place.key]) as KeyId) : shards.ofSpecialist(asHandle(String(row[place.specialist])));
}
