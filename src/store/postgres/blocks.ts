/** Numbers of facts and rows: a holder takes them from blocks that it has alone. Blocks are given upwards, so a later holder's are higher. */
import { Fatal } from "../../core/errors.ts";
import type { Numbers } from "../sqlite/numbers.ts";
import type { PostgresConnection } from "./open-connection.ts";

export const BLOCK = 65_536;

interface Range {
  next: number;
  readonly end: number;
}

export class NumberBlocks implements Numbers {
  readonly #connection: PostgresConnection;
  readonly #schema: string;
  #facts: Range[] = [];
  #rows: Range[] = [];
  #asking = false;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#schema = schema;
  }

  /** Takes new blocks for everything from now on: their numbers are higher than all that any process has used. */
  async renew(): Promise<void> {
    [this.#facts, this.#rows] = [[await this.#block()], [await this.#block()]];
  }

  /** The numbers before the first fact, and before the first row. */
  get before(): { readonly facts: number; readonly rows: number } {
    const before = (ranges: readonly Range[]): number => (ranges[0]?.next ?? 1) - 1;
    return { facts: before(this.#facts), rows: before(this.#rows) };
  }

  fact(last: number): number {
    const [range] = this.#facts;
    if (range !== undefined && last >= range.next - 1 && last < range.end) range.next = last + 1;
    const next = this.#first(this.#facts);
    return next;
  }

  row(): number {
    const next = this.#first(this.#rows);
    const [range] = this.#rows;
    if (range !== undefined) range.next++;
    return next;
  }

  #first(ranges: Range[]): number {
    if (ranges[0] !== undefined && ranges[0].next > ranges[0].end) ranges.shift();
    const [range] = ranges;
    if (range === undefined) throw new Fatal("store_lost", "no block of numbers is left", { hint: "the server answers too slowly" });
    if (ranges.length === 1 && range.end - range.next < BLOCK / 2) this.#ask();
    return range.next;
  }

  /** Takes the next blocks before the present ones are used up. After a failure the next number asks again; a lost connection ends everything. */
  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    void Promise.all([this.#block(), this.#block()]).then(
      ([facts, rows]) => {
        this.#facts.push(facts);
        this.#rows.push(rows);
        this.#asking = false;
      },
      () => {
        this.#asking = false;
      },
    );
  }

  async #block(): Promise<Range> {
    const [row] = await this.#connection.query({ text: `SELECT nextval('${this.#schema}.fact_block') AS number` });
    const first = Number(row?.["number"]) * BLOCK;
    return { next: first, end: first + BLOCK - 1 };
  }
}
