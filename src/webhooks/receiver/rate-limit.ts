/**
 * Refuses an address that keeps sending bad requests, before anything of them is read. Only refusals count: valid deliveries are never
 * limited, and one clears its address.
 */
import { isIP } from "node:net";
import type { Clock } from "../../core/clock.ts";
import { SECOND } from "../../core/units.ts";
import { isInnerIp } from "./public-address.ts";

/** Undefined if the socket was gone before its address was read. */
type Address = string | undefined;

export interface FloodGuard {
  /** True if any address has a record: false costs the next request nothing. */
  watching(): boolean;
  /** True if the address has to wait. */
  bars(address: Address): boolean;
  /** Counts a bad request of the address. */
  refused(address: Address): void;
  /** Clears the address after a verified delivery. */
  accepted(address: Address): void;
  /** Number of addresses with a record. */
  readonly size: number;
}

/** Bad requests an address may send at once, and the number refilled per second. */
const BURST = 60;
const FORGIVEN_PER_SECOND = 1;
/** Addresses stored; the one whose last refusal is oldest is dropped first. */
const MAX_ADDRESSES = 4_096;

interface Held {
  bad: number;
  at: number;
}

export function createFloodGuard(clock: Pick<Clock, "monotonic">): FloodGuard {
  /** The least recently refused first. */
  const records = new Map<string, Held>();
  const heldAgainst = ({ bad, at }: Held): number => Math.max(0, bad - ((clock.monotonic() - at) / SECOND) * FORGIVEN_PER_SECOND);

  return {
    watching: () => records.size > 0,
    bars(address) {
      const record = address === undefined ? undefined : records.get(placeOf(address));
      return record !== undefined && heldAgainst(record) >= BURST;
    },
    refused(address) {
      if (address === undefined || isInnerPeer(address)) return; // a proxy that does not name its client
      const place = placeOf(address);
      const record = records.get(place);
      records.delete(place);
      records.set(place, { bad: 1 + (record === undefined ? 0 : heldAgainst(record)), at: clock.monotonic() });
      const oldest = records.keys().next();
      if (records.size > MAX_ADDRESSES && oldest.done !== true) records.delete(oldest.value);
    },
    accepted: (address) => void (address !== undefined && records.delete(placeOf(address))),
    get size() {
      return records.size;
    },
  };
}

/** True for a request from this machine or a private network, where proxies are. */
export function isInnerPeer(address: Address): boolean {
  if (address === undefined) return true;
  const bare = unmapped(address);
  return isIP(bare) === 0 || isInnerIp(bare);
}

/** Counts an IPv6 address by its /64, since its owner has all 2⁶⁴ of them. */
function placeOf(address: string): string {
  const bare = unmapped(address);
  if (isIP(bare) !== 6) return bare;
  const [head = "", tail = ""] = bare.split("::");
  const front = head.split(":").filter((group) => group !== "");
  const back = tail.split(":").filter((group) => group !== "");
  const zeros = bare.includes("::") ? Array<string>(Math.max(0, 8 - front.length - back.length)).fill("0") : [];
  return [...front, ...zeros, ...back].slice(0, 4).join(":");
}

/** A dual-stack socket writes IPv4 addresses in this form. */
function unmapped(address: string): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
