/**
 * Stores the changes of the working copy in PostgreSQL: all commits that came up while the last group was under way are one statement, and
 * so one transaction and one round trip, however many events they are about. One connection writes, so groups keep the order of commits.
 */
import type { Clock, Timer } from "../../core/clock.ts";
import { Fatal, messageOf } from "../../core/errors.ts";
import { SECOND } from "../../core/units.ts";
import type { Row } from "../sqlite/columns.ts";
import type { RowChanges, TableShape } from "../sqlite/row-changes.ts";
import type { WorkingCopy } from "../sqlite/working-copy.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { Heard } from "./ownership.ts";
import { FACT_TABLES, NO_SHARD, ROW_PLACES, shardOf, type ShardMap } from "./row-places.ts";
import type { SessionTimes } from "./session-settings.ts";

export interface CommitGroupOptions {
  readonly connection: PostgresConnection;
  readonly copy: WorkingCopy;
  readonly clock: Clock;
  /** Shows how long this process was stopped: a clock that another corrects may not. */
  readonly wall: Clock;
  readonly shards: ShardMap;
  readonly times: SessionTimes;
  /** The number of this holder. */
  readonly holder: number;
  /** The schema of the tables, as an identifier. */
  readonly schema: string;
}

/** Commits that nothing waits for are stored after this time. */
const UNAWAITED_MS = 20;
/** Prepared statements of one connection: one for each set of tables that changed together. */
const MOST_PREPARED = 200;

type Cell = Row[string];
type PlacedRow = Record<string, Cell | string>;

/** Rows that are written, rows that go, and rows that go and whose specialist is not known any longer. */
const CHANGES = ["+", "-", "~"] as const;
type Change = (typeof CHANGES)[number];

export class CommitGroups {
  readonly #options: CommitGroupOptions;
  readonly #texts = new Map<string, { readonly text: string; readonly name: string }>();
  readonly #fail: (error: Fatal) => void;
  /** Resolves when nothing can be stored any longer. */
  readonly failure: Promise<Fatal>;
  #underway: Promise<void> | undefined;
  #unawaited: Timer | undefined;
  #closed = false;
  #lost: Fatal | undefined;
  readonly #heard: Heard;
  #alive: Timer | undefined;

