/** Records in an accent's words. */
import type { Json, JsonObject } from "../../../../src/core/json.ts";
import type { View } from "../../../../src/local-network/server/exchange.ts";
import { ownVote, trustOf, voteSum } from "../../../../src/local-network/wire/wire.ts";
import type { Account, Application, Community, Job, Post, Webhook } from "../../../../src/local-network/world/rows.ts";
import type { Telling } from "./telling.ts";
import { yes, type Voice } from "./voice.ts";

/** One record, as the asking account sees it. */
export function recordIn(telling: Telling, view: View, asker: Account): JsonObject {
  const { voice, name, ids } = telling;
  switch (view.type) {
    case "agent":
      return agent(telling, view.agent, view.key);
    case "stats":
      return stats(telling, view.agent);
    case "post":
      return post(telling, view.post, asker, view.replies);
    case "job":
      return job(telling, view.job, asker, view.whole);
    case "application":
      return application(telling, view.job, view.application);
    case "community":
      return community(telling, view.community, asker);
    case "webhook":
      return webhook(telling, view.webhook, view.secret);
    case "result":
      return telling.tell("result", { title: view.page.title, url: view.page.url, snippet: view.page.text.slice(0, 200) });
    case "token":
      return {
        [name("access token")]: view.access,
        [name("refresh token")]: view.refresh,
        [name("expires in")]: Math.floor(view.expiresInMs / 1_000),
      };
    case "pending":
      return { status: "pending_approval", [name("approval id")]: ids.say(view.approvalId) };
    case "done":
      return { [yes(voice)]: true };
  }
}

function post(telling: Telling, row: Post, asker: Account, replies?: readonly Post[]): JsonObject {
  const { ids, voice } = telling;
  const facts = {
    id: ids.say(row.id),
    content: row.content,
    createdAt: telling.time(row.createdAt),
    votes: voteSum(row.votes),
    myVote: voteIn(voice, ownVote(telling.world, row, asker)),
    replyCount: row.replyCount,
    community: row.community,
    parentId: row.parentId === undefined ? undefined : ids.say(row.parentId),
    replies: replies?.map((reply) => post(telling, reply, asker)),
  };
  return telling.tell("post", facts, telling.person(voice.author, row.authorId));
}

function voteIn({ ownVote: style }: Voice, vote: number | undefined): Json | undefined {
  if (vote === undefined || style === "left-out") return undefined;
  if (style === "number") return vote;
  if (style === "flag") return vote > 0;
  return vote === 0 ? null : vote > 0 ? "up" : "down";
}

function job(telling: Telling, row: Job, asker: Account, whole: boolean): JsonObject {
  const { ids, voice, world } = telling;
  const facts = {
    id: ids.say(row.id),
    title: row.title,
    description: row.description,
    skills: [...row.skills],
    reward: reward(telling, row.reward),
    status: voice.states[row.status],
    deadline: telling.time(row.deadlineAt),
    createdAt: telling.time(row.createdAt),
    applications: row.applications.length,
    applied: row.applications.some(({ accountId }) => accountId === asker.id),
    verdict: row.verdict,
    input: whole ? world.inputOf(row) : undefined,
  };
  return telling.tell("job", facts, [...telling.person(voice.poster, row.posterId), ...telling.person(voice.worker, row.assigneeId)]);
}

function reward({ voice, name }: Telling, amount: number): Json {
  if (voice.reward === "number") return amount;
  return voice.reward === "text" ? amount.toFixed(2) : { [name("amount")]: amount, [name("currency")]: "credits" };
}

function agent(telling: Telling, account: Account, key: string | undefined): JsonObject {
  return telling.tell("agent", {
    id: telling.ids.say(account.id),
    handle: account.handle,
    name: account.name,
    bio: account.bio,
    skills: [...account.skills],
    tier: account.tier,
    trust: trustOf(account.reputation),
    reputation: account.reputation,
    createdAt: telling.time(account.createdAt),
    apiKey: key,
  });
}

function stats(telling: Telling, { handle, reputation, followers, tally, earned }: Account): JsonObject {
  return telling.tell("stats", { handle, reputation, followers, posts: tally.posts, earned });
}

function application(telling: Telling, row: Job, mine: Application): JsonObject {
  const { ids } = telling;
  return telling.tell("application", {
    id: ids.say(mine.id),
    jobId: ids.say(row.id),
    by: ids.say(mine.accountId),
    status: "waiting",
    createdAt: telling.time(mine.at),
  });
}

function community(telling: Telling, row: Community, asker: Account): JsonObject {
  return telling.tell("community", {
    id: telling.ids.say(row.id),
    handle: row.handle,
    name: row.name,
    description: row.description,
    members: row.members.length,
    joined: row.members.includes(asker.id),
    createdAt: telling.time(row.createdAt),
  });
}

function webhook(telling: Telling, row: Webhook, secret: string | undefined): JsonObject {
  return telling.tell("webhook", {
    id: telling.ids.say(row.id),
    url: row.url,
    events: [...row.events],
    active: row.active,
    secret,
    createdAt: telling.time(row.createdAt),
  });
}
