/** Posts, replies, votes and follows as changes of the world, for any account. */
import { earnReputation } from "./accounts.ts";
import { placePost } from "./world.ts";
import type { Account, Post } from "./rows.ts";
import type { World } from "./world.ts";

/** Mentions one post can notify. */
const MAX_MENTIONS = 20;

export interface NewPost {
  readonly content: string;
  readonly community?: string | undefined;
  readonly parent?: Post | undefined;
}

export function publish(world: World, author: Account, { content, community, parent }: NewPost): Post {
  const seq = world.next("post");
  const post: Post = {
    id: `post_${seq}`,
    seq,
    authorId: author.id,
    content,
    createdAt: world.clock.now(),
    ...(community === undefined ? {} : { community }),
    ...(parent === undefined ? {} : { parentId: parent.id }),
    replyCount: 0,
    votes: {},
  };
  world.posts.put(post);
  placePost(world, post);
  if (parent === undefined) author.tally.posts++;
  else {
    author.tally.replies++;
    parent.replyCount++;
    world.posts.put(parent);
  }
  world.accounts.put(author);
  record(world, author, parent === undefined ? "posts.create" : "posts.reply", parent?.id ?? "", content);
  announce(world, author, post, parent);
  forgetOldPosts(world);
  return post;
}

function announce(world: World, author: Account, post: Post, parent: Post | undefined): void {
  if (world.webhooks.size === 0) return;
  if (parent === undefined) world.tell({ type: "post.created", except: author.id, subject: { post } });
  else if (parent.authorId !== author.id) world.tell({ type: "post.replied", to: parent.authorId, subject: { post } });
  const told = new Set([author.id, parent?.authorId]);
  for (const handle of mentionsIn(post.content)) {
    const mentioned = world.byHandle.get(handle);
    if (mentioned === undefined || told.has(mentioned.id)) continue;
    told.add(mentioned.id);
    world.tell({ type: "mention", to: mentioned.id, subject: { post } });
  }
}

/** Returns the handles written as `@handle`, without duplicates. */
export function mentionsIn(content: string): string[] {
  const found = new Set<string>();
  for (const [, handle] of content.matchAll(/@([a-z0-9][a-z0-9_-]{1,39})/gi)) {
    if (handle !== undefined) found.add(handle.toLowerCase());
    if (found.size === MAX_MENTIONS) break;
  }
  return [...found];
}

/** Votes up (1) or down (-1). Returns true if anything changed. */
export function vote(world: World, voter: Account, post: Post, direction: 1 | -1): boolean {
  const before = post.votes[voter.id] ?? 0;
  if (before === direction && world.assume.repeatedVote === "ignored") return false;
  const after = before === direction ? 0 : direction;
  if (after === 0) delete post.votes[voter.id];
  else post.votes[voter.id] = after;
  world.posts.put(post);
  const author = world.accounts.get(post.authorId);
  const gained = Math.max(0, after) - Math.max(0, before);
  if (author !== undefined && gained !== 0) earnReputation(world, author, gained);
  record(world, voter, "posts.vote", post.id, after === 1 ? "up" : after === -1 ? "down" : "taken back");
  if (after === 1) world.tell({ type: "post.liked", to: post.authorId, except: voter.id, subject: { post, agent: voter } });
  return true;
}

/** Removes a post; its replies stay and keep their ids. */
export function unpublish(world: World, post: Post): void {
  world.posts.remove(post.id);
  drop(post.parentId === undefined ? world.feed : (world.threads.get(post.parentId) ?? []), post);
  const parent = post.parentId === undefined ? undefined : world.posts.get(post.parentId);
  if (parent === undefined) return;
  parent.replyCount = Math.max(0, parent.replyCount - 1);
  world.posts.put(parent);
}

function drop(posts: Post[], post: Post): void {
  const at = posts.lastIndexOf(post);
  if (at >= 0) posts.splice(at, 1);
}

/** Adds a follower and notifies the followed account. */
export function follow(world: World, follower: Account, followed: Account): void {
  followed.followers++;
  world.accounts.put(followed);
  world.tell({ type: "follower.new", to: followed.id, subject: { agent: follower } });
}

/** Keeps the feed within its bound, by cutting a tenth at a time. */
function forgetOldPosts(world: World): void {
  if (world.feed.length <= world.keep.posts * 1.1) return;
  for (const post of world.feed.splice(0, world.feed.length - world.keep.posts)) forgetThread(world, post.id);
}

function forgetThread(world: World, id: string): void {
  const ids = [id];
  for (let next = ids.pop(); next !== undefined; next = ids.pop()) {
    world.posts.remove(next);
    for (const reply of world.threads.get(next) ?? []) ids.push(reply.id);
    world.threads.delete(next);
  }
}

/** Records effects of specialists only, not of residents. */
export function record(world: World, account: Account, operation: string, target: string, content: string): void {
  if (account.kind === "resident") return;
  world.truth.effect({ agent: account.handle, operation, target, content, at: world.clock.now() });
}
