/** Where the store is: a URL such as `sqlite:.retinue/store.sqlite`, read and checked. */
import { isAbsolute, join } from "node:path";
import { Misconfigured } from "../core/errors.ts";
import { realPath } from "../core/real-path.ts";

export interface StoreAddress {
  readonly kind: "sqlite";
  /** Absolute and without links, or `:memory:`: lock and control socket lie beside the file itself. */
  readonly path: string;
}

export const DEFAULT_STORE = "sqlite:.retinue/store.sqlite";

/** Throws `Misconfigured` (`store_invalid`, `store_not_built`). Never echoes an address that could hold a password. */
export function parseStoreAddress(address: string, cwd: string): StoreAddress {
  if (/^postgres(ql)?:/i.test(address))
    throw new Misconfigured("store_not_built", "the PostgreSQL store is not built yet", {
      expected: "sqlite:<path>",
      hint: `use ${DEFAULT_STORE}`,
    });
  const path = /^sqlite:(.+)$/.exec(address)?.[1];
  if (path === undefined || path.includes("\0"))
    throw new Misconfigured("store_invalid", "the store's address cannot be read", {
      expected: "sqlite:<path>",
      hint: `use ${DEFAULT_STORE}`,
    });
  const local = path.replace(/^\/\/(?=\/)/, "");
  return { kind: "sqlite", path: local === ":memory:" ? local : followed(isAbsolute(local) ? local : join(cwd, local)) };
}

/** A path that cannot be followed is kept: opening it says what is wrong. */
function followed(path: string): string {
  try {
    return realPath(path);
  } catch {
    return path;
  }
}
