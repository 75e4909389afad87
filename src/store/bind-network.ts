/** A store belongs to one network: what has an id that is known here would be taken for handled elsewhere, and what waits would be sent there. */
import { endpointUrl } from "../contract/base-address.ts";
import { Misconfigured } from "../core/errors.ts";
import type { MetadataStore } from "./metadata.ts";

export interface StoreUse {
  /** The file of the store. */
  readonly path: string;
  /** The network it is to be used on: its address, or what else tells it from others. */
  readonly network: string;
  /** The address is another, and the network the same. */
  readonly allowMoved: boolean;
}

/** Why a store that was used on the network `before` is not used on another one; undefined where it may be. */
export function otherNetwork(before: string | undefined, { path, network, allowMoved }: StoreUse): Misconfigured | undefined {
  if (before === undefined || allowMoved || isSame(before, network)) return undefined;
  return new Misconfigured("store_of_other_network", `the store belongs to ${before}, and is to be used on ${network}`, {
    file: path,
    expected: "a store of its own for each network: ids would be mixed up, and what waits would be sent to the wrong one",
    hint: "name another store with --store sqlite:<path>; if the same network has moved, start once with retinue run --allow-moved",
  });
}

/** From now on the store belongs to that network. Throws `Misconfigured` (`store_of_other_network`). */
export async function bindToNetwork(store: MetadataStore, use: StoreUse): Promise<void> {
  const before = await store.network();
  const refusal = otherNetwork(before, use);
  if (refusal !== undefined) throw refusal;
  if (before !== use.network) await store.belongTo(use.network);
}

/** Slashes at the end and a version that the endpoints have too make no difference. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  return URL.canParse(one) && URL.canParse(other) && endpointUrl(one, ENDPOINT) === endpointUrl(other, ENDPOINT);
}

const ENDPOINT = "/v1/posts";
