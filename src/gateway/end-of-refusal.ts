/** The time when a refused read may be let through again, so that no read is paid for the same refusal twice. */
import type { Outcome } from "../contract/call.ts";
import type { Clock } from "../core/clock.ts";
import { HOUR } from "../core/units.ts";
import type { Breakers } from "./breakers.ts";
import type { Member } from "./member.ts";

type EndOfRefusal =
  /** The same read would be refused again. */
  | { readonly kind: "never" }
  /** What refused it stops more than this read, and is looked at again then. */
  | { readonly kind: "stop"; readonly until: number; readonly message: string }
  /** A redirect: it comes from what stands before the network, and says nothing of what was asked for. */
  | { readonly kind: "unknown" };

/** When a refused read may be let through, so that no read is paid for the same refusal again. */
export function endOfRefusal(
  { breakers, clock }: { readonly breakers: Breakers; readonly clock: Clock },
  { specialist }: Member,
  operation: string,
  { status }: Extract<Outcome, { readonly class: "refused" }>,
): EndOfRefusal {
  if (status < 400) return { kind: "unknown" };
  const stop = breakers.stop(specialist.handle, operation, false);
  return stop === undefined ? { kind: "never" } : { kind: "stop", until: stop.probeAt ?? clock.now() + HOUR, message: stop.message };
}
