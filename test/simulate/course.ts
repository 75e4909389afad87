/** What a campaign runs for a seed: the whole cast, in each set, with all faults or some, against networks of different habits. */
import type { SimulateOptions } from "../../src/simulation/options.ts";
import type { FaultRates } from "../../src/simulation/faults.ts";
import type { WebhookScheme } from "../../src/network/assumptions.ts";
import { glutton, patron, regular, worker } from "./cast.ts";

export const CAST = [worker, patron, regular, glutton];

const SCHEMES: readonly WebhookScheme[] = ["sha256-header", "standard", "stripe", "github", "in-body"];

/** A machine on which all is well, and a network that delivers badly and too much. */
const RESTLESS_SENDER: Partial<FaultRates> = {
  lostReplies: 0.05,
  lostDeliveries: 0.1,
  wrongSignatures: 0.1,
  doubledDeliveries: 0.3,
  reorderedDeliveries: 0.2,
  lateDeliveries: 0.2,
  followStormsPerDay: 6,
};

/** A machine on which all is well, and a network that does what it is asked late, or does it and does not say so. */
const LATE_NETWORK: Partial<FaultRates> = {
  lostRequests: 0.05,
  lostReplies: 0.1,
  lateLandings: 0.15,
  veryLateLandings: 0.05,
  failedBefore: 0.05,
  staleReads: 1,
};

/** Even ones that are not drawn: each has its own seeds, since faults that come together hide one another. */
const CHOSEN: { readonly [rest: number]: Partial<FaultRates> } = { 2: RESTLESS_SENDER, 6: LATE_NETWORK };

/** Odd seeds get every fault at once, even ones those they choose or that are chosen for them; every third a network where a second vote takes the first back; half are told of news by webhook. */
export function course(seed: number, hours: number): SimulateOptions {
  return {
    specialists: CAST,
    seed,
    hours,
    faults: seed % 2 === 1 ? "all" : (CHOSEN[seed % 8] ?? "swarm"),
    set: seed % 5 === 0 ? "a" : "b",
    webhooks: seed % 4 >= 2,
    assume: { repeatedVote: seed % 3 === 0 ? "toggles" : "ignored", webhookScheme: SCHEMES[(seed % 7) % SCHEMES.length] ?? "standard" },
  };
}
