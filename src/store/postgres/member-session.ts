/**
 * The session by which a process hears notices, and asks. It ends with the work of its process, as notices to one that is stopped would keep
 * old rows of the whole server from being removed; where the process goes on, the session is opened again with its next statement.
 */
import type { Clock, Timer } from "../../core/clock.ts";
import { Retryable } from "../../core/errors.ts";
import type { PostgresConnection, PostgresRow, Statement } from "./open-connection.ts";
import { keepAlive, type SessionTimes } from "./session-settings.ts";

export interface MemberSessionOptions {
  readonly connect: () => Promise<PostgresConnection>;
  readonly channel: string;
  readonly clock: Clock;
  readonly times: SessionTimes;
  readonly onNotice: (text: string) => void;
  /** Called when it is open again: notices may have been missed. */
  readonly onAgain: () => void;
}

export class MemberSession implements Pick<PostgresConnection, "query"> {
  readonly #options: MemberSessionOptions;
  #connection: Promise<PostgresConnection> | undefined;
  #alive: Timer | undefined;
  #wasOpen = false;
  #closed = false;

  constructor(options: MemberSessionOptions) {
    this.#options = options;
  }

  /** Opens it now. Throws as `connect` does. */
  async open(): Promise<void> {
    await this.#connected();
  }

  /** Sends one statement, as a connection does: several that are sent in one turn of the event loop come one after the other. */
  async query(statement: Statement): Promise<readonly PostgresRow[]> {
    if (this.#closed) throw new Retryable("store_connection_lost", "the session of this process is closed");
    return (await this.#connected()).query(statement);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#alive?.cancel();
    await (await this.#connection?.catch(() => undefined))?.close();
  }

  #connected(): Promise<PostgresConnection> {
    return (this.#connection ??= this.#connect());
  }

  async #connect(): Promise<PostgresConnection> {
    const { connect, channel, clock, times, onNotice, onAgain } = this.#options;
    let connection: PostgresConnection | undefined;
    try {
      connection = await connect();
      connection.onLost(() => (this.#connection = undefined));
      connection.onNotice((_channel, text) => onNotice(text));
      await connection.query({ text: `LISTEN "${channel}"` });
      if (!this.#closed) this.#alive = keepAlive(connection, clock, times);
      if (this.#wasOpen) onAgain();
      this.#wasOpen = true;
      return connection;
    } catch (error) {
      this.#connection = undefined;
      await connection?.close();
      throw error;
    }
  }
}
