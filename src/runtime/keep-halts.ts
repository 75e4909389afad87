/** Stores halts at the end of a process whose disk took no writes when they were given: the next start must obey them. */
import { messageOf } from "../core/errors.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Stop } from "../limits/verdict.ts";
import type { StoreAddress } from "../config/store-address.ts";
import { openStore } from "../store/open-store.ts";

export interface KeepOptions {
  readonly store: StoreAddress;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Called once the process's own store is closed. Logs the result. */
export async function keepHalts(halts: readonly Stop[], { store: address, clock, random, log }: KeepOptions): Promise<void> {
  if (halts.length === 0) return;
  try {
    const store = await openStore(address, { clock, random });
    try {
      for (const { scope, reason, since } of halts) await store.stop("halt", scope, reason, since);
    } finally {
      await store.close();
    }
    log.info("the halt is stored now: the next start obeys it");
  } catch (error) {
    log.error("the halt could not be stored: give it again before the next start", { message: messageOf(error) });
  }
}
