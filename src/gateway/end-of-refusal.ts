/** The time when a refused read may be let through again, so that no read is paid for the same refusal twice. */
import type { Clock } from "../core/clock.ts";
import { HOUR } from "../core/units.ts";
import type { Breakers } from "./network-breakers.ts";
import type { Member } from "./member.ts";

type EndOfRefusal =
  /** The same read would be refused again. */
  | { readonly kind: "never" }
  /** The refusal applies to more than this read, and is probed at that time. */
  | { readonly kind: "stop"; readonly until: number; readonly message: string }
  /** A redirect comes from an intermediary, and says nothing of the request. */
  | { readonly kind: "unknown" };

/** Decides when a refused read may be repeated, so that the same refusal is not paid for twice. */
export function endOfRefusal(
  { breakers, clock }: { readonly breakers: Breakers; readonly clock: Clock },
  { specialist }: Member,
  operation: string,
  /** Absent if a rule of ours refused it. */
  { status }: { readonly status?: number },
): EndOfRefusal {
  if (status === undefined) return { kind: "never" };
  if (status < 400) return { kind: "unknown" };
  const stop = breakers.stop(specialist.handle, operation, false);
  return stop === undefined ? { kind: "never" } : { kind: "stop", until: stop.probeAt ?? clock.now() + HOUR, message: stop.message };
}
