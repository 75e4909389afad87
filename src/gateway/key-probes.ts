/** Probes a key that the network refused: the refusal may have been a mistake, as during an outage of its key service. */
import { longerMs } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import type { Store } from "../store/store.ts";
import { PROBES } from "./classify-refusal.ts";
import type { KeyProbe, Member } from "./member.ts";

export interface KeyProbes {
  /** The first probe of a newly refused key. */
  first(member: Member): KeyProbe;
  /** True while its key is being probed. */
  isOut(member: Member): boolean;
  /** Records another refusal of a key known as refused. */
  refused(member: Member): void;
  /** Probes the key once if that is due, and returns true if the network takes it. */
  probe(member: Member, takesKey: () => Promise<boolean>): Promise<boolean>;
}

export function createKeyProbes({ store, clock }: { readonly store: Store; readonly clock: Clock }): KeyProbes {
  const out = new WeakSet<Member>();
  /** Keys that a probe found good. Refused again within an equally long time, they count as refused still: some reads need no key. */
  const taken = new WeakMap<Member, { readonly at: number; readonly waitMs: number }>();
  const after = (waitMs: number): KeyProbe => ({ at: clock.now() + waitMs, waitMs });
  return {
    first(member) {
      const last = taken.get(member);
      return after(longerMs(PROBES, last !== undefined && clock.now() < last.at + last.waitMs ? last.waitMs : undefined));
    },
    isOut: (member) => out.has(member),
    refused(member) {
      const trouble = member.keyTrouble;
      // Other answers belong to requests sent before the refusal was known.
      if (trouble?.probe !== undefined && out.delete(member))
        member.keyTrouble = { ...trouble, probe: after(longerMs(PROBES, trouble.probe.waitMs)) };
    },
    async probe(member, takesKey) {
      const known = member.keyTrouble;
      if (known?.probe === undefined || clock.now() < known.probe.at || out.has(member)) return false;
      const { waitMs } = known.probe;
      // An inconclusive probe, as of an unreachable network, is repeated after the shortest delay.
      const trouble = { ...known, probe: { at: clock.now() + PROBES.firstMs, waitMs } };
      member.keyTrouble = trouble;
      out.add(member);
      const isTaken = await takesKey().finally(() => out.delete(member));
      if (member.keyTrouble !== trouble) return member.keyTrouble === undefined; // it was refused, or replaced meanwhile
      if (!isTaken) return false;
      member.keyTrouble = undefined;
      taken.set(member, { at: clock.now(), waitMs });
      await store.resume(member.specialist.handle, clock.now());
      return true;
    },
  };
}
