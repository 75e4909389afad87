/** Names the faults of a simulated run, their rates, and the choice that a seed makes. */
import { Misconfigured } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import { LIMIT_DIALECTS, type DeliveryFault, type Fault } from "../local-network/faults/network-faults.ts";

/** Shares of requests (0 to 1) and events a day. A fault that is not named does not happen. */
export interface FaultRates {
  /** The connection is refused: no byte leaves. */
  readonly refusedConnections: number;
  /** The request is lost on its way; the sender sees a reset or silence. */
  readonly lostRequests: number;
  /** The request takes effect, and its answer is lost. */
  readonly lostReplies: number;
  /** The sender sees a reset or silence, and the request takes effect later, within the network's stated bound. */
  readonly lateLandings: number;
  /**
   * The request takes effect up to half an hour beyond that bound. Limited to requests that are never resent, or that the network takes
   * only once.
   */
  readonly veryLateLandings: number;
  /** Answers take seconds, some of them longer than the deadline. */
  readonly slowReplies: number;
  /** The network answers 429 in every dialect although the limits have room. */
  readonly limited: number;
  /** The network answers 500, 502, 503 or 504 without effect. */
  readonly failedBefore: number;
  /** The network answers 500, 502, 503 or 504 after the effect. */
  readonly failedAfter: number;
  /** The body is HTML, truncated, empty or of wrong types, after the effect. */
  readonly spoiltBodies: number;
  /** Share of days on which reads lag behind writes, by up to the network's stated read lag. */
  readonly staleReads: number;
  /** Chance that no read of the whole run shows what the specialists wrote. */
  readonly blindReads: number;
  /** Shares of webhook deliveries: never made, signed with a wrong secret, made twice, overtaken by the next, minutes to hours late. */
  readonly lostDeliveries: number;
  readonly wrongSignatures: number;
  readonly doubledDeliveries: number;
  readonly reorderedDeliveries: number;
  readonly lateDeliveries: number;
  /** A specialist gets a follower every few seconds for up to two hours, each of them a webhook delivery. */
  readonly followStormsPerDay: number;
  /** Per 10,000 boundaries (calls to store and network, turns of the event loop). */
  readonly crashes: number;
  readonly stopsPerDay: number;
  /** The wall clock jumps by minutes to a day, or slips by too little to show beside the network's `Date`. */
  readonly clockJumpsPerDay: number;
  readonly clockSlipsPerDay: number;
  readonly keyRotationsPerDay: number;
  readonly outagesPerDay: number;
  /** The Guardian halts all writes for a while. */
  readonly haltsPerDay: number;
  /** Share of writes that are followed by another fault within minutes: combined faults find more. */
  readonly pileUps: number;
  /** With several processes: one loses its connections to the server of the store, or ends in order for a while. */
  readonly disconnectionsPerDay: number;
  readonly departuresPerDay: number;
}

/** The name of a fault that a simulation can inject. */
export type FaultName = keyof FaultRates;

const NONE: FaultRates = {
  refusedConnections: 0,
  lostRequests: 0,
  lostReplies: 0,
  lateLandings: 0,
  veryLateLandings: 0,
  slowReplies: 0,
  limited: 0,
  failedBefore: 0,
  failedAfter: 0,
  spoiltBodies: 0,
  staleReads: 0,
  blindReads: 0,
  lostDeliveries: 0,
  wrongSignatures: 0,
  doubledDeliveries: 0,
  reorderedDeliveries: 0,
  lateDeliveries: 0,
  followStormsPerDay: 0,
  crashes: 0,
  stopsPerDay: 0,
  clockJumpsPerDay: 0,
  clockSlipsPerDay: 0,
  keyRotationsPerDay: 0,
  outagesPerDay: 0,
  haltsPerDay: 0,
  pileUps: 0,
  disconnectionsPerDay: 0,
  departuresPerDay: 0,
};

/** Rates far worse than any network: rare faults happen every few minutes. */
const WORST: FaultRates = {
  refusedConnections: 0.05,
  lostRequests: 0.06,
  lostReplies: 0.08,
  lateLandings: 0.06,
  veryLateLandings: 0.03,
  slowReplies: 0.1,
  limited: 0.03,
  failedBefore: 0.04,
  failedAfter: 0.05,
  spoiltBodies: 0.04,
  staleReads: 1,
  blindReads: 0.2,
  lostDeliveries: 0.1,
  wrongSignatures: 0.05,
  doubledDeliveries: 0.1,
  reorderedDeliveries: 0.1,
  lateDeliveries: 0.1,
  followStormsPerDay: 1,
  crashes: 40,
  stopsPerDay: 6,
  clockJumpsPerDay: 3,
  clockSlipsPerDay: 3,
  keyRotationsPerDay: 3,
  outagesPerDay: 1,
  haltsPerDay: 2,
  pileUps: 0.03,
  disconnectionsPerDay: 6,
  departuresPerDay: 4,
};

