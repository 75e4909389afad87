/** Tracks the network's trust in each specialist, as reported, and the operations that it does not permit yet. */
import { trustOf, type TrustTiers } from "../contract/profile/trust-tiers.ts";
import type { Agent } from "../contract/records.ts";
import type { Clock } from "../core/clock.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import type { OpenBreaker } from "./classify-refusal.ts";
import { readTrust, trustRow, type ObservedTrust } from "./network-state-rows.ts";
import type { NetworkStateChange, NetworkStateRow } from "../store/network-state.ts";

export interface TrustBreakers {
  /** A specialist's trust tier, or the network's own word if the profile has no tier for it; undefined before the first report. */
  of(handle: string): string | undefined;
  /** True if a specialist's account is to be read now. */
  isDue(handle: string): boolean;
  /** Delays the next read after one was made or failed. */
  defer(handle: string, until: number): void;
  /** Records the trust in an account's record. */
  heard(handle: string, account: Agent): void;
  stop(handle: string, operation: string): OpenBreaker | undefined;
  stops(): readonly OpenBreaker[];
  /** Makes the trust of a specialist or an operation due at once, by a person's order. */
  lookNow(name: string, handle: string | undefined): NetworkStateChange["put"];
  restore(rows: readonly NetworkStateRow[]): void;
}

export interface TrustBreakerOptions {
  readonly clock: Clock;
  /** The profile's trust tiers; if empty, nothing is asked or stored. Undefined: those of the stored rows. */
  readonly tiers: TrustTiers | undefined;
  readonly keep: (change: NetworkStateChange) => void;
}

/** Trust is earned over days, and four reads a day are under a hundredth of the smallest tier's quota. */
export const TRUST_CHECK_MS = 6 * HOUR;
/** Delay of requests that wait for the account's read. */
const LOOKING_MS = MINUTE;

export function createTrustBreakers({ clock, tiers, keep }: TrustBreakerOptions): TrustBreakers {
  const known = new Map<string, ObservedTrust>();
  const putOff = new Map<string, number>();
  const isSilent = tiers !== undefined && Object.keys(tiers).length === 0;
  const tierOf = (one: ObservedTrust): string | undefined => (tiers === undefined ? one.trust : trustOf(tiers, one)) ?? one.trust;
  const lacksOf = (one: ObservedTrust): readonly string[] => (tiers === undefined ? one.lacks : (tiers[tierOf(one) ?? ""]?.lacks ?? []));
  const stopOf = (one: ObservedTrust, operation: string): OpenBreaker => ({
    rule: "capability",
    code: "not_in_trust",
    message: `the network's trust in ${one.handle} is "${tierOf(one) ?? ""}", which does not permit ${operation} yet; it is checked regularly`,
    handle: one.handle,
    operation,
    since: one.since,
    probeAt: Math.max(one.lookAt, clock.now() + LOOKING_MS),
  });

  return {
    of(handle) {
      const one = known.get(handle);
      return one === undefined ? undefined : tierOf(one);
    },
    isDue: (handle) => !isSilent && clock.now() >= Math.max(known.get(handle)?.lookAt ?? 0, putOff.get(handle) ?? 0),
    defer: (handle, until) => void (isSilent || putOff.set(handle, until)),
    heard(handle, { trust, reputation }) {
      if (tiers === undefined || isSilent || (trust === undefined && reputation === undefined)) return;
      const now = clock.now();
      const said = { handle, trust, reputation, lookAt: now + TRUST_CHECK_MS };
      const tier = trustOf(tiers, said) ?? trust;
      const before = known.get(handle);
      const since = before !== undefined && tierOf(before) === tier ? before.since : now;
      const heard = { ...said, since, lacks: tiers[tier ?? ""]?.lacks ?? [] };
      known.set(handle, heard);
      keep({ put: [trustRow(heard)], drop: [] });
    },
    stop(handle, operation) {
      const one = isSilent ? undefined : known.get(handle);
      return one !== undefined && lacksOf(one).includes(operation) ? stopOf(one, operation) : undefined;
    },
    stops: () => [...known.values()].flatMap((one) => lacksOf(one).map((operation) => stopOf(one, operation))),
    lookNow(name, handle) {
      const concerned = [...known.values()].filter(
        (one) => one.handle === name || (lacksOf(one).includes(name) && (handle === undefined || one.handle === handle)),
      );
      return concerned.map((one) => {
        const due = { ...one, lookAt: clock.now() };
        known.set(one.handle, due);
        putOff.delete(one.handle);
        return trustRow(due);
      });
    },
    restore(rows) {
      for (const one of isSilent ? [] : readTrust(rows)) known.set(one.handle, one);
    },
  };
}
