/** Tracks the network's trust in each specialist, as reported, and the operations that it does not permit yet. */
import { trustOf, type TrustTiers } from "../contract/profile/trust-tiers.ts";
import type { Agent } from "../contract/records.ts";
import type { Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";
import { BREAKERS, isProbeDue, openCircuit, sendProbe, type Circuit, type OpenBreaker } from "./breaker.ts";
import { readTrust, trustRow, type ObservedTrust } from "./network-state-rows.ts";
import type { NetworkStateChange, NetworkStateRow } from "../store/network-state.ts";

export interface TrustBreakers {
  /** A specialist's trust tier, or the network's own word if the profile has no tier for it; undefined before the first report. */
  of(handle: string): string | undefined;
  /** The network's last report; undefined before the first. */
  report(handle: string): ObservedTrust | undefined;
  /** The operations that its present trust does not permit; undefined if it permits all. */
  lacks(handle: string): readonly string[] | undefined;
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

/** Interval of reads of the account, for its trust. */
export const TRUST_CHECK_MS = BREAKERS.trust.delays.firstMs;
/** Delay of requests that wait for the account's read. */
const READING_MS = MINUTE;
/** The circuit of an account that was not read yet: due at once. */
const UNREAD: Circuit = { since: 0, probeAt: 0, waitMs: TRUST_CHECK_MS };

export function createTrustBreakers({ clock, tiers, keep }: TrustBreakerOptions): TrustBreakers {
  const known = new Map<string, ObservedTrust>();
  const circuits = new Map<string, Circuit>();
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
    probeAt: Math.max(one.lookAt, clock.now() + READING_MS),
  });
  return {
    of(handle) {
      const one = known.get(handle);
      return one === undefined ? undefined : tierOf(one);
    },
    report: (handle) => known.get(handle),
    lacks(handle) {
      const one = isSilent ? undefined : known.get(handle);
      const lacked = one === undefined ? [] : lacksOf(one);
      return lacked.length === 0 ? undefined : lacked;
    },
    isDue: (handle) => !isSilent && isProbeDue(circuits.get(handle) ?? UNREAD, clock.now()),
    defer(handle, until) {
      const now = clock.now();
      const circuit = circuits.get(handle) ?? UNREAD;
      // A read that a lane made wait is deferred twice; a circuit that is not due keeps its later time.
      if (isProbeDue(circuit, now) || circuit.probe === "sent")
        circuits.set(handle, { ...sendProbe("trust", circuit, now), probeAt: until });
    },
    heard(handle, { trust, reputation }) {
      if (tiers === undefined || isSilent || (trust === undefined && reputation === undefined)) return;
      const now = clock.now();
      const circuit = openCircuit("trust", now);
      const said = { handle, trust, reputation, lookAt: now + circuit.waitMs };
      const tier = trustOf(tiers, said) ?? trust;
      const before = known.get(handle);
      const since = before !== undefined && tierOf(before) === tier ? before.since : now;
      const heard = { ...said, since, lacks: tiers[tier ?? ""]?.lacks ?? [] };
      known.set(handle, heard);
      circuits.set(handle, circuit);
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
        circuits.delete(one.handle);
        return trustRow(due);
      });
    },
    restore(rows) {
      for (const one of isSilent ? [] : readTrust(rows)) {
        known.set(one.handle, one);
        circuits.set(one.handle, { ...openCircuit("trust", one.since), probeAt: one.lookAt });
      }
    },
  };
}
