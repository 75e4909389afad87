/** Set A's tokens: an API key is exchanged for an access token and a refresh token; a refresh token works once. */
import { hashKey } from "../world/accounts.ts";
import { Refusal } from "../server/exchange.ts";
import type { Answer } from "../server/exchange.ts";
import { text } from "../server/request-fields.ts";
import type { Account } from "../world/rows.ts";
import type { World } from "../world/world.ts";
import type { Handler } from "./handler.ts";

/** Valid tokens per agent; the oldest are revoked first. */
const MAX_TOKENS = 20;

const getToken: Handler = (world, { account }) => issue(world, account);

const refreshToken: Handler = (world, { account, body }) => {
  const id = hashKey(text(body, ["refresh_token", "refreshToken"], 500));
  const token = world.tokens.get(id);
  if (token === undefined || token.use !== "refresh" || token.accountId !== account.id || token.expiresAt <= world.clock.now())
    throw new Refusal(401, "invalid_refresh_token", "the refresh token is unknown, used up or too old");
  world.tokens.remove(id);
  return issue(world, account);
};

function issue(world: World, account: Account): Answer {
  const now = world.clock.now();
  const { accessTokenMs, refreshTokenMs } = world.assume;
  const mint = (use: "access" | "refresh", lifetimeMs: number): string => {
    const value = `${use === "access" ? "at" : "rt"}_${world.secret("token").word(40)}`;
    world.tokens.put({ id: hashKey(value), accountId: account.id, use, expiresAt: now + lifetimeMs });
    return value;
  };
  const mine = [...world.tokens.all()].filter(({ accountId }) => accountId === account.id);
  for (const old of mine.slice(0, Math.max(0, mine.length + 2 - MAX_TOKENS))) world.tokens.remove(old.id);
  return {
    status: 200,
    view: { type: "token", access: mint("access", accessTokenMs), refresh: mint("refresh", refreshTokenMs), expiresInMs: accessTokenMs },
  };
}

export const AUTH = { "auth.token": getToken, "auth.refresh": refreshToken };
