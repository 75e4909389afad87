/** A key that the network refused is tried again: it may have been a mistake, as when what knows its keys is down for a while. */
import { longerMs } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import type { Store } from "../store/store.ts";
import { PROBES } from "./classify-refusal.ts";
import type { KeyProbe, Member } from "./member.ts";

export interface KeyProbes {
  /** When a key is first tried that is refused now. */
  first(member: Member): KeyProbe;
  /** Whether its key is being tried now. */
  isOut(member: Member): boolean;
  /** A key that is known to be refused was so once more. */
  refused(member: Member): void;
  /** Where that is due: asks once whether the network takes the key again. */
  probe(member: Member, takesKey: () => Promise<boolean>): Promise<boolean>;
}

export function createKeyProbes({ store, clock }: { readonly store: Store; readonly clock: Clock }): KeyProbes {
  const out = new WeakSet<Member>();
  /** Keys that a probe found good. Refused again before as long a pause has gone by, they are refused still: some reads need no key. */
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
      // Other answers are to what was sent before it was known.
      if (trouble?.probe !== undefined && out.delete(member))
        member.keyTrouble = { ...trouble, probe: after(longerMs(PROBES, trouble.probe.waitMs)) };
    },
    async probe(member, takesKey) {
      const known = member.keyTrouble;
      if (known?.probe === undefined || clock.now() < known.probe.at || out.has(member)) return false;
      const { waitMs } = known.probe;
      // What tells nothing, as where the network is out of reach, is asked again after the shortest pause.
      const trouble = { ...known, probe: { at: clock.now() + PROBES.firstMs, waitMs } };
      member.keyTrouble = trouble;
      out.add(member);
      const isTaken = await takesKey().finally(() => out.delete(member));
      if (member.keyTrouble !== trouble) return member.keyTrouble === undefined; // it was refused, or mended meanwhile
      if (!isTaken) return false;
      member.keyTrouble = undefined;
      taken.set(member, { at: clock.now(), waitMs });
      await store.resume(member.specialist.handle, clock.now());
      return true;
    },
  };
}
