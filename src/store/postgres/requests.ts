/**
 * Requests of one process to another, as rows: a question, an order or a delivery. A request has a deadline by the server's clock. Its
 * receiver takes it before that or never, so whoever has withdrawn it untaken knows that it will not be carried out.
 */
import type { Clock, Timer } from "../../core/clock.ts";
import { Retryable } from "../../core/errors.ts";
import { MINUTE, SECOND } from "../../core/units.ts";
import type { Query } from "./in-schema.ts";
import type { PostgresRow } from "./open-connection.ts";
import { Heard } from "./ownership.ts";

export interface RequestsOptions {
  readonly query: Query;
  readonly channel: string;
  /** The number of this process; 0 for a visitor, which nobody asks. */
  readonly number: number;
  readonly clock: Clock;
  /** Answers a request of another process, for which that waits so long; undefined where nobody waits for an answer. Never rejects. */
  readonly answer: ((body: string, leftMs: number) => Promise<string | undefined>) | undefined;
}

/** A process that is asked. */
export interface Receiver {
  readonly number: number;
  readonly name: string;
}

const LOOK_MS = SECOND;
/** Requests whose notice was lost are taken after so many looks, unless another statement has looked for them. */
const LOOKS_A_RECEIPT = 3;
/** Looks until old requests are removed, and how many at once. */
const LOOKS_A_REMOVAL = 60;
const REMOVED_AT_ONCE = 1_000;
const KEPT = "10 minutes";
/** A request that nobody answers is of no use later. */
const TOLD_MS = MINUTE;
const TAKEN_AT_ONCE = 100;
/** Characters of an answer, which is a row. */
export const LONGEST_ANSWER = 8 * 1_024 * 1_024;

/** The condition of a request to the process with this number that it can still take. */
export function waitsFor(receiver: string): string {
  return `receiver = ${receiver} AND taken_at IS NULL AND deadline > clock_timestamp()`;
}

