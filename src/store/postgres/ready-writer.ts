/**
 * Sessions that write. A process has one ready beside those of its stores: a store that is opened to take over what another process leaves
 * waits for no connection, and for no check of the server.
 */
import type { PostgresAddress } from "../../config/postgres-address.ts";
import { checkServer } from "./check-server.ts";
import { openConnection, type PostgresConnection } from "./open-connection.ts";
import { writerPurpose } from "./ownership.ts";
import { migratePostgres, requireTables } from "./postgres-schema.ts";
import { WRITER_SETTINGS } from "./session-settings.ts";

export interface WriterOptions {
  readonly address: PostgresAddress;
  /** The number of the process in the fleet. Default 0: it is in none. */
  readonly process?: number;
  /** A query must not create a store: it is refused where there is none (`store_missing`). */
  readonly mustExist?: boolean;
}

/**
 * Connects a session that writes, and makes the tables, which a process of a fleet has made as it joined. Throws `Retryable` or
 * `Misconfigured` if the server cannot be used.
 */
export async function openWriter({ address, mustExist, process = 0 }: WriterOptions): Promise<PostgresConnection> {
  const connection = await openConnection({ address, purpose: writerPurpose(process), settings: WRITER_SETTINGS });
  try {
    await checkServer(connection, address, () => openConnection({ address, purpose: "check" }));
    if (mustExist === true || process > 0) await requireTables(connection, address);
    await migratePostgres(connection, address);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

export class ReadyWriter {
  readonly #open: () => Promise<PostgresConnection>;
  #ready: PostgresConnection | undefined;
  #preparing: Promise<void> | undefined;
  #isClosed = false;

  constructor(open: () => Promise<PostgresConnection>) {
    this.#open = open;
  }

  /** Has one ready for the first store. Throws as `openWriter` does. */
  async open(): Promise<void> {
    this.#keep(await this.#open());
  }

  /** The session that is ready; if none is, a new one. Throws as `openWriter` does. */
  async take(): Promise<PostgresConnection> {
    await this.#preparing;
    const ready = this.#ready;
    this.#ready = undefined;
    return ready ?? this.#open();
  }

  /** Has one ready for the next store. */
  prepare(): void {
    if (this.#isClosed || this.#ready !== undefined) return;
    this.#preparing ??= this.#prepare().finally(() => (this.#preparing = undefined));
  }

  /** A session that is just being opened is closed once it is: nobody waits for a server that does not answer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ready?.close();
  }

  async #prepare(): Promise<void> {
    const connection = await this.#open().catch(() => undefined); // the next store opens its own, and is told why that fails
    if (this.#isClosed) await connection?.close();
    else if (connection !== undefined) this.#keep(connection);
  }

  #keep(connection: PostgresConnection): void {
    this.#ready = connection;
    connection.onLost(() => {
      if (this.#ready === connection) this.#ready = undefined;
    });
  }
}