  constructor(options: CommitGroupOptions) {
    this.#options = options;
    let fail: (error: Fatal) => void = () => undefined;
    this.failure = new Promise((resolve) => (fail = resolve));
    this.#fail = fail;
    this.#heard = new Heard(options.wall);
    options.connection.onLost((error) => this.#lose(error));
    this.#stayAlive();
  }

  /** For the working copy: called after each of its commits. */
  committed(): void {
    this.#options.copy.recordCommit();
    this.#storeSoon();
  }

  /** Resolves when everything committed before is stored. Throws `Fatal` (`store_lost`), then and from then on, if the server refuses a group. */
  async sync(): Promise<void> {
    while (this.#underway !== undefined) await this.#underway; // itself: after one promise more, another would always have begun the next group
    if (this.#lost !== undefined) throw this.#lost;
    if (!this.#options.copy.hasChanges) return;
    this.#unawaited?.cancel();
    this.#unawaited = undefined;
    this.#underway = this.#store();
    try {
      await this.#underway;
    } finally {
      this.#underway = undefined;
      this.#storeSoon();
    }
  }

  /** True once nothing is stored any longer: a group without one before it would leave a hole, and its mark would pass it. */
  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Throws `Fatal` (`store_lost`) if another process may have the store by now, because this one was stopped: nothing may leave then. */
  requireCurrent(): void {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#heard.ageMs > this.#options.times.currentMs)
      throw this.#lose(`the server heard nothing of this process for ${Math.round(this.#heard.ageMs / SECOND)} s`);
  }

  /** Accepts nothing more. */
  fail(cause: unknown): void {
    this.#lose(cause);
  }

  close(): void {
    this.#closed = true;
    this.#unawaited?.cancel();
    this.#alive?.cancel();
  }

  /** Stores what nothing waits for. */
  #storeSoon(): void {
    const { copy, clock } = this.#options;
    if (this.#unawaited !== undefined || this.#underway !== undefined || this.#lost !== undefined || this.#closed || !copy.hasChanges)
      return;
    this.#unawaited = clock.after(UNAWAITED_MS, () => {
      this.#unawaited = undefined;
      this.sync().catch((error: unknown) => this.#lose(error));
    });
  }

  /** Keeps the session while nothing is stored. */
  #stayAlive(): void {
    this.#alive = this.#options.clock.after(this.#options.times.aliveMs, () => {
      this.#ask({ text: "SELECT", name: "alive" }).then(
        () => this.#closed || this.#stayAlive(),
        (error: unknown) => this.#lose(error),
      );
    });
  }

  async #ask(statement: Parameters<PostgresConnection["query"]>[0]): Promise<void> {
    const heard = this.#heard.beginning();
    await this.#options.connection.query(statement);
    heard();
  }

  async #store(): Promise<void> {
    const { copy } = this.#options;
    try {
      const statement = copy.reading(() => this.#statement(copy.takeChanges()));
      if (statement !== undefined) await this.#ask(statement);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  #lose(cause: unknown): Fatal {
    if (this.#lost !== undefined) return this.#lost;
    const message = typeof cause === "string" ? cause : messageOf(cause);
    const lost = new Fatal("store_lost", `the connection to PostgreSQL is lost: ${message}`, {
      cause,
      hint: "no more requests are sent; this process starts again when the server answers",
    });
    this.#lost = lost;
    if (!this.#closed) this.#fail(lost);
    return lost;
  }

  /** One statement for all tables: each part sees the rows as they were before, and all take effect together or not at all. */
  #statement(changes: RowChanges): { text: string; values: unknown[]; name?: string } | undefined {
    const values: unknown[] = [];
    const parts: string[] = [];
    for (const [table, { rows, shape }] of [...changes].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const written: Record<Change, PlacedRow[]> = { "+": [], "-": [], "~": [] };
      for (const { row, isDeleted } of rows.values()) {
        const placed = this.#placed(table, row);
        if (!isDeleted && placed === undefined) throw unplaced(table, row);
        written[!isDeleted ? "+" : placed === undefined ? "~" : "-"].push(placed ?? row);
      }
      for (const change of CHANGES) {
        if (written[change].length === 0) continue;
        parts.push(`${table}${change}${values.length + 1}`);
        values.push(toJson(change === "+" ? written[change] : keysOf(shape, written[change])));
        if (change === "~") values.push(this.#options.holder);
      }
    }
    if (parts.length === 0) return undefined; // one commit undid the other
    return { ...this.#text(parts.join(" "), () => this.#write(changes, parts)), values };
  }

  #write(changes: RowChanges, parts: readonly string[]): string {
    const written = parts.map((part, i) => {
      const [, table = "", sign, number = ""] = /^(\w+)([+~-])(\d+)$/.exec(part) ?? [];
      const shape = changes.get(table)?.shape;
      if (shape === undefined) throw new Fatal("store_damaged", `no table is named ${table}`);
      return `w${i} AS (${(sign === "+" ? upsert : sign === "-" ? remove : removeAnywhere)(shape, number)})`;
    });
    return `WITH ${written.join(", ")} SELECT`.replaceAll("@", this.#options.schema);
  }

  #text(key: string, write: () => string): { readonly text: string; readonly name?: string } {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    if (this.#texts.size >= MOST_PREPARED) return { text: write() };
    const made = { text: write(), name: `group ${this.#options.holder} ${this.#texts.size}` };
    this.#texts.set(key, made);
    return made;
  }

  #placed(table: string, row: Row): PlacedRow | undefined {
    const { shards, copy, holder } = this.#options;
    const shard = shardOf(table, row, shards, (name, other) => copy.specialistOf(name, other));
    return placeRow(table, row, holder, shard);
  }
}

function unplaced(table: string, row: Row): Fatal {
  const about = Object.entries(row).filter(([, value]) => typeof value === "number");
  return new Fatal("store_damaged", `the shard of a row of ${table} is unknown: ${JSON.stringify(Object.fromEntries(about))}`);
}

function keysOf(shape: TableShape, rows: readonly PlacedRow[]): readonly PlacedRow[] {
  const { key } = columnsOf(shape);
  return rows.map((row) => Object.fromEntries(key.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]]))));
}

