/** The credential in a request's header: the key itself, or in token mode the token exchanged for it. */
import type { HeldKey } from "../client/auth.ts";
import { createTokens, type Tokens } from "../client/tokens.ts";
import type { Call, Outcome } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { isTrade } from "../contract/secrets.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf, Refused, Retryable } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import { MINUTE } from "../core/units.ts";
import type { Member } from "./member.ts";

/** The result of an exchange: an answer, or (`Held`) the reason for which it could not leave. */
export type Traded<Held> = { readonly outcome: Outcome } | { readonly held: Held };

export type Credential<Held> =
  | { readonly kind: "credential"; readonly secret: Secret }
  /** The exchange has to wait, and so has the request that needs its token. */
  | { readonly kind: "held"; readonly held: Held }
  /** The network issued no token; if it refused, the same key does not ask again before `until`. */
  | { readonly kind: "none"; readonly message: string; readonly until?: number };

export interface Credentials<Held> {
  /** Returns a promise only where the key is exchanged for tokens. */
  of(member: Member, key: HeldKey, call: Call): Credential<Held> | Promise<Credential<Held>>;
  /** Handles the answer to a request. Returns true if it refuses the key itself, not an expired token. */
  refusesKey(member: Member, sent: { readonly key: HeldKey; readonly secret: Secret; readonly call: Call }, outcome: Outcome): boolean;
}

export interface CredentialOptions<Held> {
  readonly profile: Pick<Profile, "auth" | "operations">;
  readonly clock: Clock;
  /** Sends an exchange with the key, charged like any request. */
  readonly send: (member: Member, call: Call) => Promise<Traded<Held>>;
}

/** A refused exchange is charged like any other, so it is not repeated for each request that needs a token. */
const REFUSED_AGAIN_MS = 10 * MINUTE;

export function createCredentials<Held>({ profile, clock, send }: CredentialOptions<Held>): Credentials<Held> {
  const members = new Map<string, Member>();
  const refusals = new Map<string, { readonly key: Secret; readonly message: string; readonly until: number }>();
  const tokens: Tokens | undefined = profile.auth.exchange
    ? createTokens({
        profile,
        clock,
        async send(call, { handle }) {
          const member = members.get(handle);
          if (member === undefined) throw new TypeError(`expected ${handle} to have asked for a token`);
          const traded = await send(member, call);
          if ("held" in traded) throw new TradeHeld(traded.held);
          return traded.outcome;
        },
      })
    : undefined;
  const tokenFor = async (from: Tokens, member: Member, key: HeldKey): Promise<Credential<Held>> => {
    const { handle } = member.specialist;
    members.set(handle, member);
    const refusal = refusals.get(handle);
    if (refusal?.key.reveal() === key.key.reveal() && clock.now() < refusal.until)
      return { kind: "none", message: refusal.message, until: refusal.until };
    refusals.delete(handle);
    try {
      return { kind: "credential", secret: await from.current(handle, key.key) };
    } catch (error) {
      // Only this mode's own exchanges throw it, so `held` has their type.
      if (error instanceof TradeHeld) return { kind: "held", held: error.held as Held };
      if (!(error instanceof Refused || error instanceof Retryable)) throw error;
      const message = messageOf(error);
      // A refused key is tried again by its own probes.
      if (error instanceof Retryable || member.keyTrouble !== undefined) return { kind: "none", message };
      const until = clock.now() + REFUSED_AGAIN_MS;
      refusals.set(handle, { key: key.key, message, until });
      return { kind: "none", message, until };
    }
  };
  return {
    of: (member, key, call) =>
      tokens === undefined || isTrade(call.operation) ? { kind: "credential", secret: key.key } : tokenFor(tokens, member, key),
    refusesKey(member, { key, secret, call }, outcome) {
      const { handle } = member.specialist;
      if (outcome.class !== "unauthorized") {
        if ("status" in outcome) tokens?.taken(handle, secret);
        return false;
      }
      // A refresh is sent with the key, but the refused part is the refresh token.
      if (secret.reveal() === key.key.reveal()) return call.operation !== "auth.refresh";
      return tokens?.refused(handle, secret) === "key";
    },
  };
}

/** An exchange that waits: for quota, a cooldown, a breaker. */
class TradeHeld extends Error {
  readonly held: unknown;
  constructor(held: unknown) {
    super("the exchange of a key for a token has to wait");
    this.held = held;
  }
}
