/** What a campaign runs for a seed: the whole cast, in each set, with all faults or some, against networks of different habits. */
import type { SimulateOptions } from "../../src/simulation/options.ts";
import { patron, regular, worker } from "./cast.ts";

export const CAST = [worker, patron, regular];

/** Odd seeds get every fault at once, even ones those they choose; every third a network where a second vote takes the first back. */
export function course(seed: number, hours: number): SimulateOptions {
  return {
    specialists: CAST,
    seed,
    hours,
    faults: seed % 2 === 1 ? "all" : "swarm",
    set: seed % 5 === 0 ? "a" : "b",
    assume: { repeatedVote: seed % 3 === 0 ? "toggles" : "ignored" },
  };
}
