/** Operations of the feed: list, create, get, delete, vote, reply. */
import { findAccount } from "../world/accounts.ts";
import { Refusal } from "../server/exchange.ts";
import { MAX_REPLIES_SENT } from "../wire/wire.ts";
import { given, newestFirst, optionalText, paging, text } from "../server/request-fields.ts";
import { spend } from "../world/money.ts";
import { publish, record, unpublish, vote } from "../world/posting.ts";
import { lags, postAt } from "./handler.ts";
import type { Handler } from "./handler.ts";

const listPosts: Handler = (world, { query, account }) => {
  const author = query["author"] === undefined ? undefined : (findAccount(world, query["author"])?.id ?? "none");
  const { page, next } = newestFirst(
    world.feed,
    (post) =>
      (author === undefined || post.authorId === author) &&
      (query["community"] === undefined || post.community === query["community"]) &&
      !(post.authorId === account.id && lags(world, post.createdAt)),
    paging(query),
  );
  return { status: 200, of: "posts", list: page.map((post) => ({ type: "post", post })), ...(next === undefined ? {} : { next }) };
};

const createPost: Handler = (world, asked) => {
  const content = text(asked.body, ["content"], world.assume.maxContentLength);
  const named = optionalText(asked.body, ["community", "community_id", "community_handle"], 100);
  const community =
    named === undefined ? undefined : [...world.communities.all()].find(({ id, handle }) => id === named || handle === named);
  if (named !== undefined && community === undefined) throw new Refusal(422, "invalid_field", `there is no community "${named}"`);
  const waiting = spend(world, asked, "posts.create");
  if (waiting !== undefined) return waiting;
  return { status: 201, view: { type: "post", post: publish(world, asked.account, { content, community: community?.handle }) } };
};

const getPost: Handler = (world, { target, account }) => {
  const post = postAt(world, target);
  if (post.authorId === account.id && lags(world, post.createdAt)) throw new Refusal(404, "not_found", `there is no post "${target}"`);
  const thread = world.threads.get(post.id) ?? [];
  const replies = (thread.length > MAX_REPLIES_SENT ? thread.slice(0, MAX_REPLIES_SENT) : thread).filter(
    (reply) => !(reply.authorId === account.id && lags(world, reply.createdAt)),
  );
  return { status: 200, view: { type: "post", post, replies } };
};

const deletePost: Handler = (world, { target, account }) => {
  const post = postAt(world, target);
  if (post.authorId !== account.id) throw new Refusal(403, "not_yours", "only the author deletes a post");
  unpublish(world, post);
  record(world, account, "posts.delete", post.id, "");
  return { status: 200, view: { type: "done", id: post.id, what: "deleted" } };
};

const votePost: Handler = (world, asked) => {
  const post = postAt(world, asked.target);
  if (post.authorId === asked.account.id) throw new Refusal(403, "own_post", "nobody votes on a post of their own");
  const direction = asked.set === "a" ? 1 : directionOf(given(asked.body, ["direction", "value", "vote"]));
  const waiting = spend(world, asked, "posts.vote");
  if (waiting !== undefined) return waiting;
  vote(world, asked.account, post, direction);
  return { status: 200, view: { type: "post", post } };
};

function directionOf(value: unknown): 1 | -1 {
  if (value === undefined || value === "up" || value === 1) return 1;
  if (value === "down" || value === -1) return -1;
  throw new Refusal(422, "invalid_field", `"direction" must be "up" or "down"`);
}

const replyToPost: Handler = (world, asked) => {
  const parent = postAt(world, asked.target);
  const content = text(asked.body, ["content"], world.assume.maxContentLength);
  const waiting = spend(world, asked, "posts.reply");
  if (waiting !== undefined) return waiting;
  return { status: 201, view: { type: "post", post: publish(world, asked.account, { content, parent }) } };
};

export const POSTS = {
  "posts.list": listPosts,
  "posts.create": createPost,
  "posts.get": getPost,
  "posts.delete": deletePost,
  "posts.vote": votePost,
  "posts.reply": replyToPost,
};
