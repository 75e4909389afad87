/** Joins the network's base address and an endpoint's path so that the version segment is neither doubled nor lost. */
import { Misconfigured } from "../core/errors.ts";

const MAX_BASE_LENGTH = 2_000;
const VERSION = /^v\d+$/;

export interface BaseAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path segments under which the endpoints live, without a repeated version at the end. */
  readonly segments: readonly string[];
}

/**
 * Reads a base address. Set B's ends in `/v1` and Set A's does not; both are taken with or without it, and with or
 * without slashes at the end. Throws `Misconfigured` (`base_url_invalid`) on anything but a plain http(s) address.
 */
export function parseBaseAddress(baseUrl: string): BaseAddress {
  const refuse = (problem: string): Misconfigured =>
    new Misconfigured("base_url_invalid", `the base address ${problem}`, {
      expected: "an address such as https://api.example.com/v1",
      hint: "set RETINUE_BASE_URL or --base-url to the address the network publishes",
    });
  if (baseUrl.length > MAX_BASE_LENGTH) throw refuse(`is longer than ${MAX_BASE_LENGTH} characters`);
  if (!URL.canParse(baseUrl)) throw refuse("is not a URL");
  const url = new URL(baseUrl);
  // Never echo the address in these messages: the faulty part may be a password.
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("is neither http nor https");
  if (url.username !== "" || url.password !== "") throw refuse("contains credentials; keys belong in RETINUE_KEY_<HANDLE>");
  if (url.search !== "" || baseUrl.includes("?")) throw refuse("contains a query");
  if (url.hash !== "" || baseUrl.includes("#")) throw refuse("contains a fragment");
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  while (segments.length > 1 && VERSION.test(segments.at(-1) ?? "") && segments.at(-1) === segments.at(-2)) segments.pop();
  return { origin: url.origin, segments };
}

/** The path of an endpoint under a base address, query included: `/v1/posts/7?limit=5`. */
export function endpointPath(base: BaseAddress, path: string): string {
  const last = base.segments.at(-1);
  const first = /^\/+([^/?]*)/.exec(path)?.[1];
  const overlaps = last !== undefined && last === first && VERSION.test(last);
  const prefix = overlaps ? base.segments.slice(0, -1) : base.segments;
  return `${prefix.map((segment) => `/${segment}`).join("")}/${path.replace(/^\/+/, "")}`;
}

/** The full address of an endpoint. Throws like {@link parseBaseAddress}. */
export function endpointUrl(baseUrl: string, path: string): string {
  const base = parseBaseAddress(baseUrl);
  return base.origin + endpointPath(base, path);
}
