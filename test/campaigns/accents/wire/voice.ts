/** One accent as a value: everything about the wording of a network that a seed decides. */
import { seededRandom, type Random } from "../../../../src/core/random.ts";
import type { WebhookScheme } from "../../../../src/local-network/assumptions.ts";
import type { JobState } from "../../../../src/local-network/world/rows.ts";
import { ID_STYLES, type IdStyle } from "./ids.ts";
import { TIME_STYLES, type TimeStyle } from "./times.ts";
import { AUTHORS, INPUTS, NAMES, NOUNS, PERSON_HANDLES, PERSON_IDS, POSTERS, STATES, WORKERS, type Recorded } from "./words.ts";

export const CASES = ["snake", "camel", "pascal", "kebab"] as const;
export type Case = (typeof CASES)[number];

/** How a person is named inside a record. */
export interface PersonStyle {
  readonly shape: "nested" | "flat" | "handle" | "id";
  readonly word: string;
  readonly id: string;
  readonly handle: string;
}

/** Where the facts of a record stand: beside each other, or below a member of their own. */
export type Layout = "flat" | "attributes" | "sections";

export type Envelope = "bare" | "named" | "data" | "nested" | "response" | "hits" | "embedded";
export type Single = "bare" | "named" | "data" | "response";
export type ErrorShape = "nested" | "problem" | "errors" | "fault" | "plain" | "oauth" | "flagged" | "status";
export type LimitShape = "none" | "x-ratelimit" | "x-rate-limit" | "draft" | "draft-old" | "windows" | "own";
export type RetryAfter = "seconds" | "date" | "none" | "body" | "own";
export type PagingStyle = "cursor" | "page" | "offset" | "link" | "body-link";

export interface Voice {
  readonly seed: string;
  readonly letters: Case;
  readonly ids: IdStyle;
  readonly salt: number;
  readonly times: TimeStyle;
  /** By record and fact, not yet in the accent's case. */
  readonly names: { readonly [record in Recorded]: Readonly<Record<string, string>> };
  readonly author: PersonStyle;
  readonly poster: PersonStyle;
  readonly worker: PersonStyle;
  readonly layout: Layout;
  readonly reward: "number" | "nested" | "text";
  readonly states: Readonly<Record<JobState, string>>;
  readonly envelope: Envelope;
  readonly single: Single;
  /** Whether every answer says that it went well. */
  readonly flag: "success" | "ok" | "none";
  readonly error: ErrorShape;
  readonly limits: LimitShape;
  readonly retryAfter: RetryAfter;
  readonly paging: {
    /** `more` is empty where nothing says whether there is more. */
    readonly style: PagingStyle;
    readonly parameter: string;
    readonly limit: string;
    readonly next: readonly string[];
    readonly more: string;
    readonly first: 0 | 1;
  };
  readonly nouns: { readonly [noun in keyof typeof NOUNS]: string };
  readonly inputs: { readonly [input in keyof typeof INPUTS]: string };
  /** What bodies are wrapped in, as in `{comment: {body}}`. */
  readonly wrapped: boolean;
  /** Whether applying and voting name their object in the body, not in the path. */
  readonly targetInBody: boolean;
  readonly votes: "words" | "numbers" | "longer";
  /** How a post tells whoever asks how it voted. */
  readonly ownVote: "number" | "flag" | "word" | "left-out";
  readonly updates: "PATCH" | "PUT";
  /** What a write answers that only has to be acknowledged. */
  readonly done: "record" | "empty" | "flag";
  readonly auth: { readonly header: string; readonly prefix: string };
  readonly webhookScheme: WebhookScheme;
  /** Index of the words for kinds of events. */
  readonly kinds: number;
  readonly event: { readonly kind: string; readonly object: string; readonly id: string };
}

