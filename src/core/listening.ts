/** What is wrong where a port cannot be opened, said alike by everything that listens. */
import { messageOf, Misconfigured } from "./errors.ts";

export interface Listener {
  /** Such as `the console cannot listen`. */
  readonly what: string;
  /** What to try where another program has the port, and (default: the same) where the address is at fault. */
  readonly hint: string;
  readonly otherHint?: string;
}

/** `port_in_use`, or `cannot_listen` for every other reason. */
export function cannotListen(error: unknown, { what, hint, otherHint = hint }: Listener): Misconfigured {
  const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  return new Misconfigured(inUse ? "port_in_use" : "cannot_listen", `${what}: ${messageOf(error)}`, {
    cause: error,
    hint: inUse ? hint : otherHint,
  });
}
