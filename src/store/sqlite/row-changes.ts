/**
 * The rows that commits have changed, as they are after the last commit: for a store that keeps them elsewhere. SQLite's session extension
 * records which rows a transaction changes, those of triggers included.
 */
import type { DatabaseSync, Session, StatementSync } from "node:sqlite";
import { Fatal } from "../../core/errors.ts";
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
  readonly rows: Map<string, RowChange>;
}

export type RowChanges = ReadonlyMap<string, TableChanges>;

/** Operations in a changeset. */
const OPERATION = { insert: 18, update: 23, delete: 9 } as const;
/** Types of values in a changeset. */
const TYPE = { absent: 0, integer: 1, real: 2, text: 3, blob: 4, null: 5 } as const;
const TABLE_HEADER = 0x54;

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

export class ChangeRecorder {
  readonly #db: DatabaseSync;
  readonly #shapes: ReadonlyMap<string, TableShape>;
  readonly #selects = new Map<string, StatementSync>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #session: Session;
  #changes = new Map<string, TableChanges>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#shapes = new Map(tableShapes(db).map((shape) => [shape.name, shape]));
    this.#begin = db.prepare("BEGIN");
    this.#commit = db.prepare("COMMIT");
    this.#session = db.createSession();
  }

  /** Adds what was committed since the last call. Call it after each COMMIT, before the next change. */
  committed(): void {
    const changeset = this.#session.changeset();
    if (changeset.length === 0) return;
    this.#session.close();
    this.#session = this.#db.createSession();
    this.reading(() => this.#read(Buffer.from(changeset.buffer, changeset.byteOffset, changeset.byteLength)));
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
    this.committed();
    this.#session.close();
    try {
      return run();
    } finally {
      this.#session = this.#db.createSession();
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

  close(): void {
    this.#session.close();
  }

  #read(bytes: Buffer): void {
    const reader = new ChangesetReader(bytes);
    let shape: TableShape | undefined;
    let rows: TableChanges["rows"] | undefined; // none of an index
    while (!reader.isAtEnd) {
      const operation = reader.byte();
      if (operation === TABLE_HEADER) {
        shape = this.#shapes.get(reader.tableName());
        rows = shape === undefined || FACT_INDEXES.has(shape.name) ? undefined : this.#rows(shape);
        continue;
      }
      reader.byte(); // whether a trigger made it
      if (shape === undefined) throw unreadable();
      const first = reader.record(shape);
      const given = operation === OPERATION.update ? { ...first, ...reader.record(shape) } : first;
      if (rows === undefined) continue;
      const key = keyOf(shape, given);
      const now = operation === OPERATION.update ? this.#present(shape, key) : first;
      const isDeleted = operation === OPERATION.delete || now === undefined;
      rows.set(JSON.stringify(Object.values(key)), { row: now ?? given, isDeleted });
    }
  }

  #rows(shape: TableShape): TableChanges["rows"] {
    const known = this.#changes.get(shape.name);
    if (known !== undefined) return known.rows;
    const rows: TableChanges["rows"] = new Map();
    this.#changes.set(shape.name, { shape, rows });
    return rows;
  }

  /** A changeset holds only the changed columns of an updated row. */
  #present(shape: TableShape, key: Row): Row | undefined {
    const { name } = shape;
    const select =
      this.#selects.get(name) ??
      this.#db.prepare(`SELECT * FROM main.${name} WHERE ${shape.key.map((column) => `${column} = ?`).join(" AND ")}`);
    this.#selects.set(name, select);
    return select.get(...Object.values(key));
  }
}

function keyOf({ key }: TableShape, row: Row): Row {
  return Object.fromEntries(key.map((column) => [column, row[column] ?? null]));
}

function unreadable(): Fatal {
  return new Fatal("store_damaged", "the changes of a commit cannot be read");
}

/** Reads a changeset: https://www.sqlite.org/session/changeset.html */
class ChangesetReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.#at++] ?? 0;
  }

  /** The rest of a table's header: the number of columns, which of them are its key, and its name. */
  tableName(): string {
    const columns = this.#varint();
    this.#at += columns;
    const end = this.#bytes.indexOf(0, this.#at);
    const name = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return name;
  }

  record({ columns }: TableShape): Row {
    const row: Row = {};
    for (const column of columns) {
      const type = this.byte();
      if (type !== TYPE.absent) row[column] = this.#value(type);
    }
    return row;
  }

  #value(type: number): Row[string] {
    switch (type) {
      case TYPE.integer:
        this.#at += 8;
        return this.#bytes.readInt32BE(this.#at - 8) * 2 ** 32 + this.#bytes.readUInt32BE(this.#at - 4);
      case TYPE.real:
        this.#at += 8;
        return this.#bytes.readDoubleBE(this.#at - 8);
      case TYPE.text:
      case TYPE.blob: {
        const length = this.#varint();
        const from = this.#at;
        this.#at += length;
        return type === TYPE.text ? this.#bytes.toString("utf8", from, this.#at) : new Uint8Array(this.#bytes.subarray(from, this.#at));
      }
      case TYPE.null:
        return null;
      default:
        throw unreadable();
    }
  }

  #varint(): number {
    let value = 0;
    for (let i = 0; i < 8; i++) {
      const byte = this.byte();
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
    return value * 256 + this.byte();
  }
}
