/** The Guardian's orders in SQLite. */
import type { DatabaseSync } from "node:sqlite";
import { defined } from "../../core/defined.ts";
import { NOT_HERE, ONE_ORDER_MS, type Caller, type OrderRow, type OrderStore } from "../orders.ts";
import type { ReadTable } from "../people-reads.ts";
import { maybeText, numberOf, textOf, type Row } from "./columns.ts";
import type { Commits } from "./commits.ts";
import { isOfKind } from "./history.ts";
import { BLOCK, type Numbers } from "./numbers.ts";
import { allOccurIn, patternsOf } from "./word-search.ts";

export function createOrders(db: DatabaseSync, commits: Commits, numbers: Numbers): Omit<OrderStore, "orders"> {
  const insert = db.prepare(
    "INSERT INTO guardian_order (seq, at, who, origin, what, subject, why) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq",
  );
  const end = db.prepare("UPDATE guardian_order SET result = ?, code = ? WHERE seq = ?");
  return {
    noteOrder: ({ at, who, from, what, subject, why }) =>
      commits.soft(() => numberOf(insert.get(numbers.row(), at, who, from, what, subject ?? null, why ?? null) ?? {}, "seq")),
    endOrder: (seq, { result, code }) => commits.soft(() => void end.run(result, code ?? null, seq)),
  };
}

/** The list of orders, for people. */
export function createOrderList(db: DatabaseSync): Pick<ReadTable, "orders"> {
  const text = "concat_ws(' ', who, what, subject, why, result, code)";
  const matches = `
    (?1 IS NULL OR subject = ?1) AND ${isOfKind("what", "?2", " ")} AND at >= ?3 AND ${allOccurIn(text, "?4")}`;
  // An order to all stores has a row of each, with a number of its own block. The one shown is the first by `orderRank`.
  const alike = "PARTITION BY who, what, subject, why";
  const isCopy = `at - lag(at) OVER same <= ${ONE_ORDER_MS} AND seq / ${BLOCK} <> lag(seq) OVER same / ${BLOCK}`;
  const isNotHere = `code IN (${NOT_HERE.map((code) => `'${code}'`).join(", ")})`;
  const rank = `
    CASE WHEN subject IS NULL AND code IS NOT NULL AND NOT ${isNotHere} THEN 0
      WHEN code IS NULL AND result IS NOT NULL THEN 1 ELSE 2 END`;
  const given = `
    WITH marked AS (
      SELECT *, coalesce(${isCopy}, false) AS is_copy FROM guardian_order WHERE ${matches} WINDOW same AS (${alike} ORDER BY at, seq)
    ), counted AS (
      SELECT *, sum(NOT is_copy) OVER (${alike} ORDER BY at, seq) AS nth FROM marked
    ), given AS (
      SELECT *, row_number() OVER (${alike}, nth ORDER BY ${rank}, at DESC, seq DESC) AS place FROM counted
    )`;
  const list = db.prepare(`${given} SELECT * FROM given WHERE place = 1 AND at <= ?5 ORDER BY at DESC, seq DESC LIMIT 0 + ?6`);
  const count = db.prepare(`${given} SELECT count(*) AS n FROM given WHERE place = 1`);
  return {
    orders({ subject, what, since, search, until, limit }) {
      const filter = [subject ?? null, what ?? null, since ?? 0, patternsOf(search)] as const;
      return {
        rows: list.all(...filter, until ?? Number.MAX_SAFE_INTEGER, limit).map(readOrder),
        total: numberOf(count.get(...filter) ?? {}, "n"),
      };
    },
  };
}

function readOrder(row: Row): OrderRow {
  return defined({
    seq: numberOf(row, "seq"),
    at: numberOf(row, "at"),
    who: textOf(row, "who"),
    from: originOf(textOf(row, "origin")),
    what: textOf(row, "what"),
    subject: maybeText(row, "subject"),
    why: maybeText(row, "why"),
    result: maybeText(row, "result"),
    code: maybeText(row, "code"),
  });
}

const ORIGINS: { readonly [origin in Caller["from"]]: true } = { command: true, code: true, console: true };

function originOf(text: string): Caller["from"] {
  return Object.hasOwn(ORIGINS, text) ? (text as Caller["from"]) : "code";
}