export class Requests {
  readonly #options: RequestsOptions;
  /** Requests under way: who is asked, and what takes the answer; none comes from one that is gone. */
  readonly #asked = new Map<number, { readonly receiver: number; readonly take: (answer: string | undefined) => void }>();
  #timer: Timer | undefined;
  #looks = 0;
  #unseenFor = 0;
  #closed = false;

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#arm();
  }

  /**
   * Asks another process. Throws `Retryable` (`process_silent`) if no answer comes in time, which says if the other may still do what it
   * was asked for. `signal` ends the wait, as if the other had gone.
   */
  async ask(receiver: Receiver, body: string, timeoutMs: number, signal?: AbortSignal): Promise<string> {
    const { query, channel, clock } = this.#options;
    const [row] = await query(
      `WITH asked AS (INSERT INTO @.request (number, receiver, body, deadline)
          VALUES (nextval('@.request_number'), $2::bigint, $3, clock_timestamp() + $4::double precision * interval '1 millisecond') RETURNING number)
        SELECT number, pg_notify($1, 'ask ' || $2::bigint::text) FROM asked`,
      [channel, receiver.number, body, timeoutMs],
    );
    const number = Number(row?.["number"]);
    const answered = Promise.withResolvers<string | undefined>();
    this.#asked.set(number, { receiver: receiver.number, take: answered.resolve });
    let waitedMs: number | undefined; // by itself, since a timer may fire a little early
    const timer = clock.after(timeoutMs, () => {
      waitedMs = timeoutMs;
      answered.resolve(undefined);
    });
    if (signal?.aborted === true) answered.resolve(undefined);
    signal?.addEventListener("abort", () => answered.resolve(undefined), { once: true });
    try {
      return (await answered.promise) ?? (await this.#withdraw(number, receiver, waitedMs));
    } finally {
      timer.cancel();
      this.#asked.delete(number);
    }
  }

  /** Tells other processes; nobody answers. */
  async tell(receivers: readonly Receiver[], body: string): Promise<void> {
    const { query, channel } = this.#options;
    await query(
      `WITH told AS (INSERT INTO @.request (number, receiver, body, deadline)
          SELECT nextval('@.request_number'), receiver, $3, clock_timestamp() + interval '${TOLD_MS} milliseconds'
          FROM unnest($2::bigint[]) AS receiver RETURNING receiver)
        SELECT pg_notify($1, 'ask ' || receiver) FROM told`,
      [channel, receivers.map(({ number }) => number), body],
    );
  }

  /** Ends the wait for the answers of processes that live no longer. */
  seen(living: readonly Receiver[]): void {
    for (const { receiver, take } of this.#asked.values()) if (living.every(({ number }) => number !== receiver)) take(undefined);
  }

  /** Another statement has looked for requests to this process. Takes them if there are any. */
  waits(isAsked: boolean): void {
    this.#unseenFor = 0;
    if (isAsked) void this.#receive();
  }

  /** Takes a notice of this channel. */
  heard(text: string): void {
    const [what, whose] = text.split(" ");
    if (what === "ask" && Number(whose) === this.#options.number) void this.#receive();
    else if (what === "answer" && this.#asked.has(Number(whose))) void this.#collect();
  }

  /** Reads what notices would have told. */
  lookAgain(): void {
    void this.#receive();
    if (this.#asked.size > 0) void this.#collect();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #arm(): void {
    this.#timer = this.#options.clock.after(LOOK_MS, () => {
      if (this.#closed) return;
      this.#arm();
      if (++this.#unseenFor % LOOKS_A_RECEIPT === 0) void this.#receive();
      if (++this.#looks % LOOKS_A_REMOVAL === 0) void this.#removeOld();
      if (this.#asked.size > 0) void this.#collect();
    });
  }

  /** Takes back a request that nobody answered in time, or, without a time, whose receiver is gone. Returns an answer that has come meanwhile. */
  async #withdraw(number: number, receiver: Receiver, timeoutMs: number | undefined): Promise<string> {
    const text = "DELETE FROM @.request WHERE number = $1 RETURNING answer, taken_at IS NULL AS untaken";
    const [row] = await this.#options.query(text, [number]).catch(() => []); // then it may have been taken
    const answer = row?.["answer"];
    if (typeof answer === "string") return answer;
    const silent =
      timeoutMs === undefined ? `${receiver.name} is gone` : `${receiver.name} has not answered within ${timeoutMs / SECOND} s`;
    if (row?.["untaken"] === true)
      throw new Retryable("process_silent", `${silent}, and does nothing of what it was asked for`, {
        hint: "retinue fleet shows if it still works; a process that is stopped loses its specialists to the others",
      });
    throw new Retryable("process_silent", `${silent}: it may have done what it was asked for, or still do it`, {
      hint: "look at what has happened before you give the order again; retinue fleet shows if the process still works",
    });
  }

  /**
   * Takes the requests to this process, each once. A statement that fails ends the session, or is tried again at the next look; a process
   * that was stopped since it asked for them is too late.
   */
  async #receive(): Promise<void> {
    const { answer, query, number, clock } = this.#options;
    if (answer === undefined || this.#closed) return;
    try {
      const asked = new Heard(clock);
      const rows = await query(
        `UPDATE @.request SET taken_at = clock_timestamp()
          WHERE number IN (SELECT number FROM @.request WHERE ${waitsFor("$1")} ORDER BY number LIMIT ${TAKEN_AT_ONCE})
          RETURNING number, body, extract(epoch FROM deadline - clock_timestamp()) * 1000 AS left_ms`,
        [number],
        "requests",
      );
      for (const row of rows.toSorted((a, b) => Number(a["number"]) - Number(b["number"])))
        if (asked.ageMs < Number(row["left_ms"])) void this.#answer(row, Number(row["left_ms"]) - asked.ageMs);
      if (rows.length === TAKEN_AT_ONCE) await this.#receive();
    } catch {
      // The next look tries again.
    }
  }

  async #answer(row: PostgresRow, leftMs: number): Promise<void> {
    const { answer: answerTo, query, channel } = this.#options;
    const number = Number(row["number"]);
    try {
      const answer = await answerTo?.(String(row["body"]), leftMs);
      if (answer === undefined) return void (await query("DELETE FROM @.request WHERE number = $1", [number]));
      await query(
        `WITH said AS (UPDATE @.request SET answer = $2 WHERE number = $1::bigint) SELECT pg_notify($3, 'answer ' || $1::bigint::text)`,
        [number, answer, channel],
      );
    } catch {
      // Whoever asked is told by its own timeout.
    }
  }

  async #collect(): Promise<void> {
    try {
      const rows = await this.#options.query(
        "DELETE FROM @.request WHERE number = ANY($1::bigint[]) AND answer IS NOT NULL RETURNING number, answer",
        [[...this.#asked.keys()]],
      );
      for (const { number, answer } of rows) this.#asked.get(Number(number))?.take(String(answer));
    } catch {
      // The next look tries again.
    }
  }

  /** Requests to processes that are gone, and answers that nobody waited for. */
  async #removeOld(): Promise<void> {
    try {
      await this.#options.query(
        `DELETE FROM @.request WHERE number IN (SELECT number FROM @.request
          WHERE deadline < now() - interval '${KEPT}' ORDER BY deadline LIMIT ${REMOVED_AT_ONCE})`,
      );
    } catch {
      // A later look tries again.
    }
  }
}
