/** Judges quotas by the network's own count: every request beyond a tier, but for what nothing of ours can know. */
import type { Clock } from "../core/clock.ts";
import { DAY, HOUR } from "../core/units.ts";
import type { LocalNetwork } from "../local-network/options.ts";

export interface QuotaOracle {
  /** A request has just arrived later than the network states that it can. */
  strays(): void;
  /** Breaches since the last call. */
  read(): readonly string[];
}

const SPAN = { hour: HOUR, day: DAY } as const;

export function createQuotaOracle(network: LocalNetwork, clock: Clock): QuotaOracle {
  /** Counted by the network, and not held against anybody. */
  const strays: { readonly agent: string; readonly at: number }[] = [];
  let seen = 0;
  return {
    strays() {
      const agent = network.truth.requests().at(-1)?.agent;
      if (agent !== undefined) strays.push({ agent, at: clock.now() });
    },
    read() {
      const over = network.truth.overLimit();
      if (over.length === seen) return [];
      const fresh = over.slice(seen);
      seen = over.length;
      return fresh.flatMap(({ agent, window, count, limit, at }) => {
        const stray = strays.filter((one) => one.agent === agent && one.at > at - SPAN[window]).length;
        if (count - stray <= limit) return [];
        return [`${agent}: request ${count} of ${limit} within one ${window}, ${stray} of them strays`];
      });
    },
  };
}
