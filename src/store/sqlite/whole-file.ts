/** A file with a whole store, in which every fact is folded and rolled up, on its way to another place. Nobody works on it. */
import { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle } from "../../core/ids.ts";
import type { Row } from "./columns.ts";
import { forgetCopying } from "./restore-detection.ts";
import { keptShapes, type TableShape } from "./row-changes.ts";
import { createHolders, createOwners, insertAll, type WorkingCopy } from "./working-copy.ts";

export interface WholeFile extends Pick<WorkingCopy, "shapes" | "specialistOf" | "holderOf"> {
  readonly specialists: number;
  /** The highest number of a fact or a row. */
  readonly highest: number;
  /** Specialists that share a key. */
  readonly sharers: readonly (readonly Handle[])[];
  rows(table: string): Iterable<Row>;
  put(table: string, rows: Iterable<Row>): void;
  /** Makes it the store itself, and no copy of one: nothing was done since it was made. */
  forgetCopying(): void;
  lift(kind: "halt", scope: string): void;
  /** Leaves one file, without a log beside it. */
  close(): void;
}

export function openWholeFile(path: string): WholeFile {
  const db = new DatabaseSync(path);
  const shapes = keptShapes(db);
  const one = (text: string): number => Number(Object.values(db.prepare(text).get() ?? {})[0] ?? 0);
  return {
    shapes,
    specialistOf: createOwners(db),
    holderOf: createHolders(db),
    get specialists() {
      return one("SELECT count(*) FROM specialist");
    },
    get highest() {
      return Math.max(0, ...numbered(shapes).map((table) => one(`SELECT max(seq) FROM main.${table}`)));
    },
    get sharers() {
      return sharersOf(db);
    },
    rows: (table) => db.prepare(`SELECT * FROM main.${table}`).iterate(),
    put(table, rows) {
      const shape = shapes.find(({ name }) => name === table);
      if (shape !== undefined) insertAll(db, shape, rows);
    },
    forgetCopying: () => forgetCopying(db),
    lift: (kind, scope) => void db.prepare("DELETE FROM stop WHERE kind = ? AND scope = ?").run(kind, scope),
    close() {
      db.exec("PRAGMA journal_mode = DELETE");
      db.close();
    },
  };
}

function numbered(shapes: readonly TableShape[]): readonly string[] {
  return shapes.filter(({ columns }) => columns.includes("seq")).map(({ name }) => name);
}

function sharersOf(db: DatabaseSync): readonly (readonly Handle[])[] {
  const rows = db.prepare("SELECT key_id, handle FROM main.specialist WHERE key_id IS NOT NULL ORDER BY handle").all();
  const groups = Map.groupBy(rows, (row) => String(row["key_id"]));
  return [...groups.values()].filter(({ length }) => length > 1).map((group) => group.map((row) => asHandle(String(row["handle"]))));
}
