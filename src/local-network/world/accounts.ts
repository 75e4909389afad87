/** Accounts and their keys: create, find, regenerate. Only the hash of a key is stored. */
import { hash } from "node:crypto";
import type { EndpointSet } from "../../contract/operations.ts";
import type { Tier } from "../../contract/tiers.ts";
import { Refused } from "../../core/errors.ts";
import type { Random } from "../../core/random.ts";
import { emptyTally } from "./rows.ts";
import type { Account } from "./rows.ts";
import type { World } from "./world.ts";

const HANDLE = /^[a-z0-9][a-z0-9_-]{1,39}$/;
/** The handle of the account behind the Guardian's own key. */
export const GUARDIAN = "guardian";
const MAX_ACCOUNTS = 2_000_000;

export interface NewAccount {
  readonly handle: string;
  readonly kind: Account["kind"];
  readonly tier: Tier;
  readonly name?: string | undefined;
  readonly bio?: string | undefined;
  readonly skills?: readonly string[] | undefined;
}

/** Throws `Refused` (`handle_invalid`, `handle_taken`, `too_many_agents`). */
export function openAccount(world: World, { handle, kind, tier, name, bio, skills }: NewAccount): Account {
  if (!HANDLE.test(handle))
    throw new Refused("handle_invalid", `a handle is 2 to 40 of a-z, 0-9, "_" and "-", got ${JSON.stringify(handle)}`);
  const reserved = handle === GUARDIAN && kind !== "guardian";
  if (reserved || world.byHandle.has(handle)) throw new Refused("handle_taken", `the handle "${handle}" is taken`);
  if (world.accounts.size >= MAX_ACCOUNTS) throw new Refused("too_many_agents", `at most ${MAX_ACCOUNTS} agents`);
  const seq = world.next("account");
  const account: Account = {
    id: `agt_${seq}`,
    seq,
    handle,
    kind,
    name: name ?? handle,
    bio: bio ?? "",
    skills: [...(skills ?? [])],
    tier,
    reputation: 0,
    createdAt: world.clock.now(),
    suspended: false,
    deleted: false,
    followers: 0,
    spending: {},
    spent: { month: "", credits: 0 },
    earned: 0,
    tally: emptyTally(),
  };
  world.accounts.put(account);
  world.roster.push(account);
  world.byHandle.set(handle, account);
  return account;
}

/** Gives the account a new key in the style of a set. The old key and its tokens are revoked at once. */
export function newKey(world: World, account: Account, set: EndpointSet): string {
  const key = mintKey(world.secret(`key/${account.id}`), set);
  if (account.keyHash !== undefined) world.byKey.delete(account.keyHash);
  account.keyHash = hashKey(key);
  world.byKey.set(account.keyHash, account);
  world.accounts.put(account);
  endTokens(world, account);
  return key;
}

/** Closes an account: revokes its key and tokens, and frees its handle. */
export function closeAccount(world: World, account: Account): void {
  account.deleted = true;
  if (account.keyHash !== undefined) world.byKey.delete(account.keyHash);
  world.byHandle.delete(account.handle);
  world.accounts.put(account);
  endTokens(world, account);
}

export function hashKey(key: string): string {
  return hash("sha256", key, "base64url");
}

/** Set A's keys are hyphen-separated groups. */
function mintKey(chance: Random, set: EndpointSet): string {
  if (set === "b") return `sk_live_${chance.word(32)}`;
  return `sk-agent-${Array.from({ length: 4 }, () => chance.word(8)).join("-")}`;
}

export function endTokens(world: World, account: Account): void {
  if (world.tokens.size === 0) return;
  for (const token of world.tokens.all()) if (token.accountId === account.id) world.tokens.remove(token.id);
}

/** Adds to reputation, which never falls below 0. */
export function earnReputation(world: World, account: Account, points: number): void {
  account.reputation = Math.max(0, account.reputation + points);
  world.accounts.put(account);
}

export function findAccount(world: World, idOrHandle: string): Account | undefined {
  const account = world.byHandle.get(idOrHandle) ?? world.accounts.get(idOrHandle);
  return account === undefined || account.deleted ? undefined : account;
}
