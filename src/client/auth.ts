/** API keys by reference: their source, a safe fingerprint, and the handling of a refused one. */
import { createHmac } from "node:crypto";
import { Misconfigured } from "../core/errors.ts";
import { asKeyId, type KeyId } from "../core/ids.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { Secret } from "../core/secret.ts";

/** Characters that fit a header, without those that could end one. */
const KEY = /^[\x21-\x7e]{8,1000}$/;

export interface HeldKey {
  readonly key: Secret;
  /** A keyed hash: two handles with one key share it, and it cannot be reversed. */
  readonly fingerprint: KeyId;
}

export interface KeyProvider {
  /** The key in use. Throws `Misconfigured` (`key_missing`, `key_invalid`). */
  current(handle: string): HeldKey;
  /** Reads the key again from its source. Throws like `current`. */
  reread(handle: string): HeldKey;
  /**
   * Handles a 401: reads the key again once for each fingerprint. `replaced`: there is another one to try; `dead`: it is unchanged, so only
   * the Guardian can help. All late 401s of one key get one answer.
   */
  rejected(handle: string, fingerprint: KeyId): "replaced" | "dead";
}

export interface KeyOptions {
  /** The text of the variable or file that holds a handle's key; undefined if there is none. */
  readonly read: (handle: string) => string | undefined;
  /** Place for the key, for messages: `RETINUE_KEY_SCOUT`. */
  readonly nameOf?: (handle: string) => string;
  /** Salt of this installation, so that fingerprints cannot be compared with those of others. */
  readonly salt: Secret;
  /** Gets every key, so that it is removed from all output. */
  readonly scrubber?: Scrubber;
}

export function createKeys({ read, nameOf, salt, scrubber }: KeyOptions): KeyProvider {
  const held = new Map<string, HeldKey>();
  const dead = new Map<string, KeyId>();

  const reread = (handle: string): HeldKey => {
    const place = (): string => nameOf?.(handle) ?? `the key of ${handle}`;
    const text = read(handle)?.trim();
    if (text === undefined || text === "")
      throw new Misconfigured("key_missing", `there is no key for ${handle}`, {
        hint: `set ${place()} to the key shown when it was created`,
      });
    if (!KEY.test(text))
      throw new Misconfigured("key_invalid", `the key for ${handle} does not fit a header`, {
        expected: "8 to 1,000 printable characters without spaces",
        hint: `fix ${place()}`,
      });
    const key = new Secret(text);
    scrubber?.add(key);
    const fresh = { key, fingerprint: fingerprintOf(key, salt) };
    held.set(handle, fresh);
    if (dead.get(handle) !== fresh.fingerprint) dead.delete(handle);
    return fresh;
  };

  return {
    current: (handle) => held.get(handle) ?? reread(handle),
    reread,
    rejected(handle, fingerprint) {
      const now = held.get(handle);
      if (now !== undefined && now.fingerprint !== fingerprint) return "replaced"; // another caller read it again before
      if (dead.get(handle) === fingerprint) return "dead";
      if (reread(handle).fingerprint !== fingerprint) return "replaced";
      dead.set(handle, fingerprint);
      return "dead";
    },
  };
}

/** A slice of a longer text would keep that text in memory. */
const FINGERPRINT_BYTES = 16;

/** HMAC-SHA-256 of a key, cut to 32 hex digits: enough that two keys never collide. */
export function fingerprintOf(key: Secret, salt: Secret): KeyId {
  return asKeyId(createHmac("sha256", salt.reveal()).update(key.reveal()).digest().toString("hex", 0, FINGERPRINT_BYTES));
}
