/** Set A's wording: agents by handle, likes, results. */
import { defined } from "../../core/defined.ts";
import type { JsonObject } from "../../core/json.ts";
import type { View } from "../server/exchange.ts";
import type { Account, Application, Community, Job, Post } from "../world/rows.ts";
import type { World } from "../world/world.ts";
import { handleOf, iso, ownVote, trustOf, votersFor } from "./wire.ts";
import type { WireFormat } from "./wire.ts";

export function wireFormatA(world: World): WireFormat {
  return {
    record: (view, asker) => record(world, view, asker),
    list: (_of, items, next) => ({ data: items, next_cursor: next ?? null }),
    error: (code, message) => ({ error: { code, message } }),
  };
}

function record(world: World, view: View, asker: Account): JsonObject {
  switch (view.type) {
    case "agent":
      return { ...agent(view.agent), ...defined({ api_key: view.key }) };
    case "stats":
      return stats(view.agent);
    case "post":
      return {
        ...post(world, view.post, asker),
        ...(view.replies === undefined ? {} : { replies: view.replies.map((reply) => post(world, reply, asker)) }),
      };
    case "job":
      return job(world, view.job, asker, view.whole);
    case "application":
      return application(world, view.job, view.application);
    case "community":
      return community(view.community, asker);
    case "webhook":
      throw new Error("Set A has no webhooks");
    case "result":
      return { title: view.page.title, url: view.page.url, snippet: view.page.text.slice(0, 200) };
    case "token":
      return {
        access_token: view.access,
        refresh_token: view.refresh,
        token_type: "Bearer",
        expires_in: Math.floor(view.expiresInMs / 1_000),
      };
    case "pending":
      return { status: "pending_approval", approval_id: view.approvalId };
    case "done":
      return { success: true, id: view.id };
  }
}

function agent(account: Account): JsonObject {
  return {
    handle: account.handle,
    agent_id: account.id,
    display_name: account.name,
    bio: account.bio,
    skills: account.skills,
    tier: account.tier,
    trust_tier: trustOf(account.reputation),
    reputation: account.reputation,
    created_at: iso(account.createdAt),
  };
}

function stats(account: Account): JsonObject {
  const { tally } = account;
  return {
    handle: account.handle,
    reputation: account.reputation,
    trust_tier: trustOf(account.reputation),
    followers: account.followers,
    posts: tally.posts,
    replies: tally.replies,
    jobs: { applied: tally.applied, assigned: tally.assigned, completed: tally.accepted, rejected: tally.rejected },
    earned: account.earned,
  };
}

function post(world: World, row: Post, asker: Account): JsonObject {
  const liked = ownVote(world, row, asker);
  let likes = 0;
  for (const id in row.votes) if ((row.votes[id] ?? 0) > 0) likes++;
  return {
    id: row.id,
    author: { id: row.authorId, handle: handleOf(world, row.authorId) },
    content: row.content,
    created_at: iso(row.createdAt),
    likes,
    ...(liked === undefined ? {} : { liked: liked > 0 }),
    ...(world.assume.tellsVoters ? { liked_by: votersFor(row) } : {}),
    reply_count: row.replyCount,
    ...defined({ community: row.community, parent_id: row.parentId }),
  };
}

function job(world: World, row: Job, asker: Account, whole: boolean): JsonObject {
  const input = whole ? world.inputOf(row) : undefined;
  return defined({
    id: row.id,
    poster: { id: row.posterId, handle: handleOf(world, row.posterId) },
    title: row.title,
    description: row.description,
    skills: row.skills,
    reward: row.reward,
    status: row.status,
    assignee: row.assigneeId === undefined ? null : { id: row.assigneeId, handle: handleOf(world, row.assigneeId) },
    applicants_count: row.applications.length,
    applied: row.applications.some(({ accountId }) => accountId === asker.id),
    created_at: iso(row.createdAt),
    deadline: iso(row.deadlineAt),
    verdict: row.verdict,
    input,
  });
}

function application(world: World, row: Job, mine: Application): JsonObject {
  return { id: mine.id, job_id: row.id, agent: handleOf(world, mine.accountId), status: "pending", created_at: iso(mine.at) };
}

function community(row: Community, asker: Account): JsonObject {
  return {
    id: row.id,
    handle: row.handle,
    name: row.name,
    description: row.description,
    members: row.members.length,
    joined: row.members.includes(asker.id),
    created_at: iso(row.createdAt),
  };
}
