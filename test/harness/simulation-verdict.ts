/** What a simulation says to whoever tests by it. */
import type { Simulation } from "../../src/simulation/simulate.ts";

/** What a person needs to see the same run again. */
export function verdict({ seed, violations, errors, faults }: Simulation): unknown {
  return violations.length === 0 && errors.length === 0 ? "kept" : { seed, violations, errors, faults };
}