/** The names of all faults that a simulation can inject. */
export const FAULT_NAMES = Object.keys(NONE) as readonly FaultName[];

/** `swarm`: each seed chooses some of the faults and their rates, which finds more than all of them at once. */
export type FaultChoice = "none" | "swarm" | "all" | Partial<FaultRates>;

export function faultRates(choice: FaultChoice, random: Random): FaultRates {
  if (choice === "none") return NONE;
  if (choice === "all") return WORST;
  if (choice === "swarm") {
    const rates = FAULT_NAMES.map((name) => [name, random.next() < 0.5 ? 0 : WORST[name] * random.next() * (random.next() < 0.2 ? 3 : 1)]);
    return { ...NONE, ...Object.fromEntries(rates) };
  }
  for (const [name, rate] of Object.entries(choice))
    if (!Object.hasOwn(NONE, name) || !(rate >= 0))
      throw new Misconfigured(
        "faults_invalid",
        `expected a fault of ${FAULT_NAMES.join(", ")} and a rate of 0 or more, got ${name}: ${rate}`,
      );
  return { ...NONE, ...choice };
}

/** Adds fault rules for these accounts to the network at these rates. */
export function drawFault(network: LocalNetwork, handles: readonly string[], rates: FaultRates): void {
  const share = (total: number, faults: readonly Fault[]): void => {
    if (total > 0)
      for (const agent of handles)
        for (const fault of faults) network.faults.add({ fault, match: { agent }, probability: total / faults.length });
  };
  const statuses = [500, 502, 503, 504];
  share(
    rates.limited,
    LIMIT_DIALECTS.map((dialect): Fault => ({ kind: "limited", dialect, seconds: 20 })),
  );
  share(
    rates.failedBefore,
    statuses.map((status) => ({ kind: "status", status, when: "before" })),
  );
  share(
    rates.failedAfter,
    statuses.map((status) => ({ kind: "status", status, when: "after" })),
  );
  share(rates.spoiltBodies, [
    { kind: "body", body: "html" },
    { kind: "body", body: "truncated" },
    { kind: "body", body: "empty" },
    { kind: "body", body: "garbage" },
    { kind: "body", body: "wrong-types" },
  ]);
  const deliver = (total: number, faults: readonly DeliveryFault[]): void => {
    if (total > 0)
      for (const agent of handles)
        for (const fault of faults) network.faults.addDelivery({ fault, match: { agent }, probability: total / faults.length });
  };
  deliver(rates.lostDeliveries, [{ kind: "lost" }]);
  deliver(rates.wrongSignatures, [{ kind: "wrong-signature" }]);
  deliver(rates.doubledDeliveries, [{ kind: "twice" }]);
  deliver(rates.reorderedDeliveries, [{ kind: "reorder" }]);
  deliver(
    rates.lateDeliveries,
    [MINUTE, 10 * MINUTE, 2 * HOUR].map((ms) => ({ kind: "late", ms })),
  );
}

/** Draws the downtime after a crash: mostly short, seldom until morning, since a run finds nothing while the process is down. */
export function downtimeMs(random: Random): number {
  const kind = random.next();
  if (kind < 0.7) return Math.ceil(random.next() * 5 * SECOND) + 1;
  if (kind < 0.97) return Math.ceil(random.next() * 10 * MINUTE) + 1;
  return Math.ceil(random.next() * 8 * HOUR) + 1;
}

/** Draws the size of a clock jump, in either direction. */
export function jumpMs(random: Random): number {
  return eitherWay(random, random.pick([10 * MINUTE, HOUR, DAY]));
}

/** Draws the size of a clock slip: about as much as counts as correct. */
export function slipMs(random: Random): number {
  return eitherWay(random, random.pick([20 * SECOND, 40 * SECOND]));
}

function eitherWay(random: Random, about: number): number {
  const size = about * (0.5 + random.next());
  return Math.round(random.next() < 0.5 ? -size : size);
}

/** Returns true if an event that happens `perDay` times a day happens within `ms`. */
export function happens(random: Random, perDay: number, ms: number): boolean {
  return perDay > 0 && random.next() < (perDay * ms) / DAY;
}
