/** Opens a store as soon as the process before has lost it. */
import type { StoreAddress } from "../../../src/config/store-address.ts";
import { Retryable } from "../../../src/core/errors.ts";
import { openStore, type OpenStoreOptions } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/store.ts";

const ASK_MS = 25;

export async function openWhenFree(address: StoreAddress, options: OpenStoreOptions): Promise<Store> {
  for (;;) {
    try {
      return await openStore(address, options);
    } catch (error) {
      if (!(error instanceof Retryable && error.code === "store_in_use")) throw error;
    }
    await new Promise((resolve) => void setTimeout(resolve, ASK_MS));
  }
}
