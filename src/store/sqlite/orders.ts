/** The Guardian's orders in SQLite. */
import type { DatabaseSync } from "node:sqlite";
import { defined } from "../../core/defined.ts";
import type { Caller, OrderRow, OrderStore } from "../orders.ts";
import type { ReadTable } from "../people-reads.ts";
import { maybeText, numberOf, textOf, type Row } from "./columns.ts";
import type { Commits } from "./commits.ts";
import { isOfKind } from "./history.ts";
import type { Numbers } from "./numbers.ts";
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
  const list = db.prepare(`SELECT * FROM guardian_order WHERE ${matches} AND seq < ?5 ORDER BY seq DESC LIMIT 0 + ?6`);
  const count = db.prepare(`SELECT count(*) AS n FROM guardian_order WHERE ${matches}`);
  return {
    orders({ subject, what, since, search, before, limit }) {
      const filter = [subject ?? null, what ?? null, since ?? 0, patternsOf(search)] as const;
      return {
        rows: list.all(...filter, before ?? Number.MAX_SAFE_INTEGER, limit).map(readOrder),
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
