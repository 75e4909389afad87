/** Checks that an address is public, and not one of this machine or a private network. */
import { BlockList, isIP } from "node:net";

/** Every non-public range, so that a mistyped variable exposes no internal service. */
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

/** The reason not to register an address; undefined if there is none. Accepts every textual form of an address. */
export function innerAddress(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return "it is not an http(s) address";
  if (parsed.username !== "" || parsed.password !== "") return "it contains a name or password";
  // The URL parser has converted decimal, octal, hexadecimal and short forms to dotted ones.
  const host = parsed.hostname.replace(/\.$/, "");
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return isInnerIp(bare) ? `${bare} is not a public address` : undefined;
  if (INNER_NAMES.test(bare) || !bare.includes(".")) return `${bare} is not a public name`;
  return undefined;
}

/** True for an IP address of this machine or a private network, as written by a URL parser or a socket. */
export function isInnerIp(address: string): boolean {
  // v4-mapped addresses are refused as a whole: a block list would match every IPv4 address.
  if (address.startsWith("::ffff:")) return true;
  return inner.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
