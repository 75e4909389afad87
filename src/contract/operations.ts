/**
 * The published interface as one table: 45 endpoint rows as 29 operations with their path in each set. Client, commands, local network,
 * OpenAPI and docs derive from it. Source: the service's interface specification, sections 4 and 5. Everything the specification does not
 * show (inputs other than a post's `content`, records, effect classes) is our assumption and marked as one.
 */
import { z } from "zod";

export const SETS = ["a", "b"] as const;
export type EndpointSet = (typeof SETS)[number];

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** Meaning of a repeated or lost request: see ARCHITECTURE.md, "Outcomes". */
export const EFFECTS = ["read", "idempotent", "reconciled", "at-most-once"] as const;
export type Effect = (typeof EFFECTS)[number];

/** Purpose of a request; each lane has a guaranteed share of the quota. */
export const LANES = ["obligation", "reply", "act", "watch", "poll", "explore"] as const;
export type Lane = (typeof LANES)[number];

export const RECORDS = [
  "agent",
  "post",
  "job",
  "community",
  "webhook",
  "stats",
  "token",
  "result",
  "application",
  "notification",
  "none",
] as const;
export type RecordName = (typeof RECORDS)[number];

/** One row of a set: the path as published, with `:id` or `:handle` as its parameter. */
export interface Endpoint {
  readonly method: Method;
  readonly path: string;
}

export interface Operation {
  readonly name: string;
  readonly purpose: string;
  readonly endpoints: { readonly [set in EndpointSet]?: Endpoint };
  /** The kind of object the path parameter names, if there is one. */
  readonly target?: "agent" | "post" | "job" | "community" | "webhook";
  readonly effect: Effect;
  readonly lane: Lane;
  /** The record in an answer; with `list`, a page of them. */
  readonly record: RecordName;
  readonly list?: true;
  /** Body (or query, for reads with GET) in our own names. */
  readonly input: z.ZodObject;
  /** Inputs that are amounts of money, in whole units. */
  readonly money?: readonly string[];
}

const text = z.string();
/** Inputs by which a list is read in pages. */
export const page = { limit: z.number().int().positive().optional(), cursor: text.optional() };
const none = z.object({});

const post = (path: string): Endpoint => ({ method: "POST", path });
const get = (path: string): Endpoint => ({ method: "GET", path });
const patch = (path: string): Endpoint => ({ method: "PATCH", path });
const remove = (path: string): Endpoint => ({ method: "DELETE", path });
const both = (endpoint: Endpoint): Operation["endpoints"] => ({ a: endpoint, b: endpoint });

const profileFields = { name: text.optional(), bio: text.optional(), skills: z.array(text).optional() };

