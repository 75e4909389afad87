/** Keys of working specialists: registered with their limits, and read again when the network refuses one, without failing the caller. */
import type { HeldKey, KeyProvider } from "../client/auth.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf, Misconfigured } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Handle, KeyId } from "../core/ids.ts";
import { SECOND } from "../core/units.ts";
import type { LedgerTime } from "../limits/ledger-clock.ts";
import type { Store } from "../store/store.ts";
import { isProbeDue, openCircuit, refuseProbe, releaseProbe, sendProbe, type ClosedCircuit } from "./breaker.ts";
import type { KeyTrouble, Member } from "./member.ts";

/** Interval at which an unusable key is read again from its source, without a request. */
export const KEY_CHECK_MS = 5 * SECOND;

export interface KeyWatchOptions {
  readonly keys: KeyProvider;
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: LedgerTime;
  readonly announcer: Announcer;
  /** Called when a specialist has another key than before, and when one that had none gets its first. */
  readonly onKeyReplaced?: () => void;
  /** Specialists that must not use their keys now, and the reason of each. */
  readonly keptOut?: (() => ReadonlyMap<Handle, KeyTrouble>) | undefined;
}

export interface KeyWatch {
  /**
   * The key to use, or undefined with the reason in `member.keyTrouble`; `toTry` returns a refused one. A promise only where the key is
   * registered first.
   */
  usable(member: Member, toTry?: boolean): HeldKey | undefined | Promise<HeldKey>;
  /** Handles a 401 to this key: it is read again once; if unchanged, the specialist is suspended. */
  refused(member: Member, key: HeldKey): Promise<void>;
  /** Number of working specialists with the same key, this one included: they share its quota. */
  sharers(member: Member): number;
  /** Checks for a usable key. */
  look(member: Member): Promise<boolean>;
  /** Probes a refused key once if that is due, and returns true if the network takes it. */
  probe(member: Member, takesKey: () => Promise<boolean>): Promise<boolean>;
}

export function createKeyWatch({ keys, store, clock, ledger, announcer, onKeyReplaced, keptOut }: KeyWatchOptions): KeyWatch {
  const holders = createKeyHolders();
  /** Keys that a probe found good: a refusal soon after continues to escalate, since some reads need no key. */
  const closed = new WeakMap<Member, ClosedCircuit>();
  const read = (member: Member, from: () => HeldKey): HeldKey | undefined => {
    try {
      return from();
    } catch (error) {
      if (!(error instanceof Misconfigured)) throw error;
      const message = [messageOf(error), error.details.hint].filter((part) => part !== undefined).join("; ");
      return park(member, { code: error.code, message, since: clock.now() }, { announcer, clock });
    }
  };

  /** A key that replaces another one inherits its charges. */
  const register = async (member: Member, key: HeldKey): Promise<HeldKey> => {
    const { limits, floors, specialist } = member;
    await store.registerKey(specialist.handle, key.fingerprint, { limits, floors }, ledger.now());
    const isOther = member.keyId !== undefined && member.keyId !== key.fingerprint;
    holders.take(member, key.fingerprint);
    if (isOther) onKeyReplaced?.();
    return key;
  };

  return {
    usable(member, toTry = false) {
      const kept = keptOut?.().get(member.specialist.handle);
      if (kept !== undefined && member.keyTrouble?.code !== kept.code) return park(member, kept, { announcer, clock });
      if (member.keyTrouble !== undefined && !(toTry && isProbing(member))) return undefined;
      const key = read(member, () => keys.current(member.specialist.handle));
      return key === undefined || key.fingerprint === member.keyId ? key : register(member, key);
    },
    sharers: (member) => holders.sharers(member),
    async refused(member, key) {
      const known = member.keyTrouble;
      if (known?.circuit !== undefined) member.keyTrouble = { ...known, circuit: refuseProbe("key", known.circuit, clock.now()) };
      if (known !== undefined) return;
      const { handle } = member.specialist;
      const verdict = read(member, () => (keys.rejected(handle, key.fingerprint) === "dead" ? key : keys.current(handle)));
      if (verdict !== undefined && verdict.fingerprint !== key.fingerprint) return; // the key was replaced already
      const message = `the network refuses the key of ${handle} (401); put the new one in place of the old one, it is read again every ${KEY_CHECK_MS / SECOND} s; the old one is probed now and then, and at once with: retinue retry ${handle}`;
      const trouble = (member.keyTrouble ??= {
        code: "key_refused",
        message,
        since: clock.now(),
        circuit: openCircuit("key", clock.now(), closed.get(member)),
      });
      await store.suspend(handle, trouble, clock.now());
      announceParked(member, trouble, { announcer, clock });
    },
    async look(member) {
      if (keptOut?.().has(member.specialist.handle) === true) return false;
      const trouble = member.keyTrouble;
      member.keyTrouble = undefined;
      const key = readQuietly(() => keys.reread(member.specialist.handle));
      if (key === undefined || (key.fingerprint === member.keyId && trouble?.code === "key_refused")) {
        member.keyTrouble = trouble;
        return false;
      }
      if (member.keyId === undefined) onKeyReplaced?.(); // it may be that of another specialist, too
      await store.resume(member.specialist.handle, clock.now());
      await store.retryFailed(member.specialist.handle, "untimed", clock.now());
      return true;
    },
    async probe(member, takesKey) {
      const taken = await probeKey(member, takesKey, clock);
      if (taken === undefined) return member.keyTrouble === undefined; // it was refused, or replaced meanwhile
      closed.set(member, taken);
      await store.resume(member.specialist.handle, clock.now());
      return true;
    },
  };
}

