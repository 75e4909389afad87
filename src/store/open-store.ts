/** Opens the store of an address: a file, or a schema in PostgreSQL. */
import type { StoreAddress } from "../config/store-address.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import type { SqliteStoreOptions } from "./sqlite/store-options.ts";
import type { StandBy } from "./postgres/ownership.ts";
import type { Store } from "./store.ts";

export interface OpenStoreOptions extends Omit<SqliteStoreOptions, "path" | "database" | "numbers" | "blocking"> {
  /** For a store on a server: waits while another process has it. Default: it is refused. */
  readonly standBy?: StandBy;
  /** Time after which a server ends the session of a process that is silent. Default 16 s. */
  readonly sessionTimeoutMs?: number;
}

/** Throws `Retryable` (`store_in_use`) while another process has it, and `Misconfigured` if it cannot be used. */
export async function openStore(address: StoreAddress, options: OpenStoreOptions): Promise<Store> {
  if (address.kind === "sqlite") return openSqliteStore({ ...options, path: address.path });
  const { openPostgresStore } = await import("./postgres/store.ts"); // nobody else pays for it
  return openPostgresStore({ ...options, address });
}
