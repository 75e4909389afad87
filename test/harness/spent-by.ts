/** The money of one specialist. */
import type { Handle } from "../../src/core/ids.ts";
import type { SpentRow } from "../../src/store/controls.ts";
import type { Ledger } from "../../src/store/ledger.ts";

export async function spentBy(store: Pick<Ledger, "usage">, handle: Handle, now: number): Promise<readonly SpentRow[]> {
  return (await store.usage(now, handle)).get(handle)?.money ?? [];
}
