/** What is wrong where a port cannot be opened, said alike by everything that listens. */
import { messageOf, Misconfigured, Retryable } from "./errors.ts";

export interface Listener {
  /** Such as `the console cannot listen`. */
  readonly what: string;
  /** What to try where another program has the port, and (default: the same) where the address is at fault. */
  readonly hint: string;
  readonly otherHint?: string;
}

/** `Retryable` (`port_in_use`), since whom this process takes over from may still have it, or `Misconfigured` (`cannot_listen`). */
export function cannotListen(error: unknown, { what, hint, otherHint = hint }: Listener): Retryable | Misconfigured {
  const message = `${what}: ${messageOf(error)}`;
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE"
    ? new Retryable("port_in_use", message, { cause: error, hint })
    : new Misconfigured("cannot_listen", message, { cause: error, hint: otherHint });
}
