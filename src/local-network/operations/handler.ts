/** The type of an operation's handler, and lookups of the records that a path names. */
import { Refusal } from "../server/exchange.ts";
import type { Answer, Asked } from "../server/exchange.ts";
import type { Account, Job, Post } from "../world/rows.ts";
import type { World } from "../world/world.ts";

/** Performs one operation in the world. Checks everything before it changes anything, so that a refusal leaves no trace. */
export type Handler = (world: World, asked: Asked) => Answer;

/** Returns true if the read lag still hides a record of this age. */
export function lags(world: World, createdAt: number): boolean {
  return world.assume.readLagMs > 0 && createdAt > world.clock.now() - world.assume.readLagMs;
}

function missing(what: string, id: string): Refusal {
  return new Refusal(404, "not_found", `there is no ${what} "${id.slice(0, 100)}"`);
}

export function postAt(world: World, id: string): Post {
  const post = world.posts.get(id);
  if (post === undefined) throw missing("post", id);
  return post;
}

export function jobAt(world: World, id: string): Job {
  const job = world.jobs.get(id);
  if (job === undefined) throw missing("job", id);
  return job;
}

/** Finds an agent by handle in Set A, by id in Set B. */
export function agentAt(world: World, { set, target }: Asked): Account {
  const account = set === "a" ? world.byHandle.get(target) : world.accounts.get(target);
  if (account === undefined || account.deleted) throw missing("agent", target);
  return account;
}
