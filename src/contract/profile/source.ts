/** The written form of a profile: what a person, or the doctor, may put into a profile file, as a schema. */
import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { durationMs } from "../../core/units.ts";
import { FIELD_PATH } from "../reading/field-path.ts";
import { FIELDS } from "../reading/fields.ts";
import { EFFECTS, LANES, RECORDS } from "../operations.ts";
import { DRIFT_POLICIES } from "../reading/pins.ts";
import { JOB_STATUSES } from "../records.ts";

const MAX_CANDIDATES = 40;
/** Names of headers, extra operations and fields: short, and safe to print. */
const word = z.string().min(1).max(100);
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "the name of a header")
  .transform((name) => name.toLowerCase());
/** What would end a header and begin another is not part of one. */
const headerValue = z
  .string()
  .max(500)
  .regex(/^[\t\x20-\x7e\u0080-\uffff]*$/, "text without line breaks");
const path = z.string().max(200).regex(FIELD_PATH, 'a path such as "author.handle", or "$" for the whole answer');
const oneOrMore = <Item extends z.ZodType<string, string>>(item: Item) =>
  z
    .union([item, z.array(item).min(1).max(MAX_CANDIDATES)])
    .transform((value): readonly string[] => (typeof value === "string" ? [value] : value));
const paths = oneOrMore(path);
const words = oneOrMore(word);
const headers = oneOrMore(headerName);

/** An error text is what was expected; advice may follow after `; `. */
const expected = (text: string): { readonly error: () => string } => ({ error: () => text });

/** Milliseconds, or a text such as `90s`. */
const duration = z.union([z.number(), z.string()]).transform((value, context) => {
  try {
    return durationMs(value);
  } catch (error) {
    context.addIssue({ code: "custom", message: messageOf(error).replace(/^expected (.*), got .*$/s, "$1") });
    return z.NEVER;
  }
});
const longerThanZero = duration.refine((ms) => ms > 0, "a duration longer than 0");

/** `free`; `unknown`, which means refused; a fixed amount; or the amount that one of the inputs states, in credits. */
export const price = z.union(
  [
    z.literal("free"),
    z.literal("unknown"),
    z.strictObject({ micros: z.number().int().nonnegative(), currency: word.optional() }),
    z.strictObject({ input: word, currency: word.optional() }),
  ],
  expected('"free", "unknown" (which is refused), { micros: 250000 }, or { input: <the input that says the amount> }'),
);
export type Price = z.output<typeof price>;

