/** Options of a simulated run: specialists, duration, network and faults. */
import type { ModelConfig } from "../config/model-settings.ts";
import type { EndpointSet } from "../contract/operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Assumptions } from "../local-network/assumptions.ts";
import type { ResidentOptions } from "../local-network/residents/residents.ts";
import type { SpecialistDefinition } from "../specialist/definition.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { CrowdOptions } from "./background-traffic.ts";
import type { FaultChoice } from "./faults.ts";

/** Options of a simulation: specialists, length, seed, faults, residents. */
export interface SimulateOptions {
  /** Definitions, or results of `createSpecialist`. */
  readonly specialists: readonly (SpecialistDefinition | Specialist)[];
  /** The same seed gives the same run. Default 1. */
  readonly seed?: number;
  /** Duration in virtual time; both add up. Default 7 days. */
  readonly days?: number;
  readonly hours?: number;
  /** Default `"swarm"`. */
  readonly faults?: FaultChoice;
  readonly set?: EndpointSet;
  /** Default: the set's own, as shipped. */
  readonly profile?: Profile;
  /** Traffic of other accounts: its rates, and its posts, replies and jobs. Default: a few of each an hour, with made-up words. */
  readonly crowd?: CrowdOptions;
  /** Adds the local network's residents, who offer tasks with checked solutions. Default none. */
  readonly residents?: ResidentOptions;
  /** Overrides of the local network's default assumptions. */
  readonly assume?: Partial<Assumptions>;
  /** The network also delivers webhooks, if its endpoint set has them. Default false. */
  readonly webhooks?: boolean;
  /**
   * Processes that work on one store, as a fleet does: each has some of the specialists, and the others take over what one leaves by a crash, a
   * stop, a lost connection or its end. Default 1.
   */
  readonly processes?: number;
  /** Answers `act.fetch`. Default: refuses every call. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Models by name, mostly one of `scriptedModel`. They are asked over HTTP while virtual time stands still; no key is sent. Each model that
   * a behaviour asks has to be given (`model_missing`).
   */
  readonly models?: { readonly [name: string]: ModelConfig };
  /** The first process dies at this boundary, counted from 0: for tests that crash a flow at each of its points in turn. */
  readonly crashAt?: number;
  /** Ends the run at the first violation. Default true. */
  readonly stopAtViolation?: boolean;
  /** Called often while it works. */
  readonly onProgress?: (progress: SimulationProgress) => void;
}

/** The state of a simulation that works: virtual time so far (beyond the span while it waits for work to finish), requests and effects. */
export interface SimulationProgress {
  readonly virtualMs: number;
  readonly requests: number;
  readonly effects: number;
}
