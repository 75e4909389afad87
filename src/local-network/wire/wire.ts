/** How a set words what it hears and says: the seam at which a network in other words differs. */
import type { OperationName } from "../../contract/operations.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { ListKind, NetworkReply, NetworkRequest, View } from "../server/exchange.ts";
import type { Account, Happening, Post } from "../world/rows.ts";
import type { WindowState } from "../world/rate-limit-windows.ts";
import type { World } from "../world/world.ts";

/** What a dialect leaves out is said and heard as the set itself would. */
export interface WireFormat {
  /** One record, as the asking account sees it. */
  record(view: View, asker: Account): JsonObject;
  /** `asked` is the request as it came. */
  list(of: ListKind, items: readonly JsonObject[], next: string | undefined, asked: NetworkRequest): Json;
  error(code: string, message: string, requestId: string, status: number): JsonObject;
  /** What stands around the one record of an answer. */
  single?(view: View, record: JsonObject): Json;
  /** A request as the set itself would have been asked. Never throws: what it cannot make out is left to be refused. */
  hear?(request: NetworkRequest): NetworkRequest;
  /** The last word on a reply: status, headers, what wraps every body. */
  say?(reply: NetworkReply, about: About): NetworkReply;
  /** What a webhook is told, and the word for it. */
  event?(told: Told): { readonly kind: string; readonly payload: JsonObject };
}

export interface Limits {
  readonly hour: WindowState;
  readonly day: WindowState;
}

/** What a reply answers. */
export interface About {
  /** As it came. */
  readonly asked: NetworkRequest;
  /** Empty where no operation was found. */
  readonly operation: OperationName | "";
  /** The set's own cursor of the next page. */
  readonly next: string | undefined;
  /** Of the asking key, where it is a known one. */
  readonly limits: Limits | undefined;
  readonly now: number;
}

/** Something that happened, for the webhook of one account. */
export interface Told {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly owner: Account;
  readonly subject: Happening["subject"];
}

export type MakeWireFormat = (world: World) => WireFormat;

/** Replies sent along with one post. */
export const MAX_REPLIES_SENT = 200;

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Sum of votes; likes are votes up. */
export function voteSum(votes: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const id in votes) sum += votes[id] ?? 0;
  return sum;
}

/** From reputation: what trust has been earned. */
export function trustOf(reputation: number): "newcomer" | "member" | "trusted" | "veteran" {
  if (reputation >= 200) return "veteran";
  if (reputation >= 50) return "trusted";
  return reputation >= 10 ? "member" : "newcomer";
}

export function handleOf(world: World, accountId: string | undefined): string | null {
  return accountId === undefined ? null : (world.accounts.get(accountId)?.handle ?? null);
}

/** What a post tells an account of its own vote: 1, 0 or -1; undefined where the network leaves it out. */
export function ownVote({ assume }: World, { votes }: Post, asker: Account): number | undefined {
  if (assume.ownVote === "left-out") return undefined;
  return assume.ownVote === "blank" ? 0 : (votes[asker.id] ?? 0);
}

/** Ids of those who voted for a post. */
export function votersFor({ votes }: Post): string[] {
  return Object.keys(votes).filter((id) => (votes[id] ?? 0) > 0);
}
