/** The true profile of an accent: everything that a person would write who knew all of it. */
import { OPERATION_NAMES, type EndpointSet } from "../../../src/contract/operations.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";
import type { Accent } from "./wire/accent.ts";
import { kindIn } from "./wire/events.ts";
import { nounOf } from "./wire/lists.ts";
import { placeOf, placesOf } from "./wire/telling.ts";
import { cased, type PersonStyle, type Voice } from "./wire/voice.ts";
import { KINDS, type Recorded } from "./wire/words.ts";
import { eachMarkOf } from "./marks.ts";

type Records = NonNullable<ProfileSource["records"]>;

/** Our names of an accent's facts. */
const FIELDS: { readonly [record in Recorded]: Readonly<Record<string, string>> } = {
  post: {
    id: "id",
    content: "content",
    createdAt: "createdAtMs",
    votes: "votes",
    myVote: "ownVote",
    replyCount: "replyCount",
    community: "community",
    parentId: "parentId",
    replies: "replies",
  },
  job: {
    id: "id",
    title: "title",
    description: "description",
    skills: "skills",
    reward: "reward",
    status: "status",
    deadline: "deadlineMs",
    createdAt: "createdAtMs",
    verdict: "verdict",
    input: "input",
    applied: "applied",
  },
  agent: {
    id: "id",
    handle: "handle",
    name: "name",
    bio: "bio",
    skills: "skills",
    tier: "tier",
    trust: "trust",
    reputation: "reputation",
    apiKey: "apiKey",
  },
  community: { id: "id", handle: "handle", name: "name", description: "description", members: "memberCount", joined: "joined" },
  webhook: { id: "id", url: "url", events: "events", active: "active", secret: "webhookSecret" },
  application: { id: "id", jobId: "jobId", status: "status" },
  stats: { reputation: "reputation" },
  result: { title: "title", url: "url", snippet: "snippet" },
};

/** Marks, and the place of every field; `set` has the operations. */
export function truthOf(spoken: Accent, set: EndpointSet): ProfileSource {
  const { voice, documented } = spoken;
  const marks = eachMarkOf(spoken, set);
  const missing = OPERATION_NAMES.filter((name) => documented[set][name] === undefined);
  const offered = (record: Recorded): boolean =>
    !(record === "webhook" && set === "a") && !(["stats", "result"].includes(record) && set === "b");
  const records = Object.fromEntries(
    (Object.keys(FIELDS) as Recorded[]).filter(offered).map((record) => [record, fieldsIn(voice, record)]),
  );
  const kinds = set === "a" ? [] : Object.keys(KINDS).map((kind): [string, string] => [kindIn(voice, kind), OURS[kind] ?? kind]);
  return {
    ...marks,
    operations: { ...marks.operations, ...Object.fromEntries(missing.map((name) => [name, { unsupported: true }])) },
    records: records as Records,
    lists: {
      post: place(voice, "posts"),
      job: place(voice, "jobs"),
      agent: place(voice, "agents"),
      community: place(voice, "communities"),
    },
    paging: pagingOf(voice),
    errors: errorsOf(voice),
    limitHeaders: limitHeadersOf(voice),
    ...(kinds.length === 0 ? {} : { webhooks: { kinds: Object.fromEntries(kinds) } }),
  };
}

/** Kinds of the wire that we name otherwise. */
const OURS: Readonly<Record<string, string>> = {
  "post.replied": "reply.created",
  mention: "mention.created",
  "job.completed": "job.accepted",
};

function fieldsIn(voice: Voice, record: Recorded): Readonly<Record<string, string[]>> {
  const own = Object.entries(FIELDS[record]).flatMap(([fact, field]): [string, string[]][] => {
    if (fact === "myVote" && voice.ownVote === "left-out") return [];
    const path = placeOf(voice, record, fact).join(".");
    return [[field, [fact === "reward" && voice.reward === "nested" ? `${path}.${cased(voice.letters, "amount")}` : path]]];
  });
  const author = record === "post" ? person(voice, voice.author, "author") : record === "job" ? person(voice, voice.poster, "author") : {};
  return { ...Object.fromEntries(own), ...author, ...(record === "job" ? person(voice, voice.worker, "assignee") : {}) };
}

function person(voice: Voice, style: PersonStyle, role: string): Readonly<Record<string, string[]>> {
  const { id, handle } = placesOf(voice, style);
  return {
    ...(id === undefined ? {} : { [`${role}Id`]: [id.join(".")] }),
    ...(handle === undefined ? {} : { [`${role}Handle`]: [handle.join(".")] }),
  };
}

function place(voice: Voice, of: Parameters<typeof nounOf>[1]): string[] {
  const noun = nounOf(voice, of);
  const canBeBare = voice.paging.style !== "cursor" && voice.paging.style !== "body-link";
  const places = {
    bare: canBeBare ? "$" : noun,
    named: noun,
    data: "data",
    nested: "payload.rows",
    response: `response.${noun}`,
    hits: "hits",
    embedded: `_embedded.${noun}`,
  };
  return [places[voice.envelope]];
}

function pagingOf({ paging, letters, envelope }: Voice): NonNullable<ProfileSource["paging"]> {
  const inside = envelope === "nested" ? "payload." : "";
  const at = (name: string): string[] => [`${inside}${name}`];
  const canTell = envelope !== "bare";
  const more = paging.more === "" || !canTell ? {} : { next: at(cased(letters, paging.more)) };
  const limitParameter = paging.limit;
  switch (paging.style) {
    case "cursor":
      return { style: "cursor", parameter: paging.parameter, limitParameter, next: at(paging.next.join(".")) };
    case "page":
      return { style: "page", parameter: "page", limitParameter, firstPage: paging.first, ...more };
    case "offset":
      return { style: "offset", parameter: "offset", limitParameter, ...more };
    case "link":
      return { style: "link", limitParameter };
    case "body-link":
      return { style: "link", limitParameter, next: at("links.next") };
  }
}

function errorsOf({ error, letters }: Voice): NonNullable<ProfileSource["errors"]> {
  const name = (words: string): string => cased(letters, words);
  switch (error) {
    case "nested":
      return { code: "error.code", message: "error.message" };
    case "problem":
      return { code: "type", message: ["detail", "title"] };
    case "errors":
      return { code: "errors.0.code", message: "errors.0.detail" };
    case "fault":
      return { code: "fault.kind", message: "fault.text" };
    case "plain":
      return { code: name("error code"), message: "message" };
    case "oauth":
      return { code: "error", message: "error_description" };
    case "flagged":
      return { code: "reason.slug", message: "reason.explanation" };
    case "status":
      return { code: "code", message: name("error message") };
  }
}

function limitHeadersOf({ limits, retryAfter }: Voice): NonNullable<ProfileSource["limitHeaders"]> {
  return {
    ...(limits === "own" ? { remaining: "x-quota-left", reset: "x-quota-refill" } : {}),
    ...(retryAfter === "own" ? { retryAfter: "x-quota-wait" } : {}),
  };
}
