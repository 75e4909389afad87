/** What stands in a request's header: the key itself, or in token mode what it was traded for. */
import type { HeldKey } from "../client/auth.ts";
import { createTokens, type Tokens } from "../client/tokens.ts";
import type { Call, Outcome } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf, Refused, Retryable } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import { MINUTE } from "../core/units.ts";
import type { Member } from "./member.ts";

/** What a trade came to: an answer, or (`Held`) why it could not leave. */
export type Traded<Held> = { readonly outcome: Outcome } | { readonly held: Held };

export type Credential<Held> =
  | { readonly kind: "credential"; readonly secret: Secret }
  /** A trade had to wait, and so has what needs its token. */
  | { readonly kind: "held"; readonly held: Held }
  /** The network gave no token; where it refused one, it is not asked for one for the same key before `until`. */
  | { readonly kind: "none"; readonly message: string; readonly until?: number };

export interface Credentials<Held> {
  of(member: Member, key: HeldKey, call: Call): Promise<Credential<Held>>;
  /** What an answer says of what was sent with it. True where it refuses the key itself, not a token that has run out. */
  refusesKey(member: Member, sent: { readonly key: HeldKey; readonly secret: Secret; readonly call: Call }, outcome: Outcome): boolean;
}

export interface CredentialOptions<Held> {
  readonly profile: Pick<Profile, "auth">;
  readonly clock: Clock;
  /** Sends a trade with the key, charged like any request. */
  readonly send: (member: Member, call: Call) => Promise<Traded<Held>>;
}

/** A refused trade is charged like any other, so it is not repeated for each request that wants a token. */
const REFUSED_AGAIN_MS = 10 * MINUTE;

const TRADES: readonly string[] = ["auth.token", "auth.refresh"];

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
  return {
    async of(member, key, call) {
      if (tokens === undefined || TRADES.includes(call.operation)) return { kind: "credential", secret: key.key };
      const { handle } = member.specialist;
      members.set(handle, member);
      const refusal = refusals.get(handle);
      if (refusal?.key.reveal() === key.key.reveal() && clock.now() < refusal.until)
        return { kind: "none", message: refusal.message, until: refusal.until };
      refusals.delete(handle);
      try {
        return { kind: "credential", secret: await tokens.current(handle, key.key) };
      } catch (error) {
        // Only this mode's own trades throw it, so what it holds is what they hold.
        if (error instanceof TradeHeld) return { kind: "held", held: error.held as Held };
        if (!(error instanceof Refused || error instanceof Retryable)) throw error;
        const message = messageOf(error);
        // A key that was refused itself is tried again by its own probes.
        if (error instanceof Retryable || member.keyTrouble !== undefined) return { kind: "none", message };
        const until = clock.now() + REFUSED_AGAIN_MS;
        refusals.set(handle, { key: key.key, message, until });
        return { kind: "none", message, until };
      }
    },
    refusesKey(member, { key, secret, call }, outcome) {
      const { handle } = member.specialist;
      if (outcome.class !== "unauthorized") {
        if ("status" in outcome) tokens?.taken(handle, secret);
        return false;
      }
      // A refresh is sent with the key, but it is the refresh token that was refused.
      if (secret.reveal() === key.key.reveal()) return call.operation !== "auth.refresh";
      return tokens?.refused(handle, secret) === "key";
    },
  };
}

/** A trade that waits: for quota, a park, a stop. */
class TradeHeld extends Error {
  readonly held: unknown;
  constructor(held: unknown) {
    super("the trade of a key for a token has to wait");
    this.held = held;
  }
}
