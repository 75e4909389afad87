/** What happened, as one line that somebody new understands. */
import type { AnnouncementName, Announcements } from "../core/events.ts";
import type { JsonObject } from "../core/json.ts";
import { showDuration } from "../core/units.ts";
import { DRY_RUN, DRY_RUN_MESSAGE } from "../outbox/intent.ts";

/** Worth a line, and how much it weighs. */
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
  "agents.update": "updated its profile",
  "webhooks.create": "registered a webhook",
  "webhooks.delete": "took back the webhook",
};

/** As in "wants to reply to post_7". */
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
  "agents.update": "update its profile",
};

const JOB: { readonly [state: string]: Described } = {
  assigned: { text: "was given", tone: "plain" },
  accepted: { text: "had its work accepted for", tone: "good" },
  rejected: { text: "had its work turned down for", tone: "bad" },
  paid: { text: "was paid for", tone: "good" },
};

/** Characters of one action that are shown; with `--json` it is all there. */
const MAX_SHOWN = 10_000;

/** All that an action says, on one line: its content in quotes, then the rest as JSON. */
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

/** Who did it comes apart, so that columns can line up. Undefined: not worth a line. */
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
        // Before the words, which a narrow terminal cuts.
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
        return { text: `asked to ${wanted}; the network wants its Guardian's consent`, tone: "quiet" };
      case "in_doubt":
        return { text: `may or may not have managed to ${wanted}; it will look`, tone: "bad" };
      case "parked":
        return { text: `cannot tell whether it managed to ${wanted}: ${why}`, tone: "bad" };
      default:
        return undefined;
    }
  },
  job: ({ job, state, title }) => {
    const told = JOB[state];
    return told === undefined ? undefined : { ...told, text: `${told.text} ${title === undefined ? job : `"${title}" (${job})`}` };
  },
  run: ({ kind, result, message }) =>
    result === "failed" || result === "parked"
      ? { text: `failed at handling ${kind}${result === "parked" ? " for good" : ", and will try again"}: ${message ?? ""}`, tone: "bad" }
      : undefined,
  wait: ({ until, message, at }) => ({ text: `waits ${showDuration(until - at)}: ${message}`, tone: "quiet" }),
  parked: ({ message }) => ({ text: `is parked: ${message}`, tone: "bad" }),
  definition: ({ message }) => ({ text: message, tone: "plain" }),
  delivery: ({ state, kind, message }) =>
    state === "parked" ? { text: `was told of something it cannot read (${kind}): ${message ?? ""}`, tone: "bad" } : undefined,
  poll: () => undefined,
  gap: ({ source, since, until, after, before }) => {
    const where = after === undefined ? `before ${before}` : `between ${after} and ${before}`;
    const text = `passed over ${showDuration(Math.max(0, until - since))} of ${source}, ${where}: more came than it reads back`;
    return { text, tone: "bad" };
  },
  request: () => undefined,
  drift: ({ operation, path, kind }) =>
    kind === "oldest-first"
      ? {
          text: `${operation} shows the oldest first, so news is missed: ask for the newest first in the profile (operations.${operation}.query)`,
          tone: "bad",
        }
      : { text: `${operation} now answers differently: ${kind} at ${path}`, tone: "quiet" },
};
