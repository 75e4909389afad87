/** Refuses values that hold a secret before they are stored or sent. */
import { Refused } from "../core/errors.ts";
import type { Scrubber } from "../core/scrubber.ts";

/** Throws `Refused` (`secret_in_input`) where a JSON value holds a secret. */
export function refuseSecrets(scrubber: Pick<Scrubber, "holds">, what: string, value: unknown): void {
  if (value !== undefined && scrubber.holds(JSON.stringify(value))) throw secretIn(what);
}

export function secretIn(what: string): Refused {
  return new Refused("secret_in_input", `${what} holds a key or another secret, which would be stored or sent`, {
    hint: "take it out: secrets stand in the settings alone, and the receiver registers its webhook by itself",
  });
}
