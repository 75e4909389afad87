/** Schemas of a definition: one for modules, one for data files, which hold no code. */
import { z } from "zod";
import { EVENT_KINDS } from "../contract/event-kinds.ts";
import { durationMs, SECOND } from "../core/units.ts";
import { answer } from "../specialist/answer.ts";
import { quietHours, watchStart } from "../specialist/specialist.ts";
import {
  duration,
  expected,
  flag,
  handle,
  lanes,
  passes,
  positiveDuration,
  spend,
  text,
  tier,
  toolName,
  variableName,
  wholeNumber,
  words,
  zone,
} from "./value-schemas.ts";

const MAX_INSTRUCTIONS = 200_000;
const MAX_SCHEDULES = 100;
const MAX_MISSED = 100;
const MAX_SECRETS = 50;
const MAX_TOOLS = 100;

const from = z
  .string(expected('"now", "start" or a date'))
  .refine((value) => passes(() => watchStart(value)), expected('"now", "start" or a date such as 2026-11-01'));
const feedWatch = z.strictObject({ from: from.optional(), maxAge: positiveDuration.optional() });
const jobsWatch = feedWatch.extend({ skills: words.optional() });

const watch = z.strictObject(
  {
    feed: z.union([flag, feedWatch], expected("true, false or {from, maxAge}")).optional(),
    jobs: z.union([flag, jobsWatch], expected("true, false or {skills, from, maxAge}")).optional(),
    threads: flag.optional(),
    mentions: flag.optional(),
    communities: words.optional(),
  },
  expected("what to watch: {feed, jobs, threads, mentions, communities}"),
);

const brakes = z.strictObject(
  {
    repliesPerThread: wholeNumber(0, 1_000).optional(),
    repliesPerAuthorPerHour: wholeNumber(0, 1_000).optional(),
    repliesPerHour: wholeNumber(0, 10_000).optional(),
    sameTextWithin: duration.optional(),
    hops: wholeNumber(0, 100).optional(),
  },
  expected("brakes: {repliesPerThread, repliesPerAuthorPerHour, repliesPerHour, sameTextWithin, hops}"),
);

const operationName = z
  .string(expected("the name of an operation"))
  .regex(/^[a-z][a-z0-9-]*\.[a-z][A-Za-z0-9-]*$/, expected('the name of an operation, such as "posts.reply"'));
const operations = z.array(operationName, expected('a list of operations, such as ["posts.reply"]')).max(200);

const code = z.custom<(...args: unknown[]) => void | Promise<void>>((value) => typeof value === "function", expected("a function"));

const interval = duration.refine((value) => !passes(() => durationMs(value)) || durationMs(value) >= SECOND, expected("at least 1s"));

const schedule = z
  .strictObject(
    {
      cron: text.optional(),
      every: interval.optional(),
      zone: zone.optional(),
      jitter: duration.optional(),
      quiet: z
        .string(expected('hours such as "22:00-07:00"'))
        .refine((value) => passes(() => quietHours(value)), expected('hours such as "22:00-07:00"'))
        .optional(),
      onMissed: z
        .union(
          [z.literal(["skip", "once"]), z.strictObject({ all: wholeNumber(1, MAX_MISSED) })],
          expected('"skip", "once" or {all: <most runs>}'),
        )
        .optional(),
      expiresIn: positiveDuration.optional(),
      onPileUp: z.enum(["keep", "newest", "drop"], expected('"keep", "newest" or "drop"')).optional(),
      run: code,
    },
    expected("a schedule: {cron or every, run}"),
  )
  .refine((value) => (value.cron === undefined) !== (value.every === undefined), expected("either cron or every"));

const EVENT_NAME = "a kind of event, or x:<name> for one of the profile's";
const eventKind = z.union([z.enum(EVENT_KINDS), z.string().regex(/^x:[a-z][\w.-]*$/, expected(EVENT_NAME))], expected(EVENT_NAME));
const atOnce = wholeNumber(1, 64);
const concurrentKind = z.union([eventKind, z.string().regex(/^schedule:./)], expected("a kind of event, or schedule:<name>"));

/** Plain data, without functions. */
const data = {
  handle,
  id: text.optional(),
  tier: tier.optional(),
  name: text.optional(),
  bio: text.optional(),
  skills: words.optional(),
  watch: watch.optional(),
  may: operations.optional(),
  review: operations.optional(),
  tools: z.array(toolName, expected('a list of tools, such as ["weather/forecast"]')).max(MAX_TOOLS).optional(),
  spend: spend.optional(),
  brakes: brakes.optional(),
  secrets: z.array(variableName, expected('a list of environment variables, such as ["OPENAI_API_KEY"]')).max(MAX_SECRETS).optional(),
  lanes: lanes.optional(),
  deadline: positiveDuration.optional(),
  concurrency: z
    .union([atOnce, z.record(concurrentKind, atOnce)], expected("a whole number from 1 to 64, or one by kind of event"))
    .optional(),
  initialState: z.record(z.string(), z.unknown(), expected("an object of JSON values")).optional(),
  instructions: z
    .string(expected("a text"))
    .max(MAX_INSTRUCTIONS, expected(`at most ${MAX_INSTRUCTIONS} characters`))
    .optional(),
};

/** Events of a data file whose `on` names none. */
const MODEL_EVENTS: readonly z.output<typeof eventKind>[] = ["mention.created", "reply.created"];

/** A data file holds no code: a model answers the events that it names. */
export const dataDefinition: z.ZodType<object> = z
  .strictObject(
    {
      ...data,
      model: text.min(1, expected("the name of a model")).optional(),
      on: z.array(eventKind, expected('a list of events that the model answers, such as ["mention.created"]')).min(1).optional(),
    },
    expected("a specialist: at least a handle"),
  )
  .refine(({ model, on }) => on === undefined || model !== undefined, {
    path: ["on"],
    ...expected("a model that answers these events: model: <its name in the settings>"),
  })
  .transform(({ model, on, ...rest }): object => {
    if (model === undefined) return rest;
    const handlers: { readonly [kind: string]: unknown } = Object.fromEntries(
      (on ?? MODEL_EVENTS).map((kind) => [kind, answer({ model })]),
    );
    return { ...rest, on: handlers };
  });

const handlers = z.partialRecord(eventKind, code, expected("handlers by kind of event"));

export const codeDefinition = z.strictObject(
  {
    ...data,
    isolate: z.enum(["none", "worker"], expected('"none" or "worker"')).optional(),
    schedules: z
      .record(z.string(), schedule, expected("schedules by name"))
      .refine((value) => Object.keys(value).length <= MAX_SCHEDULES, expected(`at most ${MAX_SCHEDULES} schedules`))
      .optional(),
    on: handlers.optional(),
  },
  expected("a specialist, made by defineSpecialist({ handle: … })"),
);
