/**
 * Stores halts at the end of a process whose store took no writes when they were given. In a file the next start must obey them; on a server
 * the other processes, which may be running without them.
 */
import { messageOf } from "../core/errors.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Stop } from "../limits/verdict.ts";
import type { PostgresAddress } from "../config/postgres-address.ts";
import type { StoreAddress } from "../config/store-address.ts";
import { openStore } from "../store/open-store.ts";

export interface KeepOptions {
  readonly store: StoreAddress;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For the salt of a store on a server. */
  readonly newSalt: () => string;
}

/** Called once the process's own store is closed. Logs the result. */
export async function keepHalts(halts: readonly Stop[], options: KeepOptions): Promise<void> {
  if (halts.length === 0) return;
  const { store: address, log } = options;
  const isShared = address.kind === "postgres";
  try {
    await (isShared ? keepOnServer(halts, address, options) : keepInFile(halts, options));
    if (isShared) log.warn("the halt is stored now, for processes that begin or take specialists: give it again to those that are running");
    else log.info("the halt is stored now: the next start obeys it");
  } catch (error) {
    const then = isShared ? "now, since other processes may be running without it" : "before the next start";
    log.error(`the halt could not be stored: give it again ${then}`, { message: messageOf(error) });
  }
}

async function keepInFile(halts: readonly Stop[], { store: address, clock, random }: KeepOptions): Promise<void> {
  const store = await openStore(address, { clock, random });
  try {
    for (const { scope, reason, since } of halts) await store.stop("halt", scope, reason, since);
  } finally {
    await store.close();
  }
}

/** Needs no shard: others may have all of them. */
async function keepOnServer(
  halts: readonly Stop[],
  address: PostgresAddress,
  { clock, newSalt }: Pick<KeepOptions, "clock" | "newSalt">,
): Promise<void> {
  const { Membership } = await import("../store/postgres/membership.ts"); // nobody else pays for it
  const visitor = await Membership.open({ address, clock, handles: undefined, newSalt });
  try {
    for (const { scope, reason, since } of halts) await visitor.keepStop("halt", scope, reason, since);
  } finally {
    await visitor.close();
  }
}
