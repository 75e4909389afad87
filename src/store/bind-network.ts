/**
 * Binds a store to one network. On another network, new objects with known ids would pass as handled, and waiting actions would be sent
 * there.
 */
import { placeOf } from "../config/postgres-address.ts";
import type { StoreAddress } from "../config/store-address.ts";
import { endpointUrl } from "../contract/base-address.ts";
import { Misconfigured } from "../core/errors.ts";
import type { MetadataStore } from "./metadata.ts";

export interface StoreUse {
  readonly store: StoreAddress;
  /** The network to use it on: its address, or another identification. */
  readonly network: string;
  /** Permits a new address of the same network. */
  readonly allowMoved: boolean;
}

/** The error for a store that was used on network `before`; undefined if it may be used. */
export function otherNetwork(before: string | undefined, { store, network, allowMoved }: StoreUse): Misconfigured | undefined {
  if (before === undefined || allowMoved || isSame(before, network)) return undefined;
  const [what, another] =
    store.kind === "sqlite"
      ? ["the store", "name another store with --store sqlite:<path>"]
      : [`the store on ${placeOf(store)}, schema ${store.schema},`, "name another schema in the store's address: ?schema=<name>"];
  return new Misconfigured("store_of_other_network", `${what} belongs to ${before}, not to ${network}`, {
    ...(store.kind === "sqlite" ? { file: store.path } : {}),
    expected: "a separate store for each network: ids would be mixed up, and waiting actions would be sent to the wrong one",
    hint: `${another}; if the same network has moved, start once with retinue run --allow-moved`,
  });
}

/** Binds the store to that network. Throws `Misconfigured` (`store_of_other_network`). */
export async function bindToNetwork(store: Pick<MetadataStore, "network" | "belongTo">, use: StoreUse): Promise<void> {
  const before = await store.network();
  const refusal = otherNetwork(before, use);
  if (refusal !== undefined) throw refusal;
  if (before !== use.network) await store.belongTo(use.network);
}

/** Compares addresses without trailing slashes and without a version that the endpoints repeat. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  return URL.canParse(one) && URL.canParse(other) && endpointUrl(one, ENDPOINT) === endpointUrl(other, ENDPOINT);
}

const ENDPOINT = "/v1/posts";
