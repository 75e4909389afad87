/** How a set words records, lists and errors: the seam at which a network with another accent differs. */
import type { Json, JsonObject } from "../../core/json.ts";
import type { ListKind, View } from "../answer.ts";
import type { Account } from "../rows.ts";
import type { World } from "../world.ts";

export interface Dialect {
  /** One record, as the asking account sees it. */
  record(view: View, asker: Account): JsonObject;
  list(of: ListKind, items: readonly JsonObject[], next: string | undefined): Json;
  error(code: string, message: string, requestId: string): JsonObject;
}

export type MakeDialect = (world: World) => Dialect;

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
