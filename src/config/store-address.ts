/** Parses the address of the store, for example `sqlite:.retinue/store.sqlite`. */
import { isAbsolute, join } from "node:path";
import { Misconfigured } from "../core/errors.ts";
import { realPath } from "../core/real-path.ts";
import type { Secret } from "../core/secret.ts";
import { parsePostgresAddress, type PostgresAddress } from "./postgres-address.ts";
import { nearest } from "./problem.ts";

export interface SqliteAddress {
  readonly kind: "sqlite";
  /** Absolute and without links, or `:memory:`: lock and control socket are beside the file itself. */
  readonly path: string;
}

export type StoreAddress = SqliteAddress | PostgresAddress;

export const DEFAULT_STORE = "sqlite:.retinue/store.sqlite";

/**
 * Throws `Misconfigured` (`store_invalid`, `store_tls_missing`). Never echoes an address that could hold a password. `localFolder` is for a
 * store on a server; default `.retinue`.
 */
export function parseStoreAddress(address: string, cwd: string, localFolder?: string): StoreAddress {
  return /^postgres(ql)?:/i.test(address) ? parsePostgresAddress(address, cwd, localFolder) : parseSqliteAddress(address, cwd);
}

function parseSqliteAddress(address: string, cwd: string): SqliteAddress {
  const path = /^sqlite:(.+)$/.exec(address)?.[1];
  if (path === undefined || path.includes("\0"))
    throw new Misconfigured("store_invalid", "the store's address cannot be read", {
      expected: "sqlite:<path>, or postgres://user:password@host/database",
      hint: adviceFor(address),
    });
  const local = path.replace(/^\/\/(?=\/)/, "");
  return { kind: "sqlite", path: local === ":memory:" ? local : followed(isAbsolute(local) ? local : join(cwd, local)) };
}

/** Names the scheme that was probably meant. */
function adviceFor(address: string): string {
  const scheme = /^([a-z][\w+.-]*):/i.exec(address)?.[1];
  const near = scheme === undefined ? undefined : nearest(scheme, Object.keys(SCHEMES));
  return near === undefined ? `use ${DEFAULT_STORE}` : `did you mean ${SCHEMES[near]}?`;
}

const SCHEMES: { readonly [scheme: string]: string } = {
  sqlite: DEFAULT_STORE,
  postgres: "postgres://user:password@host/database",
};

export function storeSecrets(address: StoreAddress): readonly Secret[] {
  return address.kind === "sqlite" || address.password === undefined ? [] : [address.password];
}

/** The file on this machine: the store itself, or its working copy. Other files of the process are beside it. */
export function storeFile(address: StoreAddress): string {
  return address.kind === "sqlite" ? address.path : address.localFile;
}

/** A path that cannot be followed is kept: opening it reports the error. */
function followed(path: string): string {
  try {
    return realPath(path);
  } catch {
    return path;
  }
}
