/** Checks quotas by the network's own count: it reports every request beyond a tier, except late arrivals we cannot count. */
import type { Clock } from "../core/clock.ts";
import { DAY, HOUR } from "../core/units.ts";
import type { LocalNetwork } from "../local-network/options.ts";

export interface QuotaOracle {
  /** Records that the last request arrived later than the network states. */
  strays(): void;
  /** Returns the breaches since the last call. */
  read(): readonly string[];
}

const SPAN = { hour: HOUR, day: DAY } as const;

export function createQuotaOracle(network: LocalNetwork, clock: Clock, handles: ReadonlySet<string>): QuotaOracle {
  /** Late arrivals: the network counts them, and the oracle does not. */
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
        if (!handles.has(agent)) return [];
        const stray = strays.filter((one) => one.agent === agent && one.at > at - SPAN[window]).length;
        if (count - stray <= limit) return [];
        return [`${agent}: request ${count} of ${limit} within one ${window}, ${stray} of them strays`];
      });
    },
  };
}
