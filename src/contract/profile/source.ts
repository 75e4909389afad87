/** Schema of a profile file, as a person or the doctor writes it. */
import { z } from "zod";
import { BODY_SOURCE } from "../reading/field-path.ts";
import { FIELDS } from "../reading/fields.ts";
import { EFFECTS, LANES, RECORDS } from "../operations.ts";
import { DRIFT_POLICIES } from "../reading/pinned-fields.ts";
import { JOB_STATUSES } from "../records.ts";
import {
  candidates,
  duration,
  expected,
  headerName,
  headers,
  headerValue,
  longerThanZero,
  MAX_CANDIDATES,
  paths,
  word,
  words,
} from "./source-values.ts";
import { webhooks } from "./webhook-source.ts";

/** `free`; `unknown`, for which the operation is refused; a fixed amount; or the input that states the amount, in credits. */
export const price = z.union(
  [
    z.literal("free"),
    z.literal("unknown"),
    z.strictObject({ micros: z.number().int().nonnegative(), currency: word.optional() }),
    z.strictObject({ input: word, currency: word.optional() }),
  ],
  expected('"free", "unknown" (which is refused), { micros: 250000 }, or { input: <the input that states the amount> }'),
);
export type Price = z.output<typeof price>;

const inputField = z.strictObject({
  /** `money`: in whole units, sent as the network counts them. */
  type: z.enum(["text", "number", "integer", "boolean", "words", "json", "money"]),
  required: z.boolean().optional(),
  oneOf: z.array(z.string()).min(1).optional(),
  max: z.number().positive().optional(),
  /** Places in the record acted on (as the network sent it) that give the input if nobody else does. */
  from: paths.optional(),
});
export type InputField = z.output<typeof inputField>;

const money = z.strictObject({
  /** The network's count for one unit: 100 for cents. An amount that names its unit (`12.50 EUR`) counts whole units. */
  perUnit: z.number().int().min(1).max(1_000_000),
  /** The unit's name in texts. */
  unit: words,
});
export type MoneyFormat = z.output<typeof money>;

