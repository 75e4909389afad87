/** Reads the Guardian's money from the server: the spending of all holders, the rest of their grants, and the freeze. */
import type { Micros } from "../../core/units.ts";
import { GUARDIAN, newAccount, SPEND_WINDOWS, type Account, type SpendRow } from "../../limits/spending.ts";
import type { Query } from "./in-schema.ts";
import { asOid, SHARD_LOCKS } from "./ownership.ts";
import { NO_SHARD } from "./row-places.ts";

export interface GuardianSums {
  /** Spent and held by all, with the freeze. */
  readonly account: Account;
  /** The rest of all grants. */
  readonly outstanding: Micros;
  /** The rest of the grants of others. */
  readonly others: Micros;
  readonly holders: number;
}

/** Lost holders, and such as have ended: no session that has locks of shards is theirs. A holder that begins later is not among them. */
const GONE = `SELECT array_agg(DISTINCT h.number) AS holders FROM @.shard s JOIN @.holder h ON h.number = s.holder
  WHERE h.backend NOT IN (SELECT pid FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid::bigint = ${asOid(SHARD_LOCKS)})`;

/**
 * The spending of all by window, and the rest of each living holder's grant. A rest is never below zero: a holder that ends has no grant any
 * longer, and what it spent is nobody's to spend again; so is a cost above its hold.
 */
const SPENT_AND_LEFT = `WITH spent AS (
    SELECT span, start, max(until) AS until, max(ends) AS ends, sum(held) AS held, sum(posted) AS posted FROM @.spend_row
    WHERE shard = ${NO_SHARD} AND currency = $1 AND ends > $3 GROUP BY span, start),
  living AS (SELECT DISTINCT holder AS number FROM @.shard WHERE holder <> ALL($4::bigint[])),
  grants AS (
    SELECT living.number = $2 AS own, greatest(coalesce(g.granted, 0) - coalesce(r.held + r.posted, 0), 0) AS left
    FROM living LEFT JOIN @.guardian_grant g ON g.holder = living.number AND g.currency = $1
    LEFT JOIN @.spend_row r ON r.shard = ${NO_SHARD} AND r.holder = living.number AND r.currency = $1 AND r.span = 'total')
  SELECT (SELECT json_agg(spent ORDER BY ends) FROM spent) AS spent, (SELECT json_agg(grants) FROM grants) AS grants,
    (SELECT json_agg(f) FROM @.spend_frozen f WHERE shard = ${NO_SHARD} AND scope = '${GUARDIAN}' AND currency = $1) AS frozen`;

/** Inside a transaction that has the lock of the Guardian's money, if anything is decided by them. */
export async function readSums(
  q: Query,
  { schema, currency, holder, now }: { readonly schema: string; readonly currency: string; readonly holder: number; readonly now: number },
): Promise<GuardianSums> {
  const [gone] = await q(GONE, [schema]); // before the rest: whatever a lost one has stored is seen then
  // One statement, and so one moment: what a holder spends meanwhile is in both parts, or in none.
  const [found] = await q(SPENT_AND_LEFT, [currency, holder, now, gone?.["holders"] ?? []]);
  const [rows, grants, [frozen]] = [listOf(found?.["spent"]), listOf(found?.["grants"]), listOf(found?.["frozen"])];
  const account = newAccount(GUARDIAN, currency);
  for (const row of rows) account.rows[windowOf(row["span"])].push(rowOf(row));
  if (frozen !== undefined) account.frozen = { since: Number(frozen["since"]), reason: String(frozen["reason"]) };
  const leftOf = (some: typeof grants): Micros => some.reduce((sum, { left }) => sum + Number(left), 0);
  return { account, outstanding: leftOf(grants), others: leftOf(grants.filter(({ own }) => own !== true)), holders: grants.length };
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

function windowOf(value: unknown): (typeof SPEND_WINDOWS)[number] {
  const window = SPEND_WINDOWS.find((name) => name === value);
  if (window === undefined) throw new TypeError(`unknown spending window ${String(value)}`);
  return window;
}

function rowOf(row: Readonly<Record<string, unknown>>): SpendRow {
  const [start, until, ends, held, posted] = ["start", "until", "ends", "held", "posted"].map((name) => Number(row[name]));
  return { start: start ?? 0, until: until ?? 0, ends: ends ?? 0, held: held ?? 0, posted: posted ?? 0 };
}
