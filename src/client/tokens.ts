/** Set A's token mode: exchanges a key for an access token, one exchange at a time, and renews it early. Off by default. */
import type { Call, Outcome } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import { Refused, Retryable } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";

export interface Tokens {
  /** The token to send instead of the key. Throws `Retryable` (`token_unavailable`) or `Refused` (`token_refused`). */
  current(handle: string, key: Secret): Promise<Secret>;
  /** Records that the network accepted this token. */
  taken(handle: string, token: Secret): void;
  /**
   * Handles a 401: drops the sent token if it is the present one. `token`: the next call exchanges the key again; `key`: a new token was
   * never accepted, so another exchange would change nothing.
   */
  refused(handle: string, sent: Secret): "token" | "key";
}

export interface TokenOptions {
  readonly profile: Pick<Profile, "auth" | "operations">;
  /** Charges and sends, like any other call. */
  readonly send: (call: Call, options: { readonly handle: string; readonly key: Secret }) => Promise<Outcome>;
  readonly clock: Clock;
}

interface Held {
  readonly access: Secret;
  readonly refresh: Secret | undefined;
  /** On the monotonic clock, so that a clock set back revives no token. */
  readonly expiresAt: number;
  /** Earliest time of a renewal. */
  renewAt: number;
  /** The exchanged key; another key starts over. */
  readonly key: Secret;
  /** True if the network has accepted it once. */
  taken: boolean;
}

export function createTokens({ profile, send, clock }: TokenOptions): Tokens {
  const { refreshEarlyMs, tokenLifetimeMs } = profile.auth;
  // A network may hand out refresh tokens that its profile has no use for.
  const refreshes = profile.operations.get("auth.refresh")?.unsupported === undefined;
  const held = new Map<string, Held>();
  const trading = new Map<string, Promise<Secret>>();

  const trade = async (handle: string, key: Secret, call: Call): Promise<Secret | Outcome> => {
    const askedAt = clock.monotonic();
    const outcome = await send(call, { handle, key });
    const access = outcome.class === "confirmed" ? outcome.secrets?.accessToken : undefined;
    if (outcome.class !== "confirmed" || access === undefined) return outcome;
    const stated = outcome.record?.kind === "token" ? outcome.record.expiresInMs : undefined;
    const expiresAt = askedAt + (stated ?? tokenLifetimeMs);
    // For a token that lives shorter than the early margin, half its life is early enough.
    const renewAt = Math.max(expiresAt - refreshEarlyMs, (askedAt + expiresAt) / 2);
    held.set(handle, { access, refresh: refreshes ? outcome.secrets?.refreshToken : undefined, expiresAt, renewAt, key, taken: false });
    return access;
  };

  const renew = async (handle: string, key: Secret, old: Held | undefined): Promise<Secret> => {
    if (old?.refresh !== undefined) {
      const renewed = await trade(handle, key, { operation: "auth.refresh", input: { refreshToken: old.refresh.reveal() } });
      if ("reveal" in renewed) return renewed;
      if (clock.monotonic() < old.expiresAt) {
        // Still valid: use it, and try again half-way to its end instead of at every call.
        old.renewAt = (clock.monotonic() + old.expiresAt) / 2;
        return old.access;
      }
    }
    const traded = await trade(handle, key, { operation: "auth.token", input: {} });
    if ("reveal" in traded) return traded;
    held.delete(handle);
    if (traded.class === "refused" || traded.class === "unauthorized")
      throw new Refused("token_refused", `the network issues no token for the key of ${handle}${wordsOf(traded)}`);
    if (traded.class === "unknown" && traded.unreadable === true)
      throw new Refused(
        "token_refused",
        `the answer of auth.token for ${handle} holds no token (${traded.reason}): check operations.auth.token.path and records.token in the profile`,
      );
    const why =
      traded.class === "unknown" || traded.class === "never-left" ? `got no answer (${traded.reason})` : `answers ${traded.class}`;
    throw new Retryable("token_unavailable", `no token for ${handle}: auth.token ${why}`);
  };

  return {
    current(handle, key) {
      const known = held.get(handle);
      const old = known !== undefined && known.key.reveal() === key.reveal() ? known : undefined;
      if (old !== undefined && clock.monotonic() < old.renewAt) return Promise.resolve(old.access);
      const under = trading.get(handle);
      if (under !== undefined) return under;
      const fresh = renew(handle, key, old).finally(() => trading.delete(handle));
      trading.set(handle, fresh);
      return fresh;
    },
    taken(handle, token) {
      const known = held.get(handle);
      if (known !== undefined && known.access.reveal() === token.reveal()) known.taken = true;
    },
    refused(handle, sent) {
      const known = held.get(handle);
      if (known === undefined || known.access.reveal() !== sent.reveal()) return "token"; // a late answer to an older token
      held.delete(handle);
      return known.taken ? "token" : "key";
    },
  };
}

function wordsOf({ message = "" }: Extract<Outcome, { readonly class: "refused" | "unauthorized" }>): string {
  return message === "" ? "" : `: ${message}`;
}
