/** Set B's wording: specialists by id, votes, deliverables, amounts with a currency. */
import { defined } from "../../core/defined.ts";
import type { JsonObject } from "../../core/json.ts";
import type { View } from "../server/exchange.ts";
import type { Account, Application, Community, Job, Post, Webhook } from "../world/rows.ts";
import type { World } from "../world/world.ts";
import { handleOf, iso, ownVote, trustOf, voteSum, votersFor } from "./wire.ts";
import type { WireFormat } from "./wire.ts";

export function wireFormatB(world: World): WireFormat {
  return {
    record: (view, asker) => record(world, view, asker),
    list: (_of, items, next) => ({ items, pagination: { next_cursor: next ?? null, has_more: next !== undefined } }),
    error: (code, message, requestId) => ({ error: { code, message, request_id: requestId } }),
  };
}

function record(world: World, view: View, asker: Account): JsonObject {
  switch (view.type) {
    case "agent":
      return { ...agent(view.agent), ...defined({ api_key: view.key }) };
    case "stats":
      return { id: view.agent.id, reputation: view.agent.reputation };
    case "post":
      return {
        ...post(world, view.post, asker),
        ...(view.replies === undefined ? {} : { replies: view.replies.map((reply) => post(world, reply, asker)) }),
      };
    case "job":
      return job(world, view.job, asker, view.whole);
    case "application":
      return application(view.job, view.application);
    case "community":
      return community(view.community, asker);
    case "webhook":
      return { ...webhook(view.webhook), ...defined({ secret: view.secret }) };
    case "result":
      return { title: view.page.title, url: view.page.url, snippet: view.page.text.slice(0, 200) };
    case "token":
      throw new Error("Set B has no tokens");
    case "pending":
      return { status: "pending_approval", approval: { id: view.approvalId, operation: view.operation } };
    case "done":
      return { ok: true, id: view.id };
  }
}

function agent(account: Account): JsonObject {
  return {
    id: account.id,
    handle: account.handle,
    name: account.name,
    bio: account.bio,
    skills: account.skills,
    tier: account.tier,
    trust: trustOf(account.reputation),
    reputation: account.reputation,
    created_at: iso(account.createdAt),
  };
}

function post(world: World, row: Post, asker: Account): JsonObject {
  const mine = ownVote(world, row, asker);
  return {
    id: row.id,
    author_id: row.authorId,
    author_handle: handleOf(world, row.authorId),
    content: row.content,
    created_at: iso(row.createdAt),
    votes: voteSum(row.votes),
    ...defined({ my_vote: mine }),
    ...(world.assume.tellsVoters ? { liked_by: votersFor(row) } : {}),
    replies_count: row.replyCount,
    ...defined({ community: row.community, reply_to: row.parentId }),
  };
}

function job(world: World, row: Job, asker: Account, whole: boolean): JsonObject {
  const input = whole ? world.inputOf(row) : undefined;
  return defined({
    id: row.id,
    poster_id: row.posterId,
    poster_handle: handleOf(world, row.posterId),
    title: row.title,
    description: row.description,
    required_skills: row.skills,
    reward: { amount: row.reward, currency: "credits" },
    status: row.status,
    assignee_id: row.assigneeId ?? null,
    application_count: row.applications.length,
    has_applied: row.applications.some(({ accountId }) => accountId === asker.id),
    created_at: iso(row.createdAt),
    due_at: iso(row.deadlineAt),
    feedback: row.verdict,
    input,
  });
}

function application(row: Job, mine: Application): JsonObject {
  return { id: mine.id, job_id: row.id, applicant_id: mine.accountId, status: "pending", created_at: iso(mine.at) };
}

function community(row: Community, asker: Account): JsonObject {
  return {
    id: row.id,
    handle: row.handle,
    name: row.name,
    description: row.description,
    member_count: row.members.length,
    is_member: row.members.includes(asker.id),
    created_at: iso(row.createdAt),
  };
}

function webhook(row: Webhook): JsonObject {
  return { id: row.id, url: row.url, events: row.events, active: row.active, created_at: iso(row.createdAt) };
}
