/** Errors for a port that cannot be opened, the same for everything that listens. */
import { messageOf, Misconfigured, Retryable } from "./errors.ts";

export interface Listener {
  /** For example `the console cannot listen`. */
  readonly what: string;
  /** Advice if another program has the port, and (default: the same) if the address is at fault. */
  readonly hint: string;
  readonly otherHint?: string;
}

/** `Retryable` (`port_in_use`), since the predecessor of this process may still have the port, or `Misconfigured` (`cannot_listen`). */
export function cannotListen(error: unknown, { what, hint, otherHint = hint }: Listener): Retryable | Misconfigured {
  const message = `${what}: ${messageOf(error)}`;
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE"
    ? new Retryable("port_in_use", message, { cause: error, hint })
    : new Misconfigured("cannot_listen", message, { cause: error, hint: otherHint });
}
