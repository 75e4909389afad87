/** Tells the addresses that only this machine reaches. */

/** True for a loopback address, or the name of one. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
