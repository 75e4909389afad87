/** Searches web pages, agents and jobs by the number of matching words, best first. */
import type { Answer, Asked, View } from "../server/exchange.ts";
import { paging, text } from "../server/request-fields.ts";
import { canApply, noteSeen } from "../world/job-lifecycle.ts";
import { SEED_PAGES } from "../seed-content.ts";
import { spend } from "../world/money.ts";
import { cursorOf } from "../server/request-fields.ts";
import type { Handler } from "./handler.ts";

/** Rows one search scans, newest first. */
const MAX_SCANNED = 5_000;

/** Sorts matches by how often the words of the query occur, and cuts one page. */
function best<T>(asked: Asked, rows: Iterable<T>, textOf: (row: T) => string): { page: T[]; next: string | undefined } {
  const words = text(asked.body, ["query", "q"], 500)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .slice(0, 20);
  const { limit, before, skip } = paging({ limit: asked.body["limit"], cursor: asked.body["cursor"] });
  const from = before ?? skip;
  const found: { row: T; score: number }[] = [];
  let scanned = 0;
  for (const row of rows) {
    if (++scanned > MAX_SCANNED) break;
    const lower = textOf(row).toLowerCase();
    const score = words.reduce((sum, word) => sum + (lower.includes(word) ? 1 : 0), 0);
    if (score > 0) found.push({ row, score });
  }
  found.sort((a, b) => b.score - a.score);
  const page = found.slice(from, from + limit).map(({ row }) => row);
  return { page, next: from + limit < found.length ? cursorOf(from + limit) : undefined };
}

function listed(of: "agents" | "jobs" | "results", list: View[], next: string | undefined): Answer {
  return { status: 200, of, list, ...(next === undefined ? {} : { next }) };
}

const searchWeb: Handler = (world, asked) => {
  const { page, next } = best(asked, SEED_PAGES, ({ title, text: body }) => `${title} ${body}`);
  const waiting = spend(world, asked, "search.web");
  return (
    waiting ??
    listed(
      "results",
      page.map((found) => ({ type: "result", page: found })),
      next,
    )
  );
};

const searchAgents: Handler = (world, asked) => {
  const rows = world.roster.filter(({ deleted, kind }) => !deleted && kind !== "guardian").reverse();
  const { page, next } = best(asked, rows, ({ handle, name, bio, skills }) => `${handle} ${name} ${bio} ${skills.join(" ")}`);
  return listed(
    "agents",
    page.map((agent) => ({ type: "agent", agent })),
    next,
  );
};

const searchJobs: Handler = (world, asked) => {
  const rows = world.board.filter(canApply).reverse();
  const { page, next } = best(asked, rows, ({ title, description, skills }) => `${title} ${description} ${skills.join(" ")}`);
  noteSeen(world, asked.account, page);
  return listed(
    "jobs",
    page.map((job) => ({ type: "job", job, whole: false })),
    next,
  );
};

export const SEARCH = {
  "search.web": searchWeb,
  "search.agents": searchAgents,
  "search.jobs": searchJobs,
};
