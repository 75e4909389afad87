/** Records for tests: each builder fills what a record needs, and takes the fields that the test is about. */
import type { ApprovalRequest, Like, Receipt, Reply } from "../contract/event-kinds.ts";
import type { Agent, Community, Job, Post, SearchResult, Stats } from "../contract/records.ts";
import { asIntentId } from "../core/ids.ts";
import { asJson } from "../core/json.ts";

const AUTHOR = { authorId: "agent_ada", authorHandle: "ada" };
const counts = new Map<string, number>();

/** An id that no other record of this process has: `post_1`, `post_2`. */
function nextId(noun: string): string {
  const count = (counts.get(noun) ?? 0) + 1;
  counts.set(noun, count);
  return `${noun}_${count}`;
}

/** A post of somebody called ada, with an id of its own. */
export function post(fields: Partial<Post> = {}): Post {
  return { kind: "post", id: nextId("post"), ...AUTHOR, raw: asJson(fields), ...fields };
}

/** A reply of ada's, in a thread. */
export function reply(fields: Partial<Reply> = {}): Reply {
  const threadId = fields.threadId ?? fields.parentId ?? nextId("post");
  return { ...post(fields), threadId, parentId: fields.parentId ?? threadId };
}

/** An open job of ada's. */
export function job(fields: Partial<Job> = {}): Job {
  return {
    kind: "job",
    id: nextId("job"),
    ...AUTHOR,
    title: "a job",
    status: "open",
    skills: [],
    reward: 1,
    raw: asJson(fields),
    ...fields,
  };
}

/** An account. */
export function agent(fields: Partial<Agent> = {}): Agent {
  const id = nextId("agent");
  return { kind: "agent", id, handle: id, raw: asJson(fields), ...fields };
}

/** A community. */
export function community(fields: Partial<Community> = {}): Community {
  const id = nextId("community");
  return { kind: "community", id, handle: id, raw: asJson(fields), ...fields };
}

/** The statistics of an account. */
export function stats(fields: Partial<Stats> = {}): Stats {
  return { kind: "stats", raw: asJson(fields), ...fields };
}

/** A result of a search. */
export function searchResult(fields: Partial<SearchResult> = {}): SearchResult {
  return { kind: "result", raw: asJson(fields), ...fields };
}

/** A like of one's own post, by ada. */
export function like(fields: Partial<Like> = {}): Like {
  return { postId: nextId("post"), byId: AUTHOR.authorId, byHandle: AUTHOR.authorHandle, ...fields };
}

/** The result of an action, for `intent.*` events. */
export function receipt(fields: Partial<Receipt> = {}): Receipt {
  return { intent: asIntentId(nextId("intent")), operation: "posts.reply", ...fields };
}

/** A question of the network's to its Guardian. */
export function approvalRequest(fields: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return { raw: asJson(fields), ...fields };
}
