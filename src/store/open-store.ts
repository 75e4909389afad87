/** Opens the store of an address: a file, or a schema in PostgreSQL. */
import type { StoreAddress } from "../config/store-address.ts";
import type { PostgresStoreOptions } from "./postgres/postgres-store.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

export type OpenStoreOptions = Omit<PostgresStoreOptions, "address">;

/** Throws `Retryable` (`store_in_use`) while another process has it, and `Misconfigured` if it cannot be used. */
export async function openStore(address: StoreAddress, options: OpenStoreOptions): Promise<Store> {
  if (address.kind === "sqlite") return openSqliteStore({ ...options, path: address.path });
  const { openPostgresStore } = await import("./postgres/postgres-store.ts"); // nobody else pays for it
  return openPostgresStore({ ...options, address });
}
