/** Keys of working specialists: registered with their limits, and read again when the network refuses one, without failing the caller. */
import type { HeldKey, KeyProvider } from "../client/auth.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf, Misconfigured } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { KeyId } from "../core/ids.ts";
import { SECOND } from "../core/units.ts";
import type { LedgerTime } from "../limits/ledger-clock.ts";
import type { Store } from "../store/store.ts";
import { createKeyProbes } from "./key-probes.ts";
import type { Member } from "./member.ts";

/** Interval at which an unusable key is read again from its source, without a request. */
export const KEY_CHECK_MS = 5 * SECOND;

export interface KeyWatchOptions {
  readonly keys: KeyProvider;
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: LedgerTime;
  readonly announcer: Announcer;
}

export interface KeyWatch {
  /** The key to use, or undefined with the reason in `member.keyTrouble`; `toTry` returns a refused one. */
  usable(member: Member, toTry?: boolean): Promise<HeldKey | undefined>;
  /** Handles a 401 to this key: it is read again once; if unchanged, the specialist is suspended. */
  refused(member: Member, key: HeldKey): Promise<void>;
  /** Number of working specialists with the same key, this one included: they share its quota. */
  sharers(member: Member): number;
  /** Checks for a usable key. */
  look(member: Member): Promise<boolean>;
  /** Probes a refused key once if that is due, and returns true if the network takes it. */
  probe(member: Member, takesKey: () => Promise<boolean>): Promise<boolean>;
}

export function createKeyWatch({ keys, store, clock, ledger, announcer }: KeyWatchOptions): KeyWatch {
  // Arrays and no sets: nearly every key has one holder, and a set of one would be a seventh of a specialist's memory.
  const holders = new Map<KeyId, Member[]>();
  const release = (member: Member, key: KeyId): void => {
    const left = (holders.get(key) ?? []).filter((one) => one !== member);
    if (left.length > 0) holders.set(key, left);
    else holders.delete(key);
  };
  const hand = (member: Member, key: KeyId): void => {
    if (member.keyId !== undefined) release(member, member.keyId);
    const others = holders.get(key);
    if (others === undefined) holders.set(key, [member]);
    else if (!others.includes(member)) others.push(member);
    member.keyId = key;
  };
  const probes = createKeyProbes({ store, clock });
  const read = (member: Member, from: () => HeldKey): HeldKey | undefined => {
    try {
      return from();
    } catch (error) {
      if (!(error instanceof Misconfigured)) throw error;
      const message = [messageOf(error), error.details.hint].filter((part) => part !== undefined).join("; ");
      member.keyTrouble = { code: error.code, message, since: clock.now() };
      announcer.emit("parked", { at: clock.now(), handle: member.specialist.handle, code: error.code, message });
      return undefined;
    }
  };

  return {
    async usable(member, toTry = false) {
      if (member.keyTrouble !== undefined && !(toTry && probes.isOut(member))) return undefined;
      const { handle } = member.specialist;
      const key = read(member, () => keys.current(handle));
      if (key === undefined || key.fingerprint === member.keyId) return key;
      // A key that replaces another one inherits its charges.
      await store.registerKey(handle, key.fingerprint, { limits: member.limits, floors: member.floors }, ledger.now());
      hand(member, key.fingerprint);
      return key;
    },
    sharers({ keyId }) {
      const all = keyId === undefined ? [] : (holders.get(keyId) ?? []);
      return Math.max(1, all.filter((one) => !one.retired && one.keyId === keyId).length);
    },
    async refused(member, key) {
      if (member.keyTrouble !== undefined) return probes.refused(member);
      const { handle } = member.specialist;
      const verdict = read(member, () => (keys.rejected(handle, key.fingerprint) === "dead" ? key : keys.current(handle)));
      if (verdict !== undefined && verdict.fingerprint !== key.fingerprint) return; // the key was replaced already
      const message = `the network refuses the key of ${handle} (401); put the new one in place of the old one, it is read again every ${KEY_CHECK_MS / SECOND} s; the old one is probed now and then, and at once with: retinue retry ${handle}`;
      const trouble = (member.keyTrouble ??= { code: "key_refused", message, since: clock.now(), probe: probes.first(member) });
      await store.suspend(handle, trouble, clock.now());
      announcer.emit("parked", { at: clock.now(), handle, code: trouble.code, message: trouble.message });
    },
    async look(member) {
      const trouble = member.keyTrouble;
      member.keyTrouble = undefined;
      const key = readQuietly(() => keys.reread(member.specialist.handle));
      if (key === undefined || (key.fingerprint === member.keyId && trouble?.code === "key_refused")) {
        member.keyTrouble = trouble;
        return false;
      }
      await store.resume(member.specialist.handle, clock.now());
      await store.retryFailed(member.specialist.handle, "untimed", clock.now());
      return true;
    },
    probe: (member, takesKey) => probes.probe(member, takesKey),
  };
}

/** Repeated reads of an unchanged key are not logged. */
function readQuietly(from: () => HeldKey): HeldKey | undefined {
  try {
    return from();
  } catch (error) {
    if (error instanceof Misconfigured) return undefined;
    throw error;
  }
}
