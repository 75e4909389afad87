/** Checks by which a page answers only to its own address: host, origin, and the headers that bind a browser to it. */
import { isIP } from "node:net";

/**
 * True if the `Host` header is an IP address, localhost, or the host of the page's own address. Another name is a rebound DNS name: it
 * would let a foreign page call this one as if it were its own.
 */
export function isOwnHost(host: string | undefined, own?: URL): boolean {
  const found = URL.parse(`http://${host ?? ""}`);
  if (found === null || host === undefined || /[/?#@\\]/.test(host)) return false;
  const name = found.hostname;
  return name === "localhost" || isIP(name.replace(/^\[|\]$/g, "")) !== 0 || name === own?.hostname;
}

/** True without an `Origin`, and for the address that the browser used, or the page's own address. A browser sends one with each order. */
export function isOwnOrigin(
  { origin, host }: { readonly origin?: string | undefined; readonly host?: string | undefined },
  scheme: "http" | "https",
  own?: URL,
): boolean {
  return origin === undefined || origin === `${scheme}://${host}` || origin === own?.origin;
}

/** Headers of a page. `sources` are the parts of the content policy that it needs: nothing else is loaded, framed or run. */
export function pageHeaders(sources: string): { readonly [name: string]: string } {
  return {
    "content-security-policy": `default-src 'none'; ${sources}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    "cache-control": "no-store",
    // Not "no-referrer", with which browsers send "Origin: null" with this page's own forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}
