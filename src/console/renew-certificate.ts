/** Takes a renewed certificate while the console runs: authorities renew theirs every few weeks, and a restart for that is easily forgotten. */
import { readFileSync, statSync } from "node:fs";
import type { Clock, Timer } from "../core/clock.ts";
import { messageOf, Misconfigured } from "../core/errors.ts";
import { MINUTE } from "../core/units.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface RenewalOptions {
  readonly files: TlsFiles;
  readonly server: { setSecureContext(options: { readonly cert: Buffer; readonly key: Buffer }): void };
  readonly clock: Clock;
  /** Called once for a pair that cannot be used: the earlier one stays. */
  readonly onError: (error: Misconfigured) => void;
}

const LOOK_MS = MINUTE;

/** Throws `Misconfigured` (`console_tls_unreadable`). */
export function readTls({ cert, key }: TlsFiles): { readonly cert: Buffer; readonly key: Buffer } {
  try {
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } catch (error) {
    throw tlsUnreadable(error);
  }
}

export function tlsUnreadable(cause: unknown): Misconfigured {
  return new Misconfigured("console_tls_unreadable", `the certificate or the key of the console cannot be used: ${messageOf(cause)}`, {
    cause,
    expected: "two PEM files that this user may read, under console.tls",
  });
}

/** Looks at the files every minute. Returns the function that ends it. */
export function keepCertificate({ files, server, clock, onError }: RenewalOptions): () => void {
  let seen = versionOf(files);
  let timer: Timer | undefined;
  const look = (): void => {
    const now = versionOf(files);
    if (now !== seen) {
      seen = now;
      try {
        server.setSecureContext(readTls(files));
      } catch (error) {
        onError(error instanceof Misconfigured ? error : tlsUnreadable(error));
      }
    }
    timer = clock.after(LOOK_MS, look);
  };
  timer = clock.after(LOOK_MS, look);
  return () => timer?.cancel();
}

/** A pair half of which is renewed is looked at again once the other half is. */
function versionOf({ cert, key }: TlsFiles): string {
  return [cert, key].map(changedAt).join(" ");
}

/** 0 for a file that cannot be seen, in a folder that is closed too: reading it says why. */
function changedAt(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
