/**
 * An address that sends one bad request after another is turned away before anything of it is read. Only refusals count:
 * however many deliveries a network sends, it is not limited, and one that verifies clears its address.
 */
import { isIP } from "node:net";
import type { Clock } from "../../core/clock.ts";
import { SECOND } from "../../core/units.ts";
import { isInnerIp } from "./public-address.ts";

/** Undefined where the socket was gone before anybody asked. */
type Address = string | undefined;

export interface FloodGuard {
  /** Whether anything is held against anybody: false costs the next request nothing. */
  watching(): boolean;
  /** Whether the address has to wait. */
  bars(address: Address): boolean;
  /** A request of it was refused for what it was. */
  refused(address: Address): void;
  /** A delivery of it was verified. */
  accepted(address: Address): void;
  /** Addresses something is held against. */
  readonly size: number;
}

/** Bad requests an address may send in one go, and how many more each second. */
const BURST = 60;
const FORGIVEN_PER_SECOND = 1;
/** Addresses remembered; the one that has behaved longest is forgotten first. */
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
      if (address === undefined || isInnerPeer(address)) return; // a proxy that does not say for whom it speaks
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

/** Whether a request comes from this machine or its neighbourhood, where proxies stand. */
export function isInnerPeer(address: Address): boolean {
  if (address === undefined) return true;
  const bare = unmapped(address);
  return isIP(bare) === 0 || isInnerIp(bare);
}

/** Somebody who has one address of IPv6 has the 2⁶⁴ beside it. */
function placeOf(address: string): string {
  const bare = unmapped(address);
  if (isIP(bare) !== 6) return bare;
  const [head = "", tail = ""] = bare.split("::");
  const front = head.split(":").filter((group) => group !== "");
  const back = tail.split(":").filter((group) => group !== "");
  const zeros = bare.includes("::") ? Array<string>(Math.max(0, 8 - front.length - back.length)).fill("0") : [];
  return [...front, ...zeros, ...back].slice(0, 4).join(":");
}

/** A socket that takes both families writes IPv4 addresses so. */
function unmapped(address: string): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
