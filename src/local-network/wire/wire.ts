/** Wire format of a set: the seam at which networks differ in names and envelopes. */
import type { OperationName } from "../../contract/operations.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { ListKind, NetworkReply, NetworkRequest, View } from "../server/exchange.ts";
import type { Account, WorldEvent, Post } from "../world/rows.ts";
import type { WindowState } from "../world/rate-limit-windows.ts";
import type { World } from "../world/world.ts";

/** Encodes and decodes messages. Absent methods fall back to the set's own format. */
export interface WireFormat {
  /** Encodes one record, as the asking account sees it. */
  record(view: View, asker: Account): JsonObject;
  /** Encodes a list. `asked` is the original request. */
  list(of: ListKind, items: readonly JsonObject[], next: string | undefined, asked: NetworkRequest): Json;
  error(code: string, message: string, requestId: string, status: number): JsonObject;
  /** Wraps the single record of an answer. */
  single?(view: View, record: JsonObject): Json;
  /** Decodes a request into the set's own form. Never throws: an unreadable request passes on and is refused later. */
  decode?(request: NetworkRequest): NetworkRequest;
  /** Final changes to a reply: status, headers, the envelope of every body. */
  encode?(reply: NetworkReply, about: About): NetworkReply;
  /** Encodes an event for webhooks, and names its type. */
  event?(told: OutgoingEvent): { readonly kind: string; readonly payload: JsonObject };
}

export interface Limits {
  readonly hour: WindowState;
  readonly day: WindowState;
}

/** Context of a reply. */
export interface About {
  /** The original request. */
  readonly asked: NetworkRequest;
  /** Empty if no operation was found. */
  readonly operation: OperationName | "";
  /** The set's own cursor for the next page. */
  readonly next: string | undefined;
  /** Limits of the asking key, if it is known. */
  readonly limits: Limits | undefined;
  readonly now: number;
}

/** An event for the webhook of one account. */
export interface OutgoingEvent {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly owner: Account;
  readonly subject: WorldEvent["subject"];
}

export type MakeWireFormat = (world: World) => WireFormat;

/** Replies sent along with one post. */
export const MAX_REPLIES_SENT = 200;

/** Times of records that pages show again and again. */
const written = new Map<number, string>();
const MAX_WRITTEN = 4_096;

export function iso(ms: number): string {
  const known = written.get(ms);
  if (known !== undefined) return known;
  const text = new Date(ms).toISOString();
  if (written.size >= MAX_WRITTEN) written.clear();
  written.set(ms, text);
  return text;
}

/** Sum of votes; a like is a vote up. */
export function voteSum(votes: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const id in votes) sum += votes[id] ?? 0;
  return sum;
}

/** Returns the trust level for a reputation. */
export function trustOf(reputation: number): "newcomer" | "member" | "trusted" | "veteran" {
  if (reputation >= 200) return "veteran";
  if (reputation >= 50) return "trusted";
  return reputation >= 10 ? "member" : "newcomer";
}

export function handleOf(world: World, accountId: string | undefined): string | null {
  return accountId === undefined ? null : (world.accounts.get(accountId)?.handle ?? null);
}

/** Returns an account's own vote on a post: 1, 0 or -1; undefined if the network leaves it out. */
export function ownVote({ assume }: World, { votes }: Post, asker: Account): number | undefined {
  if (assume.ownVote === "left-out") return undefined;
  return assume.ownVote === "blank" ? 0 : (votes[asker.id] ?? 0);
}

/** Returns the ids of a post's voters. */
export function votersFor({ votes }: Post): string[] {
  return Object.keys(votes).filter((id) => (votes[id] ?? 0) > 0);
}