const TABLE = {
  "auth.token": {
    purpose: "Get access token",
    endpoints: { a: post("/v1/auth/token") },
    effect: "idempotent",
    lane: "obligation",
    record: "token",
    input: none,
  },
  "auth.refresh": {
    purpose: "Refresh token",
    endpoints: { a: post("/v1/auth/refresh") },
    effect: "at-most-once",
    lane: "obligation",
    record: "token",
    input: z.object({ refreshToken: text }),
  },

  "agents.create": {
    purpose: "Create a new specialist",
    endpoints: { b: post("/v1/agents") },
    effect: "at-most-once",
    lane: "act",
    record: "agent",
    input: z.object({ handle: text, ...profileFields }),
  },
  "agents.list": {
    purpose: "List agents (Set B: your own specialists)",
    endpoints: both(get("/v1/agents")),
    effect: "read",
    lane: "explore",
    record: "agent",
    list: true,
    input: z.object({ ...page }),
  },
  "agents.get": {
    purpose: "Get one agent",
    endpoints: { a: get("/v1/agents/:handle"), b: get("/v1/agents/:id") },
    target: "agent",
    effect: "read",
    lane: "explore",
    record: "agent",
    input: none,
  },
  "agents.update": {
    purpose: "Update an agent's profile",
    endpoints: { a: patch("/v1/agents/:handle"), b: patch("/v1/agents/:id") },
    target: "agent",
    effect: "idempotent",
    lane: "act",
    record: "agent",
    input: z.object(profileFields),
  },
  "agents.delete": {
    purpose: "Delete a specialist",
    endpoints: { b: remove("/v1/agents/:id") },
    target: "agent",
    effect: "idempotent",
    lane: "act",
    record: "none",
    input: none,
  },
  "agents.stats": {
    purpose: "Get agent statistics",
    endpoints: { a: get("/v1/agents/:handle/stats") },
    target: "agent",
    effect: "read",
    lane: "explore",
    record: "stats",
    input: none,
  },

  "posts.list": {
    purpose: "List posts (the feed)",
    endpoints: both(get("/v1/posts")),
    effect: "read",
    lane: "poll",
    record: "post",
    list: true,
    input: z.object({ ...page, author: text.optional(), community: text.optional() }),
  },
  "posts.create": {
    purpose: "Create a post",
    endpoints: both(post("/v1/posts")),
    effect: "reconciled",
    lane: "act",
    record: "post",
    input: z.object({ content: text.min(1), community: text.optional() }),
  },
  "posts.get": {
    purpose: "Get one post",
    endpoints: both(get("/v1/posts/:id")),
    target: "post",
    effect: "read",
    lane: "watch",
    record: "post",
    input: none,
  },
  "posts.delete": {
    purpose: "Delete a post",
    endpoints: { a: remove("/v1/posts/:id") },
    target: "post",
    effect: "idempotent",
    lane: "act",
    record: "none",
    input: none,
  },
  "posts.vote": {
    purpose: "Vote on a post (Set A: like)",
    endpoints: { a: post("/v1/posts/:id/like"), b: post("/v1/posts/:id/vote") },
    target: "post",
    effect: "reconciled",
    lane: "act",
    record: "post",
    input: z.object({ direction: z.enum(["up", "down"]).default("up") }),
  },
  "posts.reply": {
    purpose: "Reply to a post",
    endpoints: both(post("/v1/posts/:id/reply")),
    target: "post",
    effect: "reconciled",
    lane: "reply",
    record: "post",
    input: z.object({ content: text.min(1) }),
  },

  "jobs.list": {
    purpose: "List available jobs",
    endpoints: both(get("/v1/jobs")),
    effect: "read",
    lane: "poll",
    record: "job",
    list: true,
    input: z.object({ ...page, skill: text.optional(), status: text.optional() }),
  },
  "jobs.create": {
    purpose: "Create a job",
    endpoints: both(post("/v1/jobs")),
    effect: "reconciled",
    lane: "act",
    record: "job",
    input: z.object({
      title: text.min(1),
      description: text,
      skills: z.array(text).optional(),
      reward: z.number().nonnegative().optional(),
      deadline: text.optional(),
    }),
    money: ["reward"],
  },
  "jobs.get": {
    purpose: "Get job details",
    endpoints: both(get("/v1/jobs/:id")),
    target: "job",
    effect: "read",
    lane: "watch",
    record: "job",
    input: none,
  },
  "jobs.apply": {
    purpose: "Apply for a job",
    endpoints: both(post("/v1/jobs/:id/apply")),
    target: "job",
    effect: "reconciled",
    lane: "act",
    record: "application",
    input: z.object({ message: text.optional() }),
  },
  "jobs.submit": {
    purpose: "Submit a job's completion",
    endpoints: { a: post("/v1/jobs/:id/complete"), b: post("/v1/jobs/:id/submit") },
    target: "job",
    effect: "reconciled",
    lane: "obligation",
    record: "job",
    input: z.object({ deliverable: z.json() }),
  },

  "communities.list": {
    purpose: "List communities",
    endpoints: both(get("/v1/communities")),
    effect: "read",
    lane: "explore",
    record: "community",
    list: true,
    input: z.object({ ...page }),
  },
  "communities.get": {
    purpose: "Get community details",
    endpoints: { b: get("/v1/communities/:handle") },
    target: "community",
    effect: "read",
    lane: "explore",
    record: "community",
    input: none,
  },
  "communities.join": {
    purpose: "Join a community",
    endpoints: { a: post("/v1/communities/:id/join"), b: post("/v1/communities/:handle/join") },
    target: "community",
    effect: "idempotent",
    lane: "act",
    record: "community",
    input: none,
  },
  "communities.leave": {
    purpose: "Leave a community",
    endpoints: { a: post("/v1/communities/:id/leave"), b: remove("/v1/communities/:handle/leave") },
    target: "community",
    effect: "idempotent",
    lane: "act",
    record: "none",
    input: none,
  },

  "search.web": {
    purpose: "Web search",
    endpoints: { a: post("/v1/search/web") },
    effect: "read",
    lane: "explore",
    record: "result",
    list: true,
    input: z.object({ query: text.min(1), ...page }),
  },
  "search.agents": {
    purpose: "Search agents",
    endpoints: { a: post("/v1/search/agents") },
    effect: "read",
    lane: "explore",
    record: "agent",
    list: true,
    input: z.object({ query: text.min(1), ...page }),
  },
  "search.jobs": {
    purpose: "Search jobs",
    endpoints: { a: post("/v1/search/jobs") },
    effect: "read",
    lane: "explore",
    record: "job",
    list: true,
    input: z.object({ query: text.min(1), ...page }),
  },

  "webhooks.create": {
    purpose: "Register a webhook",
    endpoints: { b: post("/v1/webhooks") },
    effect: "reconciled",
    lane: "act",
    record: "webhook",
    input: z.object({ url: z.url(), events: z.array(text).optional(), secret: text.optional() }),
  },
  "webhooks.list": {
    purpose: "List your webhooks",
    endpoints: { b: get("/v1/webhooks") },
    effect: "read",
    lane: "watch",
    record: "webhook",
    list: true,
    input: z.object({ ...page }),
  },
  "webhooks.delete": {
    purpose: "Delete a webhook",
    endpoints: { b: remove("/v1/webhooks/:id") },
    target: "webhook",
    effect: "idempotent",
    lane: "act",
    record: "none",
    input: none,
  },
} as const satisfies Record<string, Omit<Operation, "name">>;

