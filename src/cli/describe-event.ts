/** Describes an announcement in one line that a newcomer understands. */
import { basename } from "node:path";
import type { AnnouncementName, Announcements } from "../core/events.ts";
import type { JsonObject } from "../core/json.ts";
import { showDuration } from "../core/units.ts";
import { DRY_RUN, DRY_RUN_MESSAGE } from "../outbox/intent.ts";

/** A line, and its importance. */
export interface Described {
  readonly text: string;
  readonly tone: "good" | "bad" | "plain" | "quiet";
}

const DONE: { readonly [operation: string]: string } = {
  "posts.create": "posted",
  "posts.reply": "replied to",
  "posts.vote": "voted on",
  "posts.delete": "deleted its post",
  "jobs.apply": "applied for",
  "jobs.submit": "delivered its work for",
  "jobs.create": "offered a job",
  "communities.join": "joined the community",
  "communities.leave": "left the community",
  "agents.create": "created an agent",
  "agents.update": "updated its profile",
  "agents.delete": "deleted the agent",
  "webhooks.create": "registered a webhook",
  "webhooks.delete": "took back the webhook",
};

/** For example "wants to reply to post_7". */
export const WANTED: { readonly [operation: string]: string } = {
  "posts.create": "post",
  "posts.reply": "reply to",
  "posts.vote": "vote on",
  "posts.delete": "delete its post",
  "jobs.apply": "apply for",
  "jobs.submit": "deliver its work for",
  "jobs.create": "offer a job",
  "communities.join": "join the community",
  "communities.leave": "leave the community",
  "agents.create": "create an agent",
  "agents.update": "update its profile",
  "agents.delete": "delete the agent",
};

const JOB: { readonly [state: string]: Described } = {
  assigned: { text: "was given", tone: "plain" },
  accepted: { text: "had its work accepted for", tone: "good" },
  rejected: { text: "had its work turned down for", tone: "bad" },
  paid: { text: "was paid for", tone: "good" },
};

/** Characters of one action that are shown; with `--json` it is all there. */
const MAX_SHOWN = 10_000;
/** Characters of a failure's message: the log and `why` have the rest. */
const MAX_REASON = 300;

/** The whole content of an action on one line: its text in quotes, then the rest as JSON. */
function whole(input: JsonObject): string {
  const { content, ...rest } = input;
  const parts = typeof content === "string" ? [content, ...(Object.keys(rest).length === 0 ? [] : [rest])] : [input];
  const text = parts.map((part) => JSON.stringify(part)).join(" ");
  if (text === "{}") return "";
  if (text.length <= MAX_SHOWN) return `: ${text}`;
  const shown = text.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, ""); // half a character
  return `: ${shown}… (${text.length - shown.length} more characters)`;
}

type Tell = { readonly [name in AnnouncementName]: (what: Announcements[name]) => Described | undefined };

/** The author is separate, so that columns can line up. Undefined: not worth a line. */
export const DESCRIBE: Tell = {
  intent: ({ id, operation, state, target, words, input, code, message }) => {
    const object = target === undefined ? "" : ` ${target}`;
    const said = words === undefined ? "" : `: "${words.replaceAll(/\s+/g, " ").trim()}"`;
    const wanted = `${WANTED[operation] ?? `do ${operation}:`}${object}`;
    const why = message === undefined ? (code ?? "") : message;
    switch (state) {
      case "confirmed":
        return { text: `${DONE[operation] ?? `did ${operation}:`}${object}${said}`, tone: "plain" };
      case "proposed":
        // Before the text, which a narrow terminal cuts.
        return { text: `asks to ${wanted} (retinue approve ${id})${input === undefined ? said : whole(input)}`, tone: "bad" };
      case "refused":
        if (code === DRY_RUN) {
          const meanwhile = message === undefined || message === DRY_RUN_MESSAGE ? "" : ` (${message})`;
          return { text: `would ${wanted}${input === undefined ? said : whole(input)}${meanwhile}`, tone: "plain" };
        }
        return { text: `could not ${wanted}: ${why}`, tone: "bad" };
      case "cancelled":
        return { text: `will not ${wanted}: ${why}`, tone: "quiet" };
      case "pending":
        return { text: `asked to ${wanted}; it waits for the network's Guardian`, tone: "quiet" };
      case "in_doubt":
        return { text: `may or may not have managed to ${wanted}; it will check`, tone: "bad" };
      case "parked":
        return { text: `cannot tell whether it managed to ${wanted}: ${why}`, tone: "bad" };
      default:
        return undefined;
    }
  },
  job: ({ job, state, title, reason }) => {
    const told = JOB[state];
    const why = reason === undefined ? "" : `: ${reason}`;
    return told === undefined ? undefined : { ...told, text: `${told.text} ${title === undefined ? job : `"${title}" (${job})`}${why}` };
  },
  run: ({ kind, result, message, file, line, nextAt, at, event }) => {
    if (result !== "failed" && result !== "parked") return undefined;
    const where = file === undefined || line === undefined ? "" : ` at ${basename(file)}:${line}`;
    const next = nextAt === undefined ? "" : ` in ${showDuration(Math.max(0, nextAt - at))}`;
    const then = result === "parked" ? ` for good (retinue why ${event})` : `, and will try again${next}`;
    return { text: `failed at handling ${kind}${where}${then}: ${(message ?? "").slice(0, MAX_REASON)}`, tone: "bad" };
  },
  wait: ({ until, message, at }) => ({ text: `waits ${showDuration(until - at)}: ${message}`, tone: "quiet" }),
  parked: ({ message }) => ({ text: `is parked: ${message}`, tone: "bad" }),
  definition: ({ message }) => ({ text: message, tone: "plain" }),
  delivery: ({ state, kind, message }) =>
    state === "parked" ? { text: `got a webhook delivery it cannot read (${kind}): ${message ?? ""}`, tone: "bad" } : undefined,
  poll: () => undefined,
  gap: ({ source, since, until, after, before }) => {
    const where = after === undefined ? `before ${before}` : `between ${after} and ${before}`;
    const text = `skipped ${showDuration(Math.max(0, until - since))} of ${source}, ${where}: more came than it reads back`;
    return { text, tone: "bad" };
  },
  request: () => undefined,
  step: () => undefined,
  order: () => undefined,
  drift: ({ operation, path, kind }) =>
    kind === "oldest-first"
      ? {
          text: `${operation} lists the oldest first, so news is missed: request the newest first in the profile (operations.${operation}.query)`,
          tone: "bad",
        }
      : { text: `${operation} now answers differently: ${kind} at ${path}`, tone: "quiet" },
};
