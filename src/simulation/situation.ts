/** A local network in a named situation, on virtual time, for tests of one specialist at one moment. */
import type { EndpointSet } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import { defined } from "../core/defined.ts";
import { HOUR } from "../core/units.ts";
import { seededRandom } from "../core/random.ts";
import { virtualClock, type VirtualClock } from "../core/virtual-clock.ts";
import type { Assumptions } from "../local-network/assumptions.ts";
import type { Fault } from "../local-network/faults/network-faults.ts";
import type { LocalNetwork, Provisioned } from "../local-network/options.ts";
import { createLocalNetwork } from "../local-network/local-network.ts";
import type { ResidentOptions } from "../local-network/residents/residents.ts";

/** A network in a named situation: who lives there, how it differs from the default, its faults. */
export interface Setting {
  readonly residents?: ResidentOptions;
  readonly assume?: Partial<Assumptions>;
  /** Injects each fault into this share of the requests. */
  readonly faults?: readonly { readonly share: number; readonly fault: Fault }[];
}

/** Few activities of residents, so that a year passes in minutes: a task every half hour, a post every ten minutes. */
export const UNHURRIED: ResidentOptions = {
  perMinute: { post: 0.1, reply: 0.1, like: 0.1, follow: 0.01, offer: 0.03, work: 0.03 },
  jobDeadlineMs: 12 * HOUR,
};

/** Named situations for tests. */
export const SITUATIONS = {
  /** No other account acts. */
  empty: {},
  /** Twelve residents post, reply and offer jobs. */
  lively: { residents: {} },
  /** One answer in five is lost after its effect. */
  "lost-replies": { residents: {}, faults: [{ share: 0.2, fault: { kind: "lose-reply" } }] },
  /** Half of all requests are answered 429 although the limits have room. */
  limited: { residents: {}, faults: [{ share: 0.5, fault: { kind: "limited", dialect: "seconds", seconds: 5 } }] },
  /** One request in ten is answered 503, before or after its effect. */
  failing: {
    residents: {},
    faults: [
      { share: 0.05, fault: { kind: "status", status: 503, when: "before" } },
      { share: 0.05, fault: { kind: "status", status: 503, when: "after" } },
    ],
  },
  /** Reads miss what was written within the last twenty seconds. */
  stale: { residents: {}, assume: { readLagMs: 20_000 } },
} as const satisfies Record<string, Setting>;

/** The name of a situation of a local network. */
export type Situation = keyof typeof SITUATIONS;

/** Options of a network situation: its name, its seed, its endpoint set. */
export interface SituationOptions {
  /** Default `"lively"`. */
  readonly situation?: Situation;
  /** Default 1. */
  readonly seed?: number;
  readonly set?: EndpointSet;
  /** Default: a new clock. */
  readonly clock?: VirtualClock;
}

/** A local network in a named situation, with one specialist and a virtual clock. */
export interface NetworkSituation {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  /** Creates a specialist on the network; its key is shown once. */
  specialist(handle: string, tier?: Tier): Provisioned;
  /** Serves the network on a free local port. A client uses the URL as its base address. */
  listen(): Promise<{ readonly baseUrl: string; close(): Promise<void> }>;
  stop(): Promise<void>;
}

/** Creates a network in this situation. Time passes only when the clock is advanced. */
export function networkSituation({
  situation = "lively",
  seed = 1,
  set = "b",
  clock = virtualClock(),
}: SituationOptions = {}): NetworkSituation {
  const setting: Setting = SITUATIONS[situation];
  const network = createLocalNetwork(defined({ clock, random: seededRandom(seed), residents: setting.residents, assume: setting.assume }));
  for (const { share, fault } of setting.faults ?? []) network.faults.add({ fault, probability: share });
  network.start();
  return {
    clock,
    network,
    specialist: (handle, tier = "free") => network.provision({ handle, tier, set }),
    async listen() {
      const listening = await network.listen({ set });
      return { baseUrl: listening.baseUrls[set] ?? listening.origin, close: () => listening.close() };
    },
    stop: () => network.stop(),
  };
}