type Announcing = Pick<KeyWatchOptions, "announcer" | "clock">;

function park(member: Member, trouble: KeyTrouble, announcing: Announcing): undefined {
  member.keyTrouble = trouble;
  announceParked(member, trouble, announcing);
}

function announceParked({ specialist }: Member, { code, message }: KeyTrouble, { announcer, clock }: Announcing): void {
  announcer.emit("parked", { at: clock.now(), handle: specialist.handle, code, message });
}

function createKeyHolders() {
  // Arrays and no sets: nearly every key has one holder, and a set of one would be a seventh of a specialist's memory.
  const holders = new Map<KeyId, Member[]>();
  return {
    take(member: Member, key: KeyId): void {
      const left = member.keyId === undefined ? [] : (holders.get(member.keyId) ?? []).filter((one) => one !== member);
      if (member.keyId !== undefined && left.length > 0) holders.set(member.keyId, left);
      else if (member.keyId !== undefined) holders.delete(member.keyId);
      const others = holders.get(key);
      if (others === undefined) holders.set(key, [member]);
      else if (!others.includes(member)) others.push(member);
      member.keyId = key;
    },
    sharers({ keyId }: Member): number {
      const all = keyId === undefined ? [] : (holders.get(keyId) ?? []);
      return Math.max(1, all.filter((one) => !one.retired && one.keyId === keyId).length);
    },
  };
}

/** Probes a refused key if that is due. Returns the closed circuit if the network takes it, which ends its trouble. */
async function probeKey(member: Member, takesKey: () => Promise<boolean>, clock: Clock): Promise<ClosedCircuit | undefined> {
  const known = member.keyTrouble;
  if (known?.circuit === undefined || isProbing(member) || !isProbeDue(known.circuit, clock.now())) return undefined;
  const circuit = sendProbe("key", known.circuit, clock.now());
  const trouble = (member.keyTrouble = { ...known, circuit });
  let isTaken = false;
  try {
    isTaken = await takesKey();
  } finally {
    if (member.keyTrouble !== trouble) isTaken = false;
    else member.keyTrouble = isTaken ? undefined : { ...trouble, circuit: releaseProbe(circuit) };
  }
  return isTaken ? { at: clock.now(), waitMs: circuit.waitMs } : undefined;
}

function isProbing({ keyTrouble }: Member): boolean {
  return keyTrouble?.circuit?.probe === "sent";
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
