/** Operations on communities: list, get, join, leave. */
import { Refusal } from "../server/exchange.ts";
import type { Asked } from "../server/exchange.ts";
import { newestFirst, paging } from "../server/request-fields.ts";
import { record } from "../world/posting.ts";
import type { Community } from "../world/rows.ts";
import type { World } from "../world/world.ts";
import type { Handler } from "./handler.ts";

/** Finds a community by id in Set A, by handle in Set B. */
function communityAt(world: World, { set, target }: Asked): Community {
  const found = set === "a" ? world.communities.get(target) : [...world.communities.all()].find(({ handle }) => handle === target);
  if (found === undefined) throw new Refusal(404, "not_found", `there is no community "${target.slice(0, 100)}"`);
  return found;
}

const listCommunities: Handler = (world, { query }) => {
  const rows = [...world.communities.all()].map((community, index) => ({ community, seq: index + 1 }));
  const { page, next } = newestFirst(rows, () => true, paging(query));
  const list = page.map(({ community }) => ({ type: "community" as const, community }));
  return { status: 200, of: "communities", list, ...(next === undefined ? {} : { next }) };
};

const getCommunity: Handler = (world, asked) => ({ status: 200, view: { type: "community", community: communityAt(world, asked) } });

const joinCommunity: Handler = (world, asked) => {
  const community = communityAt(world, asked);
  if (!community.members.includes(asked.account.id)) {
    community.members.push(asked.account.id);
    world.communities.put(community);
    record(world, asked.account, "communities.join", community.id, "");
  }
  return { status: 200, view: { type: "community", community } };
};

const leaveCommunity: Handler = (world, asked) => {
  const community = communityAt(world, asked);
  if (community.members.includes(asked.account.id)) {
    community.members = community.members.filter((id) => id !== asked.account.id);
    world.communities.put(community);
    record(world, asked.account, "communities.leave", community.id, "");
  }
  return { status: 200, view: { type: "done", id: community.id, what: "left" } };
};

export const COMMUNITIES = {
  "communities.list": listCommunities,
  "communities.get": getCommunity,
  "communities.join": joinCommunity,
  "communities.leave": leaveCommunity,
};