const inputField = z.strictObject({
  type: z.enum(["text", "number", "integer", "boolean", "words", "json"]),
  required: z.boolean().optional(),
  oneOf: z.array(z.string()).min(1).optional(),
  max: z.number().positive().optional(),
});
export type InputField = z.output<typeof inputField>;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** `//host` and `..` would lead elsewhere than under the base address. */
const operationPath = z
  .string()
  .max(500)
  .regex(
    /^\/(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^?#\s\\]*$/,
    "a path under the base address, such as /v1/posts/{id}; no host, query, fragment, space, .. or //",
  );

const operation = z
  .strictObject({
    purpose: z.string().max(300),
    method: z.enum(["GET", "POST", "PATCH", "PUT", "DELETE"]),
    path: operationPath,
    query: z.record(word, scalar),
    /** The JSON to send, with `{content}` for inputs; null for none. */
    body: z.json(),
    /** The network's words for values of ours: `direction: { up: 1 }`. A value that is not listed is refused. */
    values: z.record(word, z.record(z.string(), z.json())),
    /** Inputs added to those of the operation, or asked for more strictly. */
    input: z.record(word, inputField),
    effect: z.enum(EFFECTS),
    lane: z.enum(LANES),
    price,
    /** Where the answer says what it really cost, in units of the price's currency. Only what is stated here is believed. */
    charged: paths,
    /** Requests of quota that one call costs. */
    weight: z.number().int().min(1).max(1_000),
    record: z.enum(RECORDS),
    list: z.boolean(),
    /** What a 2xx must hold to count: the record, or any JSON object (or nothing at all). */
    answer: z.enum(["record", "any"]),
    /** True, or why the network lacks it. */
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
  /** Operation names; the limit counts them together. */
  operations: z.array(word).min(1),
  max: z.number(LIMIT).int(LIMIT).min(1, LIMIT),
  per: longerThanZero,
});

const capability = z.strictObject({
  /** Operations it may not use, as far as known. */
  lacks: z.array(word).optional(),
  prices: z.record(word, price).optional(),
  note: z.string().max(500).optional(),
});

const trustTier = capability.extend({
  /** From this reputation on, where the network tells reputation and no word for trust. */
  reputation: z.number().optional(),
});

const tier = capability.extend({
  perHour: z.number().int().positive().optional(),
  perDay: z.number().int().positive().optional(),
});

const paging = z.strictObject({
  style: z.enum(["none", "cursor", "page", "offset", "link"]),
  /** The query parameter (or body field) that carries the cursor, page number or offset. */
  parameter: word,
  limitParameter: word,
  /** Where the answer says what comes next; a whole number for pages and offsets, `true` for "there is more". */
  next: paths,
  firstPage: z.number().int().min(0).max(1),
  maxLimit: z.number().int().positive().max(10_000),
});

const errors = z.strictObject({
  code: paths,
  message: paths,
  /** Where a 2xx says that it failed all the same, by a plain `false`. */
  failed: paths,
  retryAfter: paths,
});

const pending = z.strictObject({ statuses: z.array(z.number().int().min(200).max(299)), at: paths, words, reference: paths });

const limitHeaders = z.strictObject({
  remaining: headers,
  remainingHour: headers,
  remainingDay: headers,
  /** Seconds from now, or seconds or milliseconds since the epoch; told apart by size. */
  reset: headers,
  retryAfter: headers,
  /** Structured fields of the IETF draft: `"day";r=40;t=300`. */
  structured: headers,
});

const auth = z.strictObject({
  header: headerName,
  /** Put before the key: `Bearer `. */
  prefix: headerValue.max(50),
  /** Trade the key for a token by `auth.token` first. */
  exchange: z.boolean(),
  /** The lifetime of a token whose answer does not state one. */
  tokenLifetimeMs: longerThanZero,
  refreshEarlyMs: duration,
});

const webhooks = z.strictObject({
  /**
   * How deliveries are signed. `auto`: any of the signed schemes that fits; `header`: an HMAC of the raw body in a header
   * (also GitHub's); `body`: a member of the body; `path`: the secret is part of the address; `none`: not at all.
   */
  scheme: z.enum(["auto", "standard", "header", "stripe", "body", "path", "none"]),
  /** Headers that may carry the signature. */
  signature: headers,
  /** Paths into the body, where the signature is one of its members. */
  signatureFields: paths,
  signaturePrefix: z.string().max(50),
  /** Headers. */
  deliveryIdHeaders: headers,
  timestampHeaders: headers,
  /** Paths into the body. */
  deliveryId: paths,
  kind: paths,
  /** Headers that name the kind, where the body does not. */
  kindHeaders: headers,
  object: paths,
  occurrence: paths,
  /** The network's word for a kind of event, and ours (or `x:<name>`). */
  kinds: z.record(word, z.string().regex(/^(?:x:)?[a-z][a-z0-9.-]{0,60}$/, 'one of our event kinds, or "x:<name>"')),
  /** The network's word for a decision of its Guardian on an action of ours that was pending. */
  decisions: z.record(word, z.enum(["approved", "rejected"])),
});

const timing = z.strictObject({
  deadlineMs: longerThanZero,
  /** How long after our deadline a request may still take effect. */
  lateLandingMs: duration,
  /** How long after its effect a read may still miss it. */
  readLagMs: duration,
  /** Instead of the sum of the three above. */
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

const common = {
  name: word.optional(),
  operations: z.record(word, operation).optional(),
  extra: z.record(z.string().regex(/^[a-z][a-z0-9-]*\.[a-z][A-Za-z0-9-]*$/, 'a name such as "bids.withdraw"'), extra).optional(),
  limits: z.array(limit).max(100).optional(),
  tiers: z.record(word, tier).optional(),
  trust: z.record(word, trustTier).optional(),
  records: z.strictObject(recordShapes).optional(),
  /** Where the items of a list, or a single record, sit in an answer; `any` is tried after the record's own. */
  lists: places.optional(),
  singles: places.optional(),
  statuses: statuses.optional(),
  times: z.enum(["auto", "iso", "seconds", "milliseconds"]).optional(),
  /** What it leads to when answers change so that they can no longer be read as before. */
  drift: z.enum(DRIFT_POLICIES).optional(),
  headers: z.record(headerName, headerValue).optional(),
  /** The header that carries an idempotency key; null for none. */
  idempotencyHeader: headerName.nullable().optional(),
  /** Paths into this profile that are assumptions, not published facts. */
  guesses: z.array(z.string().max(200)).max(1_000).optional(),
};

/** What a file holds: any part of a profile, on top of the one it extends. */
export const profileSource = z.strictObject({
  extends: z.enum(["set-a", "set-b"]),
  ...common,
  paging: paging.partial().optional(),
  errors: errors.partial().optional(),
  pending: pending.partial().optional(),
  limitHeaders: limitHeaders.partial().optional(),
  auth: auth.partial().optional(),
  webhooks: webhooks.partial().optional(),
  timing: timing.partial().optional(),
});
export type ProfileSource = z.input<typeof profileSource>;

/** A profile with nothing left open. */
export const profileData = z.strictObject({
  ...common,
  name: word,
  operations: z.record(word, operation),
  extra: z.record(word, extra),
  limits: z.array(limit),
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
  paging,
  errors,
  pending,
  limitHeaders,
  auth,
  webhooks,
  timing,
});
export type ProfileData = z.output<typeof profileData>;
