/**
 * The rows that commits have changed, as they are after the last commit: for a store that keeps them elsewhere. Temporary triggers hand over
 * each row as it is written, those that other triggers write included. SQLite's session extension would do the same for 50 µs more a table
 * and commit: it reads the table's description anew for each.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Row } from "./columns.ts";
import { FACT_INDEXES } from "./fact-indexes.ts";

export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in the order of the table's columns. */
  readonly key: readonly string[];
}

/** A row as it is now, or, if it is deleted, as it was. */
export interface RowChange {
  readonly row: Row;
  readonly isDeleted: boolean;
}

/** The changed rows of one table by key. */
export interface TableChanges {
  readonly shape: TableShape;
  readonly rows: Map<Row[string], RowChange>;
}

export type RowChanges = ReadonlyMap<string, TableChanges>;

/** The tables that a store elsewhere has too. */
export function keptShapes(db: DatabaseSync): readonly TableShape[] {
  return tableShapes(db).filter(({ name }) => !FACT_INDEXES.has(name));
}

function tableShapes(db: DatabaseSync): readonly TableShape[] {
  const names = db.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").all();
  return names.map((row) => {
    const name = String(row["name"]);
    const columns = db.prepare("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid").all(name);
    return {
      name,
      columns: columns.map((column) => String(column["name"])),
      key: columns.filter((column) => Number(column["pk"]) > 0).map((column) => String(column["name"])),
    };
  });
}

/** A row that a statement has written or deleted: the number of its table, and its values in the order of the columns. */
interface Written {
  readonly table: number;
  readonly isDeleted: boolean;
  readonly values: readonly Row[string][];
}

const RECORD = "record_row";
const IS_RECORDING = "is_recording";
/** Tables whose inserts are handed over by the log of facts: a trigger would make the loading of old ones a third slower. */
const LOGGED: ReadonlySet<string> = new Set(["answer", "attempt", "change", "event", "run"]);

export class ChangeRecorder {
  readonly #db: DatabaseSync;
  readonly #shapes: readonly TableShape[];
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  /** Since the last commit. */
  #written: Written[] = [];
  #changes = new Map<string, TableChanges>();
  #isRecording = true;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#shapes = keptShapes(db);
    this.#begin = db.prepare("BEGIN");
    this.#commit = db.prepare("COMMIT");
    db.function(RECORD, { varargs: true }, (table, isDeleted, ...values) => {
      this.#written.push({ table: Number(table), isDeleted: isDeleted === 1, values });
      return null;
    });
    db.function(IS_RECORDING, () => (this.#isRecording ? 1 : 0));
    this.#shapes.forEach(recordTable, db);
  }

  /**
   * For the log of facts: returns a function that records an inserted row by the values of these columns; the others are null. Throws if the
   * table or one of the columns does not exist.
   */
  inserting(table: string, columns: readonly string[]): (values: readonly Row[string][]) => void {
    const number = this.#shapes.findIndex(({ name }) => name === table);
    const all = this.#shapes[number]?.columns ?? [];
    if (columns.some((column) => !all.includes(column))) throw new Error(`the table ${table} has no columns ${columns.join(", ")}`);
    const places = all.map((column) => columns.indexOf(column));
    return (values) => void this.#written.push({ table: number, isDeleted: false, values: places.map((place) => stored(values[place])) });
  }

  /** The place up to which writes are recorded, for {@link ChangeRecorder.undone}. */
  get place(): number {
    return this.#written.length;
  }

  /** Forgets the writes after this place, which were rolled back. */
  undone(place: number): void {
    this.#written.length = place;
  }

  /** Adds what was committed since the last call. Call it after each COMMIT, before the next change. */
  committed(): void {
    const written = this.#written;
    if (written.length === 0) return;
    this.#written = [];
    for (const { table, isDeleted, values } of written) {
      const shape = this.#shapes[table];
      if (shape === undefined) continue;
      const row: Row = {};
      shape.columns.forEach((column, i) => (row[column] = values[i] ?? null));
      this.#rows(shape).set(keyOf(shape, row), { row, isDeleted });
    }
  }

  /** Runs reads in one transaction: each by itself would take the locks of the file. */
  reading<Result>(read: () => Result): Result {
    if (this.#db.isTransaction) return read();
    this.#begin.run();
    try {
      return read();
    } finally {
      this.#commit.run();
    }
  }

  /** Runs without recording, outside any transaction. */
  unrecorded<Result>(run: () => Result): Result {
    this.#isRecording = false;
    try {
      return run();
    } finally {
      this.#isRecording = true;
    }
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  /** All changes of commits since the last call. */
  take(): RowChanges {
    const changes = this.#changes;
    this.#changes = new Map();
    return changes;
  }

  #rows(shape: TableShape): TableChanges["rows"] {
    const known = this.#changes.get(shape.name);
    if (known !== undefined) return known.rows;
    const rows: TableChanges["rows"] = new Map();
    this.#changes.set(shape.name, { shape, rows });
    return rows;
  }
}

/** The value as SQLite stores it: of an emoji that a cut has halved it makes another character. */
function stored(value: Row[string] | undefined): Row[string] {
  return typeof value === "string" ? value.toWellFormed() : (value ?? null);
}

/** Makes the triggers of a table. They belong to this connection, and are gone with it. */
function recordTable(this: DatabaseSync, { name, columns, key }: TableShape, table: number): void {
  const trigger = (what: string, when: string, deleted: 0 | 1, row: "NEW" | "OLD"): string =>
    `CREATE TEMP TRIGGER recorded_${what}_${name} AFTER ${when} BEGIN
      SELECT ${RECORD}(${table}, ${deleted}, ${columns.map((column) => `${row}.${column}`).join(", ")}); END;`;
  const moved = key.map((column) => `OLD.${column} IS NOT NEW.${column}`).join(" OR ");
  const triggers = [
    ...(LOGGED.has(name) ? [] : [trigger("insert", `INSERT ON main.${name} WHEN ${IS_RECORDING}()`, 0, "NEW")]),
    trigger("update", `UPDATE ON main.${name} WHEN ${IS_RECORDING}()`, 0, "NEW"),
    trigger("delete", `DELETE ON main.${name} WHEN ${IS_RECORDING}()`, 1, "OLD"),
    trigger("move", `UPDATE OF ${key.join(", ")} ON main.${name} WHEN ${IS_RECORDING}() AND (${moved})`, 1, "OLD"),
  ];
  this.exec(triggers.join("\n"));
}

function keyOf({ key: [first = "", ...rest] }: TableShape, row: Row): Row[string] {
  const one = row[first] ?? null;
  return rest.length === 0 ? one : JSON.stringify([one, ...rest.map((column) => row[column] ?? null)]);
}
