/** What a simulated run is told: who, how long, against what. */
import type { EndpointSet } from "../contract/operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Assumptions } from "../local-network/assumptions.ts";
import type { ResidentOptions } from "../local-network/residents/residents.ts";
import type { SpecialistDefinition } from "../specialist/definition.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { TrafficRates } from "./background-traffic.ts";
import type { FaultChoice } from "./faults.ts";

export interface SimulateOptions {
  /** Definitions, or what `createSpecialist` made of them. */
  readonly specialists: readonly (SpecialistDefinition | Specialist)[];
  /** The same seed gives the same run. Default 1. */
  readonly seed?: number;
  /** How long, in virtual time; both add up. Default 7 days. */
  readonly days?: number;
  readonly hours?: number;
  /** Default `"swarm"`. */
  readonly faults?: FaultChoice;
  readonly set?: EndpointSet;
  /** Default: the set's own, as shipped. */
  readonly profile?: Profile;
  /** The other people. Default: a few posts, replies and jobs an hour. */
  readonly crowd?: Partial<TrafficRates>;
  /** The local network's residents as well, who offer tasks that are checked. Default none. */
  readonly residents?: ResidentOptions;
  /** What the network does otherwise than by default. */
  readonly assume?: Partial<Assumptions>;
  /** The network tells of news by webhook as well, where its set has webhooks. Default false. */
  readonly webhooks?: boolean;
  /** Stands in for models and other services. Default: refuses. */
  readonly fetch?: typeof globalThis.fetch;
  /** The first process dies at this boundary, counted from 0: to cut a flow at each of its points in turn. */
  readonly crashAt?: number;
  /** Over the store of facts, whose memory is compared with its rows all the way. Default false. */
  readonly facts?: boolean;
  /** Ends at the first promise that does not hold. Default true. */
  readonly stopAtViolation?: boolean;
}