/** The row as the table in PostgreSQL has it, with its shard or holder; undefined if it needs a shard, and has none. */
export function placeRow(table: string, row: Row, holder: number, shard: number | undefined): PlacedRow | undefined {
  const place = ROW_PLACES[table];
  if (place === "all") return row;
  if (place === "holder") {
    const { one: _one, ...rest } = row;
    return { holder, ...rest };
  }
  if (shard === undefined) return undefined;
  return table === ACCOUNTS ? { shard, holder: shard === NO_SHARD ? holder : 0, ...row } : { shard, ...row };
}

/** The table with a part of the Guardian's account for each holder. */
export const ACCOUNTS = "spend_row";

/** Columns that the table has in PostgreSQL. */
export function columnsOf({ name, columns, key }: TableShape): { readonly columns: readonly string[]; readonly key: readonly string[] } {
  switch (ROW_PLACES[name]) {
    case "all":
      return { columns, key };
    case "holder":
      return { columns: ["holder", ...columns.filter((column) => column !== "one")], key: ["holder"] };
    case "home":
      return { columns: ["shard", ...columns], key };
    default: {
      const places = name === ACCOUNTS ? ["shard", "holder"] : ["shard"];
      return { columns: [...places, ...columns], key: [...places, ...key] };
    }
  }
}

/** `number` is that of the parameter with the rows, as JSON. */
export function upsert(shape: TableShape, number: string): string {
  const { columns, key } = columnsOf(shape);
  const rest = columns.filter((column) => !key.includes(column));
  const insert = `INSERT INTO @.${shape.name} (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM json_populate_recordset(NULL::@.${shape.name}, $${number}::json)`;
  if (FACT_TABLES.has(shape.name)) return insert;
  const set = rest.length === 0 ? "NOTHING" : `UPDATE SET ${rest.map((column) => `${column} = excluded.${column}`).join(", ")}`;
  return `${insert} ON CONFLICT (${key.join(", ")}) DO ${set}`;
}

function remove(shape: TableShape, number: string): string {
  const { key } = columnsOf(shape);
  return `DELETE FROM @.${shape.name} AS t USING json_populate_recordset(NULL::@.${shape.name}, $${number}::json) AS k WHERE ${key.map((column) => `t.${column} = k.${column}`).join(" AND ")}`;
}

/**
 * Removes rows whose shard is not known any longer, because what they belong to is gone: from the span of their numbers in each shard of the
 * holder, whose number is the next parameter. The sum keeps the planner from looking for each number in each shard.
 */
function removeAnywhere(shape: TableShape, number: string): string {
  const [, first = "", ...rest] = columnsOf(shape).key;
  const gone = `json_populate_recordset(NULL::@.${shape.name}, $${number}::json) AS k`;
  return `DELETE FROM @.${shape.name} AS t WHERE t.shard = ANY(ARRAY(SELECT shard FROM @.shard WHERE holder = $${Number(number) + 1}))
    AND t.${first} BETWEEN (SELECT min(k.${first}) FROM ${gone}) AND (SELECT max(k.${first}) FROM ${gone})
    AND EXISTS (SELECT FROM ${gone} WHERE k.${first} = t.${first} + 0${rest.map((column) => ` AND k.${column} = t.${column}`).join("")})`;
}

/** PostgreSQL takes no NUL in a text: what comes from a network may hold one. */
export function toJson(rows: readonly Record<string, Cell | string>[]): string {
  const text = JSON.stringify(rows, encodeBytes);
  return text.includes("\\u0000") ? JSON.stringify(rows, withoutNul) : text;
}

function encodeBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}` : value;
}

function withoutNul(name: string, value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : encodeBytes(name, value);
}
