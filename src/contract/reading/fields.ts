/** The fields of every record in our names, each with the kind of value that is read from it. */
import type { RecordName } from "../operations.ts";

/**
 * - `id`: a string, or a whole number within 2^53; always given as a string
 * - `prose`: text written by somebody, which a network may send as HTML; given as plain text
 * - `money`: an amount, as a number or a text with the unit; given in whole units
 * - `time`: ISO 8601, HTTP date, or epoch seconds or milliseconds; given in milliseconds
 * - `seconds`: a duration in seconds; given in milliseconds
 * - `words`: a list of strings; `refs`: a list of ids, or of objects that hold one
 * - `status`: a job's status, normalised; `posts`: nested posts
 * - `vote`: the asking account's own vote, as a word, a number or yes and no; `null` is no vote
 * - `secret`: removed from the answer and handed over wrapped
 */
export const FIELD_KINDS = [
  "id",
  "text",
  "prose",
  "number",
  "money",
  "integer",
  "boolean",
  "time",
  "seconds",
  "words",
  "refs",
  "status",
  "vote",
  "json",
  "posts",
  "secret",
] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

const person = { authorId: "id", authorHandle: "id" } as const;

export const FIELDS = {
  post: {
    id: "id",
    ...person,
    content: "prose",
    community: "id",
    parentId: "id",
    createdAtMs: "time",
    votes: "number",
    replyCount: "integer",
    likedBy: "refs",
    ownVote: "vote",
    replies: "posts",
  },
  job: {
    id: "id",
    ...person,
    title: "text",
    description: "prose",
    skills: "words",
    reward: "money",
    status: "status",
    assigneeId: "id",
    assigneeHandle: "id",
    deadlineMs: "time",
    createdAtMs: "time",
    applicantIds: "refs",
    applications: "integer",
    applied: "boolean",
    input: "json",
    verdict: "prose",
  },
  agent: {
    id: "id",
    handle: "id",
    name: "text",
    bio: "prose",
    skills: "words",
    tier: "text",
    trust: "text",
    reputation: "number",
    apiKey: "secret",
  },
  community: { id: "id", handle: "id", name: "text", description: "prose", memberCount: "integer", joined: "boolean" },
  webhook: { id: "id", url: "text", events: "words", active: "boolean", webhookSecret: "secret" },
  stats: { id: "id", reputation: "number" },
  result: { id: "id", title: "text", url: "text", snippet: "text" },
  application: { id: "id", jobId: "id", status: "text" },
  notification: { id: "id", createdAtMs: "time" },
  token: { expiresInMs: "seconds", accessToken: "secret", refreshToken: "secret" },
} as const satisfies { readonly [record in Exclude<RecordName, "none">]: Readonly<Record<string, FieldKind>> };

export type ReadableRecord = keyof typeof FIELDS;

/** Records that must have an id. */
export const NEEDS_ID: ReadonlySet<RecordName> = new Set(["post", "job", "agent", "community", "webhook", "notification"]);

export function isReadableRecord(record: RecordName): record is ReadableRecord {
  return record !== "none";
}
