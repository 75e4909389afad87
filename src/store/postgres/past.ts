/**
 * Reads the past of a store behind its start, by a connection of its own: shard by shard what decisions need, those first that are asked
 * for, and then what people ask for. The present works meanwhile; a specialist begins once its shard's past is here.
 */
import type { Handle } from "../../core/ids.ts";
import { Retryable } from "../../core/errors.ts";
import { MINUTE } from "../../core/units.ts";
import type { Row } from "../sqlite/columns.ts";
import type { WorkingCopy } from "../sqlite/working-copy.ts";
import { columnsOf } from "./commit-groups.ts";
import { openBatches } from "./load-rows.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { pastTables, type PastUse } from "./past-rows.ts";

/** Rows that are added in one turn: some three milliseconds. */
const BATCH = 1_024;
/**
 * Rows that are read for a group of shards: fewer, and the next group is twice as large; far more, and it is half as large. Rows of few
 * shards are scattered over the working copy, and each commit writes whole pages.
 */
const ROWS_AT_ONCE = 65_536;
const FIRST_GROUP = 16;
/** Shards that are asked for and read together: these, or a share of all that are asked for, so that the first do not wait for the rest. */
const ASKED_AT_ONCE = 8;
const SHARE_AT_ONCE = 1 / 4;
/** Longest wait for one batch: a slow disk takes seconds to find and sort its rows. */
const ANSWER_MS = MINUTE;

export interface PastOptions {
  readonly connect: () => Promise<PostgresConnection>;
  readonly copy: Pick<WorkingCopy, "shapes" | "loadOlder">;
  readonly schema: string;
  readonly shards: readonly number[];
  readonly shardOf: (specialist: Handle) => number;
  /** Called if it cannot be read: without its past a specialist would do things twice. */
  readonly onFailed: (error: unknown) => void;
}

type Arrival = PromiseWithResolvers<void>;

export class Past {
  readonly #options: PastOptions;
  /** Shards whose specialists cannot begin yet. */
  readonly #missing: Set<number>;
  /** The missing ones that are asked for, in order. */
  readonly #asked = new Map<number, Arrival>();
  readonly #decided = arrival();
  readonly #complete = arrival();
  #connection: PostgresConnection | undefined;
  #isComplete = false;
  #isClosed = false;
  #group = FIRST_GROUP;

  constructor(options: PastOptions) {
    this.#options = options;
    this.#missing = new Set(options.shards);
    this.#isComplete = options.shards.length === 0;
  }

  /** Begins to read. */
  start(): void {
    if (this.#isComplete) return;
    this.#read().catch((error: unknown) => {
      if (!this.#isClosed) this.#options.onFailed(error);
    });
  }

  /** Shards whose specialists wait. */
  get missing(): number {
    return this.#missing.size;
  }

  /** True if the specialist cannot begin yet. */
  lacks(specialist: Handle): boolean {
    return this.#missing.has(this.#options.shardOf(specialist));
  }

  /** Resolves once the specialist can begin, and brings that forward; undefined if it can. Rejects if the store is closed before. */
  of(specialist: Handle): Promise<void> | undefined {
    if (!this.lacks(specialist)) return undefined;
    const shard = this.#options.shardOf(specialist);
    const asked = this.#asked.get(shard) ?? arrival();
    this.#asked.set(shard, asked);
    return asked.promise;
  }

  /** Resolves once all specialists can begin; undefined if they can. */
  get decided(): Promise<void> | undefined {
    return this.#missing.size === 0 ? undefined : this.#decided.promise;
  }

  /** Resolves once everything is here; undefined if it is. */
  get complete(): Promise<void> | undefined {
    return this.#isComplete ? undefined : this.#complete.promise;
  }

  /** Reads no more. */
  close(): void {
    this.#isClosed = true;
    const closed = new Retryable("past_unread", "the store was closed before its past was read");
    for (const { reject } of [...this.#asked.values(), this.#decided, this.#complete]) reject(closed);
    void this.#connection?.close();
  }

  async #read(): Promise<void> {
    const connection = await this.#options.connect();
    this.#connection = connection;
    connection.requireAnswers(ANSWER_MS);
    try {
      for (let shards = this.#next(); shards.length > 0; shards = this.#next()) {
        await this.#add(connection, "decisions", shards);
        if (this.#isClosed) return;
        for (const shard of shards) this.#arrived(shard);
      }
      this.#decided.resolve();
      await this.#add(connection, "people", this.#options.shards);
      if (this.#isClosed) return;
      this.#isComplete = true;
      this.#complete.resolve();
    } finally {
      await connection.close();
    }
  }

  #next(): readonly number[] {
    const asked = [...this.#asked.keys()].slice(0, Math.max(ASKED_AT_ONCE, Math.floor(this.#asked.size * SHARE_AT_ONCE)));
    return asked.length > 0 ? asked : [...this.#missing].slice(0, this.#group);
  }

  #arrived(shard: number): void {
    this.#missing.delete(shard);
    this.#asked.get(shard)?.resolve();
    this.#asked.delete(shard);
  }

  /** Adds the rows of some shards. Those that are here already stay as they are. */
  async #add(connection: PostgresConnection, use: PastUse, shards: readonly number[]): Promise<void> {
    const { copy, schema } = this.#options;
    const names = pastTables(use);
    const shapes = copy.shapes.filter(({ name }) => names.includes(name));
    const begun = connection.query({ text: "BEGIN" });
    const tables = shapes.map((shape) => {
      const order = use === "decisions" && shape.columns.includes("seq") ? " ORDER BY seq" : ""; // all of a table comes in its own order
      const text = `SELECT ${columnsOf(shape).columns.join(", ")} FROM ${schema}.${shape.name} WHERE shard = ANY($1::int[])${order}`;
      return { name: shape.name, batches: openBatches(connection, shape.name, { text, values: [shards] }, BATCH) };
    });
    await begun;
    let rows = 0;
    for (const { name, batches } of tables)
      for await (const batch of batches) {
        if (this.#isClosed) return;
        rows += batch.length;
        await copy.loadOlder(name, batch as readonly Row[]);
      }
    await connection.query({ text: "COMMIT" });
    if (shards.length < this.#group) return;
    if (rows < ROWS_AT_ONCE) this.#group *= 2;
    else if (rows > 2 * ROWS_AT_ONCE) this.#group = Math.max(1, Math.floor(this.#group / 2));
  }
}

/** A promise that nobody has to wait for. */
function arrival(): Arrival {
  const made = Promise.withResolvers<void>();
  made.promise.catch(() => undefined); // whoever waits for it is told
  return made;
}