const contents = z.strictObject({
  /** `html`: what people wrote comes as HTML, and handlers get its text; `raw` keeps the original. */
  read: z.enum(["text", "html"]),
  /** `html`: texts of ours are sent as HTML, in which nothing of them is markup. */
  sent: z.enum(["text", "html"]),
});

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** `//host` and `..`, also as `%2e%2e`, would lead outside the base address. */
const operationPath = z
  .string()
  .max(500)
  .regex(
    /^\/(?!\/)(?!(?:.*\/)?(?:\.|%2e){1,2}(?:\/|$))(?:[^?#\s\\%]|%[\da-f]{2})*$/i,
    "a path under the base address, such as /v1/posts/{id}; no host, query, fragment, space, .. or //, and whole escapes only",
  );

const paging = z.strictObject({
  style: z.enum(["none", "cursor", "page", "offset", "link"]),
  /** The query parameter (or body field) that carries the cursor, page number or offset. */
  parameter: word,
  limitParameter: word,
  /**
   * Place of the next cursor in the answer; a whole number for pages and offsets, `true` for "there is more"; null, `false` or "" states that
   * there is none.
   */
  next: paths,
  firstPage: z.number().int().min(0).max(1),
  maxLimit: z.number().int().positive().max(10_000),
});

const operation = z
  .strictObject({
    purpose: z.string().max(300),
    method: z.enum(["GET", "POST", "PATCH", "PUT", "DELETE"]),
    path: operationPath,
    query: z.record(word, scalar),
    /** The JSON to send, with placeholders such as `{content}`; null for no body. */
    body: z.json(),
    /** The encoding of the body. Default: `json`. */
    encoding: z.enum(["json", "form"]),
    /** The network's values for our own: `direction: { up: 1 }`. An unlisted value is refused. */
    values: z.record(word, z.record(z.string(), z.json())),
    /** Inputs added to those of the operation, or made stricter. */
    input: z.record(word, inputField),
    effect: z.enum(EFFECTS),
    lane: z.enum(LANES),
    price,
    /** Place of the actual cost in the answer, in units of the price's currency. Other places are ignored. */
    charged: paths,
    /** How long the network honours an idempotency key: after that, an idempotent action is read back before it is sent again. */
    keyLifetimeMs: longerThanZero,
    /** Requests of quota that one call costs. */
    weight: z.number().int().min(1).max(1_000),
    /** Operations of the network's own on the same object, each sent before it as a part of it: `gigs.start` before `jobs.submit`. */
    before: z.array(word).min(1).max(5),
    /** Of `posts.get`: the list of the network's own that shows a post's replies, which are not in the post itself. */
    replies: word,
    /** Values of the answer that reach the handler with the receipt, by their places: `{ question: check.text }`. */
    receipt: z.record(word, paths),
    /** Another action of ours waits for this one: the input (or `target`) that holds the network's reference to it. */
    completes: word,
    /** The price of an application is a stake, which comes back in these states of the job; in any other final state it is spent. */
    returned: z.array(z.enum([...JOB_STATUSES, "lost"])).min(1),
    record: z.enum(RECORDS),
    list: z.boolean(),
    /** The paging of this list, if it differs from the profile's `paging`. */
    paging: paging.partial(),
    /** Content that a 2xx needs to count: the record, or any JSON object (or nothing at all). */
    answer: z.enum(["record", "any"]),
    /** True, or the reason for which the network lacks it. */
    unsupported: z.union([z.boolean(), z.string().min(1)]),
  })
  .partial();

export type OperationOverride = z.output<typeof operation>;

const extra = operation.extend({
  method: z.enum(["GET", "POST", "PATCH", "PUT", "DELETE"]),
  path: operationPath,
  effect: z.enum(EFFECTS),
  target: z.enum(["agent", "post", "job", "community", "webhook"]).optional(),
});
export type OperationSource = z.output<typeof extra>;

const LIMIT = expected("a whole number, 1 or more; an operation that may never be used is `unsupported`");
const limit = z.strictObject({
  name: word,
  /** The operations that the limit counts together: names, `posts.*` for all of a noun, `*` for all. */
  operations: z.array(word).min(1),
  /** `all`: requests of every key count together. Default: those of each key alone. */
  keys: z.literal("all").optional(),
  max: z.number(LIMIT).int(LIMIT).min(1, LIMIT),
  per: longerThanZero,
});

const someWords = words.refine((list) => list.length > 0, "a word to match");
/** The reader takes a sentence for a message. */
const code = word.regex(/^\S+$/, "a code without spaces; words of a message are matched by `text`");
const statusNumber = z.number().int().min(200).max(599);
const answerRule = z
  .strictObject({
    status: z.union([statusNumber, z.array(statusNumber).min(1)]).optional(),
    /** The network's own codes. */
    code: candidates(code)
      .refine((list) => list.length > 0, "a code to match")
      .optional(),
    /** Parts of its message, in any letter case. */
    text: someWords.optional(),
    /** Default: all. */
    operations: z.array(word).min(1).optional(),
    /** `wait`: it did not happen, and the key waits; `suspended`: so it is, until a read is answered again; `done`: it has happened; `refused`: it did not; `pending`: a Guardian decides. */
    means: z.enum(["wait", "suspended", "done", "refused", "pending"]),
  })
  .refine(
    ({ status, code, text }) => status !== undefined || code !== undefined || text !== undefined,
    "a status, a code or a text to match",
  );
export type AnswerRule = z.output<typeof answerRule>;

const capability = z.strictObject({
  /** Operations this tier may not use, as far as known. */
  lacks: z.array(word).optional(),
  prices: z.record(word, price).optional(),
  note: z.string().max(500).optional(),
});

const trustTier = capability.extend({
  /** Least reputation of this tier, for a network that reports reputation without a word for trust. */
  reputation: z.number().optional(),
});

const tier = capability.extend({
  /** Null: the network has no such limit. */
  perHour: z.number().int().positive().nullable().optional(),
  perDay: z.number().int().positive().nullable().optional(),
});

const errors = z.strictObject({
  code: paths,
  message: paths,
  /** Places where a plain `false` marks a 2xx as failed. */
  failed: paths,
  /** Places of a wait: a number in `waitUnit`, a time, or words (`in 3 minutes`, `PT4M`). */
  retryAfter: paths,
  waitUnit: z.enum(["milliseconds", "seconds", "minutes", "hours"]),
});

const pending = z.strictObject({
  statuses: z.array(z.number().int().min(200).max(299)),
  at: paths,
  /** Words, numbers or truth values that mean it. */
  words: z
    .union([words, z.boolean(), z.number(), z.array(z.union([word, z.boolean(), z.number()])).max(MAX_CANDIDATES)])
    .transform((value) => [value].flat().map(String)),
  reference: paths,
});

/** A header, or the body's place of a value: `body:quota.left`. */
const sources = candidates(
  z.union([
    headerName,
    z.string().regex(BODY_SOURCE, 'the name of a header, or "body:" and a path, such as "body:quota.left"'),
  ]) as z.ZodType<string, string>,
);

const limitHeaders = z.strictObject({
  remaining: sources,
  /** The limit of `remaining`. */
  limit: sources,
  /** Length of the window of `remaining`. Default: learnt from its limit and its reset. */
  windowMs: longerThanZero.optional(),
  remainingHour: sources,
  remainingDay: sources,
  /** Seconds from now, seconds or milliseconds since the epoch (distinguished by size), or a time. */
  reset: sources,
  retryAfter: sources,
  /** Structured fields of the IETF draft: `"day";r=40;t=300`. */
  structured: headers,
});

const sign = z.strictObject({
  /** The header that carries the signature: an HMAC by SHA-256, with the specialist's key. */
  header: headerName,
  /** The text that is signed, of `{timestamp}` (in seconds), `{method}`, `{path}` (with its query) and `{body}`. */
  over: z
    .string()
    .max(200)
    .regex(/^(?:[^{}]|\{(?:timestamp|method|path|body)\})+$/, "a text of {timestamp}, {method}, {path} and {body}")
    .refine((text) => text.includes("{path}"), "{path} in it, so that no signature fits another request"),
  encoding: z.enum(["hex", "base64", "base64url"]).default("hex"),
  prefix: headerValue.max(50).default(""),
  timestampHeader: headerName.nullable().default(null),
});

const auth = z.strictObject({
  /** The header that carries the key; null if requests are signed. */
  header: headerName.nullable(),
  /** Text before the key: `Bearer `. */
  prefix: headerValue.max(50),
  /** Each request is signed by the key. */
  sign: sign.optional(),
  /** Exchange the key for a token by `auth.token` first. */
  exchange: z.boolean(),
  /** The header that carries the key in an exchange (null: none, because the body has it). Default: as for every request. */
  trade: z.strictObject({ header: headerName.nullable(), prefix: headerValue.max(50).optional() }).optional(),
  /** The lifetime of a token if its answer does not state one. */
  tokenLifetimeMs: longerThanZero,
  refreshEarlyMs: duration,
});

const timing = z.strictObject({
  deadlineMs: longerThanZero,
  /** Time after our deadline in which a request may still take effect. */
  lateLandingMs: duration,
  /** Time after an effect in which a read may still miss it. */
  readLagMs: duration,
  /** Replaces the sum of the three above. */
  quietMs: duration.optional(),
});

const recordNames = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
const recordShapes = Object.fromEntries(
  recordNames.map((record) => [
    record,
    z.strictObject(Object.fromEntries(Object.keys(FIELDS[record]).map((field) => [field, paths.optional()]))).optional(),
  ]),
);
const places = z.strictObject(Object.fromEntries(["any", ...recordNames].map((name) => [name, paths.optional()])));
const statuses = z.partialRecord(z.enum(JOB_STATUSES), words);

/** Nouns of the 29 operations whose paths begin with a collection. */
export const COLLECTIONS = ["agents", "posts", "jobs", "communities", "webhooks"] as const;

const common = {
  name: word.optional(),
  /** By noun: the path that stands for `/v1/posts` in all paths of its operations that are not stated themselves. */
  collections: z
    .partialRecord(
      z.enum(COLLECTIONS),
      operationPath.refine(
        (path) => !/[:{]|.\/$/.test(path),
        "a path without parameters and without a slash at its end, such as /v1/notes",
      ),
    )
    .optional(),
  operations: z.record(word, operation).optional(),
  extra: z.record(z.string().regex(/^[a-z][a-z0-9-]*\.[a-z][A-Za-z0-9-]*$/, 'a name such as "bids.withdraw"'), extra).optional(),
  limits: z.array(limit).max(100).optional(),
  /** A read of the network's own that lists what happened to the specialist; an item is read as a delivery of its webhook would be. */
  notifications: word.optional(),
  /** Answers that mean something else than their status; the first that fits counts. */
  answers: z.array(answerRule).max(100).optional(),
  tiers: z.record(word, tier).optional(),
  trust: z.record(word, trustTier).optional(),
  records: z.strictObject(recordShapes).optional(),
  /** Places of the items of a list, or of a single record, in an answer; `any` is tried after the record's own. */
  lists: places.optional(),
  singles: places.optional(),
  statuses: statuses.optional(),
  times: z.enum(["auto", "iso", "seconds", "milliseconds"]).optional(),
  /** Reaction to answers that can no longer be read as before. */
  drift: z.enum(DRIFT_POLICIES).optional(),
  headers: z.record(headerName, headerValue).optional(),
  /** The header that carries an idempotency key; null for none. */
  idempotencyHeader: headerName.nullable().optional(),
  /** Paths into this profile that are assumptions, not published facts. */
  guesses: z.array(z.string().max(200)).max(1_000).optional(),
};

/** The same table, in which null takes back a word of the shipped profile. */
function takenBack<Value extends z.ZodType>({ keyType, valueType }: z.ZodRecord<z.ZodString, Value>) {
  return z.record(keyType, valueType.nullable()).optional();
}

/** Schema of a file: any part of a profile, on top of the one it extends. */
export const profileSource = z.strictObject({
  extends: z.enum(["set-a", "set-b"]),
  ...common,
  money: money.partial().optional(),
  contents: contents.partial().optional(),
  paging: paging.partial().optional(),
  errors: errors.partial().optional(),
  pending: pending.partial().optional(),
  limitHeaders: limitHeaders.partial().optional(),
  auth: auth.partial().optional(),
  webhooks: webhooks
    .partial()
    .extend({ kinds: takenBack(webhooks.shape.kinds), decisions: takenBack(webhooks.shape.decisions) })
    .optional(),
  timing: timing.partial().optional(),
});
export type ProfileSource = z.input<typeof profileSource>;

/** Schema of a complete profile. */
export const profileData = z.strictObject({
  ...common,
  name: word,
  operations: z.record(word, operation),
  extra: z.record(word, extra),
  limits: z.array(limit),
  answers: z.array(answerRule),
  tiers: z.record(word, tier),
  trust: z.record(word, trustTier),
  records: z.strictObject(recordShapes),
  lists: places,
  singles: places,
  statuses,
  times: z.enum(["auto", "iso", "seconds", "milliseconds"]),
  drift: z.enum(DRIFT_POLICIES),
  headers: z.record(headerName, headerValue),
  idempotencyHeader: headerName.nullable(),
  guesses: z.array(z.string()),
  money,
  contents,
  paging,
  errors,
  pending,
  limitHeaders,
  auth,
  webhooks,
  timing,
});
export type ProfileData = z.output<typeof profileData>;
