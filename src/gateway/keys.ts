/** Keys at work: registered with their limits, read again when the network refuses one, and never a failure of whoever asked. */
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

/** A key that cannot be used is looked for again this often: only where it is kept, never on the network. */
export const KEY_CHECK_MS = 5 * SECOND;

export interface KeyWatchOptions {
  readonly keys: KeyProvider;
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: LedgerTime;
  readonly announcer: Announcer;
}

export interface KeyWatch {
  /** The key to use now, or undefined where `member.keyTrouble` says why there is none; a refused one only `toTry` it again. */
  usable(member: Member, toTry?: boolean): Promise<HeldKey | undefined>;
  /** The network answered 401 to this key: it is read again once; unchanged, the specialist is parked. */
  refused(member: Member, key: HeldKey): Promise<void>;
  /** How many specialists at work have the same key, this one included: its quota is theirs together. */
  sharers(member: Member): number;
  /** Looks whether there is a usable key again. */
  look(member: Member): Promise<boolean>;
  /** Where the network refused the key and a look is due: asks once whether it takes it again. */
  probe(member: Member, takesKey: () => Promise<boolean>): Promise<boolean>;
}

/** What there is to wait for without a key that can be used. */
export function keyWait({ keyTrouble }: Member, now: number) {
  return { until: now + KEY_CHECK_MS, rule: "key_unusable", message: keyTrouble?.message ?? "there is no key" } as const;
}

export function createKeyWatch({ keys, store, clock, ledger, announcer }: KeyWatchOptions): KeyWatch {
  // Lists and no sets: nearly every key has one holder, and a set of one would be a seventh of what a specialist weighs.
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
      // A key that replaces another one starts with what that one was charged.
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
      if (verdict !== undefined && verdict.fingerprint !== key.fingerprint) return; // there is another one already
      const message = `the network refuses the key of ${handle} (401); put the new one where the old one is, it is read again every ${KEY_CHECK_MS / SECOND} s; this one is tried again now and then, and at once by: retinue retry ${handle}`;
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
      return true;
    },
    probe: (member, takesKey) => probes.probe(member, takesKey),
  };
}

/** Looking again every few seconds says nothing new while nothing has changed. */
function readQuietly(from: () => HeldKey): HeldKey | undefined {
  try {
    return from();
  } catch (error) {
    if (error instanceof Misconfigured) return undefined;
    throw error;
  }
}
