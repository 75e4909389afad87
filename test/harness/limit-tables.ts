/** The limits' tables on a fresh in-memory store, with requests as rows and a transaction as the store runs them: one savepoint per operation. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, asIntentId, asKeyId, type Handle, type KeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { credits, HOUR, SECOND, type Money } from "../../src/core/units.ts";
import type { Lane } from "../../src/contract/operations.ts";
import { decide } from "../../src/limits/decide.ts";
import type { AdmissionView, AttemptEnd, Verdict } from "../../src/limits/verdict.ts";
import { GUARDIAN, scopeOf, type Cap, type Price } from "../../src/limits/spending.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { ControlTable } from "../../src/store/sqlite/control-table.ts";
import { QuotaTable } from "../../src/store/sqlite/quota.ts";
import type { OpenRequests } from "../../src/store/sqlite/quota-statements.ts";
import { SpendingTable } from "../../src/store/sqlite/spending.ts";

export interface LimitTables {
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  forget(): void;
  prune(now: number): number;
}

const REQUESTS = `
CREATE TABLE IF NOT EXISTS request (seq INTEGER PRIMARY KEY, key_id TEXT, lane TEXT, cost INTEGER, started_at INTEGER, deadline_at INTEGER, ended_at INTEGER)`;

/** The tables over an open database: a second set over the same rows is what a restart sees. */
export function limitTables(db: DatabaseSync, zone = "UTC"): LimitTables {
  db.exec(REQUESTS);
  const of = db.prepare("SELECT lane, cost FROM request WHERE key_id = ? AND seq <> ? AND ended_at IS NULL");
  const all = db.prepare("SELECT seq, key_id, lane, cost, deadline_at FROM request WHERE ended_at IS NULL");
  const open: OpenRequests = {
    of: (key, except) => of.all(key, except).map((row) => ({ lane: row["lane"] as Lane, cost: Number(row["cost"]) })),
    all: () =>
      all.all().map((row) => ({
        seq: Number(row["seq"]),
        key: asKeyId(String(row["key_id"])),
        lane: row["lane"] as Lane,
        cost: Number(row["cost"]),
        deadlineAt: Number(row["deadline_at"]),
      })),
  };
  const quota = new QuotaTable(db, { random: seededRandom(1), open });
  const spending = new SpendingTable(db, { zone: () => zone });
  const guardian = new ControlTable(db);
  return {
    quota,
    spending,
    guardian,
    forget: () => [quota, spending, guardian].forEach((table) => table.forget()),
    prune: (now) => quota.prune(now, 500) + spending.prune(now) + guardian.prune(now),
  };
}

export interface TestTables extends LimitTables {
  readonly db: DatabaseSync;
  close(): void;
  /** Runs one operation in its savepoint; a throw rolls it back and forgets what is in memory. */
  one<Result>(run: () => Result): Result;
  /** Admits one request as the store does; the attempt's number where it was admitted. */
  admit(wanted: Wanted): { readonly verdict: Verdict; readonly attempt: number | undefined };
  end(attempt: number, how: Partial<AttemptEnd> & { readonly now: number }): void;
}

export interface Wanted {
  readonly now: number;
  readonly key?: KeyId;
  readonly specialist?: Handle;
  readonly lane?: Lane;
  readonly price?: Price;
  readonly caps?: readonly Cap[];
  readonly intent?: string;
  readonly effect?: "read" | "at-most-once";
}

export const KEY = asKeyId("key-1");
export const SCOUT = asHandle("scout");

export function openTables(zone = "UTC", file = MEMORY): TestTables {
  const opened = openDatabase(file);
  const { db } = opened;
  const tables = limitTables(db, zone);
  const insert = db.prepare("INSERT INTO request (key_id, lane, cost, started_at, deadline_at) VALUES (?, ?, ?, ?, ?)");
  const close = db.prepare(
    "UPDATE request SET ended_at = ? WHERE seq = ? AND ended_at IS NULL RETURNING key_id, lane, cost, started_at, deadline_at",
  );
  const one = <Result>(run: () => Result): Result => {
    db.exec("SAVEPOINT one");
    try {
      const result = run();
      tables.quota.flush();
      db.exec("RELEASE one");
      return result;
    } catch (error) {
      db.exec("ROLLBACK TO one; RELEASE one");
      tables.forget();
      throw error;
    }
  };
  return {
    ...tables,
    db,
    close: () => opened.close(),
    one,
    admit: (wanted) =>
      one(() => {
        const view = viewOf(tables, wanted);
        const verdict = decide(view);
        if (verdict.kind !== "admit") return { verdict, attempt: undefined };
        const { lane, cost } = verdict.charge;
        const { key, specialist } = view.request;
        tables.quota.charge(key, lane, cost, wanted.now);
        const attempt = Number(insert.run(key, lane, cost, wanted.now, wanted.now + 30 * SECOND).lastInsertRowid);
        if (verdict.hold !== undefined)
          tables.spending.hold(
            { id: wanted.intent ?? `i${attempt}`, specialist, ...verdict.hold, expiresAt: wanted.now + HOUR },
            wanted.now,
          );
        return { verdict, attempt };
      }),
    end: (attempt, how) =>
      one(() => {
        const row = close.get(how.now, attempt);
        if (row === undefined) return;
        tables.quota.end(
          {
            key: asKeyId(String(row["key_id"])),
            attempt,
            lane: row["lane"] as Lane,
            cost: Number(row["cost"]),
            admittedAt: Number(row["started_at"]),
            deadlineAt: Number(row["deadline_at"]),
            ending: "answered",
            ...how,
          },
          how.now,
        );
      }),
  };
}

function viewOf(tables: LimitTables, wanted: Wanted): AdmissionView {
  const { key = KEY, specialist = SCOUT, lane = "obligation", price = { kind: "free" }, caps = [] } = wanted;
  const { now } = wanted;
  tables.quota.passTime(now);
  const worst = price.kind === "priced" ? price.worst : undefined;
  return {
    now,
    request: {
      specialist,
      key,
      operation: "posts.reply",
      effect: wanted.effect ?? "at-most-once",
      lane,
      price,
      ...(wanted.intent === undefined ? {} : { intent: asIntentId(wanted.intent) }),
    },
    halt: tables.guardian.stopped("halt", specialist),
    pause: tables.guardian.stopped("pause", specialist),
    may: undefined,
    review: false,
    quota: tables.quota.load(key),
    obligations: 0,
    ...(worst === undefined
      ? {}
      : {
          accounts: [
            tables.spending.account(scopeOf(specialist), worst.currency, now),
            tables.spending.account(GUARDIAN, worst.currency, now),
          ],
          caps,
        }),
  };
}

export function priced(money: Money = credits(1)): Price {
  return { kind: "priced", worst: money };
}

export function cap(scope: Cap["scope"], window: Cap["window"], amount: number): Cap {
  return { scope, window, money: credits(amount) };
}
