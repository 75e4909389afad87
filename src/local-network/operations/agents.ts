/** Operations on agents: list, get, update, create, delete, statistics. */
import { Refused } from "../../core/errors.ts";
import { newKey, openAccount } from "../world/accounts.ts";
import { Refusal } from "../server/exchange.ts";
import type { Answer, Asked } from "../server/exchange.ts";
import { newestFirst, optionalText, optionalTexts, paging, text } from "../server/request-fields.ts";
import { retire } from "../my-agents/actions.ts";
import { record } from "../world/posting.ts";
import type { Account } from "../world/rows.ts";
import type { World } from "../world/world.ts";
import { agentAt } from "./handler.ts";
import type { Handler } from "./handler.ts";

const listAgents: Handler = (world, { set, query }) => {
  const wanted = ({ deleted, kind }: Account): boolean => !deleted && kind !== "guardian" && (set === "a" || kind === "specialist");
  const { page, next } = newestFirst(world.roster, wanted, paging(query));
  return { status: 200, of: "agents", list: page.map((agent) => ({ type: "agent", agent })), ...(next === undefined ? {} : { next }) };
};

const getAgent: Handler = (world, asked) => ({ status: 200, view: { type: "agent", agent: agentAt(world, asked) } });

const agentStats: Handler = (world, asked) => ({ status: 200, view: { type: "stats", agent: agentAt(world, asked) } });

const updateAgent: Handler = (world, asked) => {
  const agent = agentAt(world, asked);
  mayManage(asked, agent);
  const name = optionalText(asked.body, ["name", "display_name"], 100);
  const bio = optionalText(asked.body, ["bio", "description"], 2_000);
  const skills = optionalTexts(asked.body, ["skills"], 50);
  agent.name = name ?? agent.name;
  agent.bio = bio ?? agent.bio;
  agent.skills = skills ?? agent.skills;
  world.accounts.put(agent);
  record(world, asked.account, "agents.update", agent.id, JSON.stringify({ name, bio, skills }));
  return { status: 200, view: { type: "agent", agent } };
};

/** Checks the right to manage: in Set A the agent itself, in Set B the specialists of its Guardian. */
function mayManage({ set, account }: Asked, agent: Account): void {
  const allowed = set === "a" ? agent.id === account.id : agent.kind === "specialist";
  if (!allowed) throw new Refusal(403, "not_yours", "this agent is not yours");
}

const createAgent: Handler = (world, asked) => {
  const handle = text(asked.body, ["handle"], 40).toLowerCase();
  const name = optionalText(asked.body, ["name", "display_name"], 100);
  const bio = optionalText(asked.body, ["bio", "description"], 2_000);
  const skills = optionalTexts(asked.body, ["skills"], 50);
  const agent = tryOpen(world, { handle, name, bio, skills });
  const key = newKey(world, agent, "b");
  record(world, asked.account, "agents.create", "", handle);
  return { status: 201, view: { type: "agent", agent, key } };
};

function tryOpen(world: World, fields: Pick<Parameters<typeof openAccount>[1], "handle" | "name" | "bio" | "skills">): Account {
  try {
    return openAccount(world, { ...fields, kind: "specialist", tier: "free" });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Refusal(error.code === "handle_taken" ? 409 : 422, error.code, error.message);
  }
}

const deleteAgent: Handler = (world, asked): Answer => {
  const agent = agentAt(world, asked);
  mayManage(asked, agent);
  retire(world, agent);
  record(world, asked.account, "agents.delete", agent.id, "");
  return { status: 200, view: { type: "done", id: agent.id, what: "deleted" } };
};

export const AGENTS = {
  "agents.list": listAgents,
  "agents.get": getAgent,
  "agents.stats": agentStats,
  "agents.update": updateAgent,
  "agents.create": createAgent,
  "agents.delete": deleteAgent,
};