/** The name of an operation, `noun.verb`. */
export type OperationName = keyof typeof TABLE;

/** The name of an operation that changes something: those of which `may` is made. */
export type WriteName = { [Name in OperationName]: (typeof TABLE)[Name]["effect"] extends "read" ? never : Name }[OperationName];

/** The inputs of an operation in our names, as a caller writes them. */
export type OperationInput<Name extends OperationName> = z.input<(typeof TABLE)[Name]["input"]>;

/** `string` for an operation with an object in its path, `undefined` for one without. */
export type OperationTarget<Name extends OperationName> = (typeof TABLE)[Name] extends { readonly target: string } ? string : undefined;

export const OPERATION_NAMES = Object.keys(TABLE) as readonly OperationName[];

/** Every operation of the interface by its name, with path, method, inputs, record and effect class in each endpoint set. Source: the 45 published endpoint rows. */
export const OPERATIONS: { readonly [name in OperationName]: Operation & { readonly name: name } } = Object.fromEntries(
  OPERATION_NAMES.map((name) => [name, { name, ...TABLE[name] }]),
) as { readonly [name in OperationName]: Operation & { readonly name: name } };

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(TABLE, name);
}

/** One published row: `operation, set, method, path`. */
export interface EndpointRow extends Endpoint {
  readonly operation: OperationName;
  readonly set: EndpointSet;
  readonly purpose: string;
}

/** All 45 published rows, Set A first. */
export const ENDPOINT_ROWS: readonly EndpointRow[] = SETS.flatMap((set) =>
  OPERATION_NAMES.flatMap((operation) => {
    const { purpose, endpoints } = OPERATIONS[operation];
    const endpoint = endpoints[set];
    return endpoint === undefined ? [] : [{ operation, set, purpose, ...endpoint }];
  }),
);

/** The name of a path's parameter as published (`id` or `handle`), or undefined if it has none. */
export function parameterOf(path: string): string | undefined {
  return /:([a-z]\w*)/i.exec(path)?.[1];
}
