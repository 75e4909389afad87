/** Halts and pauses in force: those of the store, and halts that this process alone has. */
import type { UnkeptHalts } from "../gateway/unkept-halts.ts";
import type { Stop } from "../limits/verdict.ts";
import type { Store } from "../store/store.ts";

export interface HaltShown extends Stop {
  /** Set if the halt ends with the process, because the store could not be written. */
  readonly kept?: false;
}

export interface StopsInForce {
  readonly halts: readonly HaltShown[];
  readonly pauses: readonly Stop[];
}

/** `unkept` is undefined if no runtime is running. */
export async function stopsInForce(store: Pick<Store, "stops">, unkept: UnkeptHalts | undefined): Promise<StopsInForce> {
  const { halts, pauses } = await store.stops();
  const stored = new Set(halts.map(({ scope }) => scope));
  const held = (unkept?.all() ?? []).filter(({ scope }) => !stored.has(scope)).map((halt) => ({ ...halt, kept: false as const }));
  return { halts: [...halts, ...held], pauses };
}
