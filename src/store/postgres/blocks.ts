/** Numbers of facts and rows: a holder takes them from blocks that it has alone. Blocks are given upwards, so a later holder's are higher. */
import { Fatal } from "../../core/errors.ts";
import { BLOCK, type Numbers } from "../sqlite/numbers.ts";
import type { PostgresConnection } from "./open-connection.ts";

interface Range {
  next: number;
  readonly end: number;
}

export class NumberBlocks implements Numbers {
  readonly #connection: Pick<PostgresConnection, "query">;
  readonly #schema: string;
  #facts: Range[] = [];
  #rows: Range[] = [];
  readonly #asking = new Set<Range[]>();

  constructor(connection: Pick<PostgresConnection, "query">, schema: string) {
    this.#connection = connection;
    this.#schema = schema;
  }

  /** Takes new blocks for everything from now on: their numbers are higher than all that any process has used. */
  async renew(): Promise<void> {
    const [facts, rows] = await Promise.all([this.#block(), this.#block()]);
    [this.#facts, this.#rows] = [[facts], [rows]];
  }

  /** The numbers before the first fact, and before the first row. */
  get before(): { readonly facts: number; readonly rows: number } {
    const before = (ranges: readonly Range[]): number => (ranges[0]?.next ?? 1) - 1;
    return { facts: before(this.#facts), rows: before(this.#rows) };
  }

  fact(last: number): number {
    const [range] = this.#facts;
    if (range !== undefined && last >= range.next - 1 && last <= range.end) range.next = last + 1;
    return this.#first(this.#facts);
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
    if (ranges.length === 1 && range.end - range.next < BLOCK / 2) this.#ask(ranges);
    return range.next;
  }

  /** Takes the next block before the present one is used up. After a failure the next number asks again; a lost connection ends everything. */
  #ask(ranges: Range[]): void {
    if (this.#asking.has(ranges)) return;
    this.#asking.add(ranges);
    void this.#block()
      .then(
        (range) => void ranges.push(range),
        () => undefined,
      )
      .finally(() => this.#asking.delete(ranges));
  }

  async #block(): Promise<Range> {
    const [row] = await this.#connection.query({ text: `SELECT nextval('${this.#schema}.fact_block') AS number` });
    const first = Number(row?.["number"]) * BLOCK;
    return { next: first, end: first + BLOCK - 1 };
  }
}
