/** Refuses to begin on an unused server while the project's file has a history: the specialists would do all of it again. */
import { placeOf, type PostgresAddress } from "../config/postgres-address.ts";
import { DEFAULT_STORE, parseStoreAddress, storeFile } from "../config/store-address.ts";
import { Misconfigured } from "../core/errors.ts";
import { otherNetwork, type StoreUse } from "./bind-network.ts";
import { placeOfCopy } from "./copied.ts";
import { historyOf } from "./sqlite/upkeep.ts";

export interface Beginning extends Omit<StoreUse, "store"> {
  /** The store on a server, which nothing was done with yet. */
  readonly store: PostgresAddress;
  /** The folder of the project. */
  readonly cwd: string;
}

/** The error for a project whose default file, or the copy of it, would be left behind; undefined if it has no history on this network. */
export function leftBehind({ store, cwd, ...use }: Beginning): Misconfigured | undefined {
  const address = parseStoreAddress(DEFAULT_STORE, cwd);
  const file = storeFile(address);
  const history = historyOf(file);
  if (history === undefined) return undefined;
  if (otherNetwork(history.network, { ...use, store: address }) !== undefined) return undefined; // nothing of it can be repeated here
  const copy = placeOfCopy(history.haltReasons);
  const where = copy === undefined ? "the project's file has a history" : `the rows of the project's file were copied to ${copy}`;
  const remedy =
    copy === undefined
      ? `take it along with retinue store copy <address> --store ${DEFAULT_STORE}`
      : "name that copy with RETINUE_STORE or --store";
  return new Misconfigured(
    "store_left_behind",
    `nothing was done with the store on ${placeOf(store)} yet, and ${where}: the specialists would do all of it again`,
    { file, expected: "a store that knows what was done", hint: `${remedy}; to begin anew on purpose, rename the file` },
  );
}
