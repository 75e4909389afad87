/** Whether an address can be reached from the network, and is not one of this machine or its neighbourhood. */
import { BlockList, isIP } from "node:net";

/** Every range that is not for the public, so that a mistake in a variable hands no inner service to a stranger. */
const INNER: readonly (readonly [family: "ipv4" | "ipv6", address: string, bits: number])[] = [
  ["ipv4", "0.0.0.0", 8],
  ["ipv4", "10.0.0.0", 8],
  ["ipv4", "100.64.0.0", 10],
  ["ipv4", "127.0.0.0", 8],
  ["ipv4", "169.254.0.0", 16],
  ["ipv4", "172.16.0.0", 12],
  ["ipv4", "192.0.0.0", 24],
  ["ipv4", "192.0.2.0", 24],
  ["ipv4", "192.88.99.0", 24],
  ["ipv4", "192.168.0.0", 16],
  ["ipv4", "198.18.0.0", 15],
  ["ipv4", "198.51.100.0", 24],
  ["ipv4", "203.0.113.0", 24],
  ["ipv4", "224.0.0.0", 3],
  ["ipv6", "::", 96], // unspecified, loopback, and the old v4-compatible form
  ["ipv6", "64:ff9b::", 96],
  ["ipv6", "64:ff9b:1::", 48],
  ["ipv6", "100::", 64],
  ["ipv6", "2001::", 23],
  ["ipv6", "2001:db8::", 32],
  ["ipv6", "2002::", 16],
  ["ipv6", "3fff::", 20],
  ["ipv6", "5f00::", 16],
  ["ipv6", "fc00::", 7],
  ["ipv6", "fe80::", 10],
  ["ipv6", "fec0::", 10],
  ["ipv6", "ff00::", 8],
];
const INNER_NAMES = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa|test|invalid|example|onion)$/;

const inner = new BlockList();
for (const [family, address, bits] of INNER) inner.addSubnet(address, bits, family);

/** Why no network may be told to send there; undefined where nothing speaks against it. Takes every textual form of an address. */
export function innerAddress(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return "it is no http(s) address";
  if (parsed.username !== "" || parsed.password !== "") return "it holds a name or password";
  // The URL parser has turned decimal, octal, hexadecimal and short forms into dotted ones.
  const host = parsed.hostname.replace(/\.$/, "");
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return isInnerIp(bare) ? `${bare} is not a public address` : undefined;
  if (INNER_NAMES.test(bare) || !bare.includes(".")) return `${bare} is not a public name`;
  return undefined;
}

/** Whether an IP address, as a URL parser or a socket writes it, is of this machine or its neighbourhood. */
export function isInnerIp(address: string): boolean {
  // v4-mapped: an odd way to write an address, whichever it is. A block list would take every IPv4 address for one.
  if (address.startsWith("::ffff:")) return true;
  return inner.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
