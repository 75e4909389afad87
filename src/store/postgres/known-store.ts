/**
 * The store that a process works on, by its salt. A server may come back without it, or with another one: beginning anew there would do
 * everything again, so a process that has joined once joins no other.
 */
import { placeOf, type PostgresAddress } from "../../config/postgres-address.ts";
import { Misconfigured } from "../../core/errors.ts";
import { checkServer } from "./check-server.ts";
import { inSchema } from "./in-schema.ts";
import { openConnection, type PostgresConnection } from "./open-connection.ts";
import { hasTables, migratePostgres, requireTables } from "./postgres-schema.ts";

export class KnownStore {
  #salt: unknown;

  /** True once the process has joined. */
  get isKnown(): boolean {
    return this.#salt !== undefined;
  }

  /** Throws before it has joined. */
  get salt(): string {
    if (typeof this.#salt !== "string") throw new Error("the store is not known yet");
    return this.#salt;
  }

  /** Remembers the first store. Throws `Misconfigured` (`store_missing`) for another one. */
  recognise(salt: unknown, address: PostgresAddress): void {
    this.#salt ??= salt;
    if (this.#salt !== salt) throw storeGone(address);
  }
}

function storeGone(address: PostgresAddress): Misconfigured {
  return new Misconfigured("store_missing", `the server came back without the store: schema ${address.schema} of ${placeOf(address)}`, {
    hint: "restore it from a backup; to begin with an empty store, which answers again what was answered, restart all processes",
  });
}

export interface EnterOptions {
  readonly address: PostgresAddress;
  readonly known: KnownStore;
  /** For the salt of a new store. */
  readonly newSalt: () => string;
  /** A visitor makes no tables. */
  readonly isVisitor: boolean;
}

/**
 * Checks the server, makes or migrates the tables, and recognises the store. Throws `Retryable` or `Misconfigured` if the server cannot be
 * used, also with `store_missing`.
 */
export async function enterStore(connection: PostgresConnection, { address, known, newSalt, isVisitor }: EnterOptions): Promise<void> {
  const { schema } = address;
  const query = inSchema(connection, schema);
  await checkServer(connection, address, () => openConnection({ address, purpose: "check" }));
  if (known.isKnown && !(await hasTables(connection, schema))) throw storeGone(address);
  if (isVisitor) await requireTables(connection, address);
  await migratePostgres(connection, address);
  if (!known.isKnown) await query("INSERT INTO @.meta (name, value) VALUES ('salt', $1) ON CONFLICT DO NOTHING", [newSalt()]);
  const [row] = await query("SELECT value FROM @.meta WHERE name = 'salt'");
  known.recognise(row?.["value"], address);
}