/** The same seed gives the same accent. */
export function drawVoice(seed: number | string): Voice {
  const random = seededRandom(`accent/${seed}`);
  const plain = random.next() < 0.35; // a network that keeps to the published nouns and only words its bodies its own way
  return {
    seed: `${seed}`,
    letters: weighted(random, ["snake", 4], ["camel", 4], ["pascal", 1], ["kebab", 1]),
    ids: random.pick(ID_STYLES),
    salt: random.int(1e9),
    times: random.pick(TIME_STYLES),
    names: drawNames(random),
    author: drawPerson(random, AUTHORS),
    poster: drawPerson(random, POSTERS),
    worker: drawPerson(random, WORKERS),
    layout: weighted(random, ["flat", 6], ["attributes", 1], ["sections", 2]),
    reward: random.pick(["number", "nested", "text"]),
    states: drawStates(random),
    envelope: random.pick(["bare", "named", "data", "nested", "response", "hits", "embedded"]),
    single: random.pick(["bare", "named", "data", "response"]),
    flag: weighted(random, ["none", 2], ["success", 1], ["ok", 1]),
    error: random.pick(["nested", "problem", "errors", "fault", "plain", "oauth", "flagged", "status"]),
    limits: random.pick(["none", "x-ratelimit", "x-rate-limit", "draft", "draft-old", "windows", "own"]),
    retryAfter: weighted(random, ["seconds", 4], ["date", 2], ["none", 1], ["body", 1], ["own", 1]),
    paging: {
      style: random.pick(["cursor", "page", "offset", "link", "body-link"]),
      parameter: random.pick(["cursor", "after", "page_token", "starting_after", "continuation"]),
      limit: random.pick(["limit", "per_page", "page_size", "count", "take"]),
      next: random.pick([["next_cursor"], ["nextCursor"], ["meta", "next"], ["paging", "cursors", "after"], ["continuation"]]),
      more: random.pick(["", "has more", "has next"]),
      first: random.next() < 0.85 ? 1 : 0,
    },
    nouns: draw(random, NOUNS, plain),
    inputs: { ...draw(random, INPUTS, random.next() < 0.5) },
    wrapped: random.next() < 0.15,
    targetInBody: !plain && random.next() < 0.2,
    votes: random.pick(["words", "numbers", "longer"]),
    ownVote: seededRandom(`accent/${seed}/own vote`).pick(["number", "flag", "word", "left-out"]),
    updates: random.next() < 0.75 ? "PATCH" : "PUT",
    done: weighted(random, ["record", 3], ["empty", 1], ["flag", 1]),
    auth: random.next() < 0.9 ? { header: "authorization", prefix: "Bearer " } : { header: "x-api-key", prefix: "" },
    webhookScheme: random.pick(["sha256-header", "standard", "github", "stripe", "in-body", "none"]),
    kinds: random.int(4),
    event: {
      kind: random.pick(["type", "event", "kind", "event_type", "topic"]),
      object: random.pick(["data", "payload", "object", "resource"]),
      id: random.pick(["id", "event_id", "delivery_id"]),
    },
  };
}

/** How a bare "done" is said. */
export function yes({ flag }: Voice): string {
  return flag === "none" ? "ok" : flag;
}

/** Words in the accent's case: `created at` as `createdAt`. */
export function cased(letters: Case, words: string): string {
  switch (letters) {
    case "snake":
      return words.replaceAll(" ", "_");
    case "kebab":
      return words.replaceAll(" ", "-");
    case "camel":
      return words.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
    case "pascal":
      return words.replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
  }
}

function weighted<T>(random: Random, ...choices: readonly (readonly [T, number])[]): T {
  return random.pick(choices.flatMap(([choice, weight]) => Array.from({ length: weight }, () => choice)));
}

function draw<Words extends Readonly<Record<string, readonly string[]>>>(
  random: Random,
  words: Words,
  plain: boolean,
): { [name in keyof Words]: string } {
  const drawn = Object.entries(words).map(([name, choices]) => {
    const choice = random.pick(choices);
    return [name, plain ? (choices[0] ?? name) : choice];
  });
  return Object.fromEntries(drawn) as { [name in keyof Words]: string }; // one entry for each name
}

/** No two facts of one record share a name, whatever is drawn. */
function drawNames(random: Random): Voice["names"] {
  const named = Object.entries(NAMES).map(([record, facts]) => {
    const taken = new Set<string>();
    const drawn = Object.entries<readonly string[]>(facts).map(([fact, choices]) => {
      const free = choices.filter((choice) => !taken.has(choice));
      const choice = free.length === 0 ? `${record} ${fact.toLowerCase()}` : random.pick(free);
      taken.add(choice);
      return [fact, choice];
    });
    return [record, Object.fromEntries(drawn)];
  });
  return Object.fromEntries(named) as Voice["names"]; // one entry for each record
}

function drawPerson(random: Random, words: readonly string[]): PersonStyle {
  return {
    shape: weighted(random, ["nested", 3], ["flat", 3], ["handle", 1], ["id", 1]),
    word: random.pick(words),
    id: random.pick(PERSON_IDS),
    handle: random.pick(PERSON_HANDLES),
  };
}

function drawStates(random: Random): Voice["states"] {
  const shout = random.next() < 0.25;
  const drawn = Object.entries<readonly string[]>(STATES).map(([state, words]) => {
    const word = random.next() < 0.4 ? (words[0] ?? state) : random.pick(words);
    return [state, shout ? word.toUpperCase() : word];
  });
  return Object.fromEntries(drawn) as Voice["states"]; // one entry for each state
}
