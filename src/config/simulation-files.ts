/** Reads the files of a simulation (the words of its crowd, the answers of other services and of models) and of a rehearsal (one event). */
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { defined } from "../core/defined.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { durationMs } from "../core/units.ts";
import { readDataFile } from "./data-file.ts";
import { checkShape } from "./mistakes.ts";
import type { Problem } from "./problem.ts";
import { expected, passes, positiveDuration, toolName, wholeNumber } from "./value-schemas.ts";

const MAX_ITEMS = 10_000;
const MAX_POST = 20_000;
const MAX_TITLE = 200;
const MAX_SKILLS = 20;
const MAX_REWARD = 1_000_000;
const MAX_PER_HOUR = 3_600;
const MAX_BODY = 1_000_000;
/** The form of a recording. Changes with its fields. */
export const RECORDING_VERSION = 1;

const json = z.json() as z.ZodType<Json>;
const content = z
  .string(expected("a text"))
  .min(1, expected("a text that is not empty"))
  .max(MAX_POST, expected(`at most ${MAX_POST} characters`));
const contents = z
  .array(content, expected("a list of texts"))
  .min(1, expected("at least one text"))
  .max(MAX_ITEMS, expected(`at most ${MAX_ITEMS}`));
const rate = z
  .number(expected("a number an hour"))
  .min(0, expected("0 or more an hour"))
  .max(MAX_PER_HOUR, expected(`at most ${MAX_PER_HOUR} an hour`));

const job = z
  .strictObject(
    {
      title: z
        .string(expected("a text"))
        .min(1, expected("a text that is not empty"))
        .max(MAX_TITLE, expected(`at most ${MAX_TITLE} characters`)),
      description: content.optional(),
      skills: z
        .array(content, expected("a list of texts"))
        .max(MAX_SKILLS, expected(`at most ${MAX_SKILLS} skills`))
        .optional(),
      reward: wholeNumber(1, MAX_REWARD).optional(),
      input: json.optional(),
      deadline: positiveDuration.optional(),
    },
    expected("a job: {title, description, skills, reward, input, deadline}"),
  )
  .transform(({ deadline, ...rest }) => defined({ ...rest, deadlineMs: deadline === undefined ? undefined : durationMs(deadline) }));

const crowdSchema = z
  .strictObject(
    {
      posts: contents.optional(),
      replies: contents.optional(),
      jobs: z
        .array(job, expected("a list of jobs"))
        .min(1, expected("at least one job"))
        .max(MAX_ITEMS, expected(`at most ${MAX_ITEMS}`))
        .optional(),
      postsPerHour: rate.optional(),
      repliesPerHour: rate.optional(),
      jobsPerHour: rate.optional(),
      followsPerHour: rate.optional(),
    },
    expected("a crowd: {posts, replies, jobs, postsPerHour, repliesPerHour, jobsPerHour, followsPerHour}"),
  )
  .transform((crowd) => defined(crowd));

const address = z
  .string(expected("an http(s) address, which may end in *"))
  .refine((text) => passes(() => new URL(text)) && /^https?:/.test(text), expected("an http(s) address, which may end in *"));

const answerSchema = z
  .strictObject(
    {
      url: address,
      method: z
        .string(expected("a method such as POST"))
        .regex(/^[A-Za-z]{1,20}$/, expected("a method such as POST"))
        .optional(),
      status: wholeNumber(200, 599).optional(),
      headers: z.record(z.string(), z.string(expected("a text")), expected("headers by name")).optional(),
      json: json.optional(),
      text: z
        .string(expected("a text"))
        .max(MAX_BODY, expected(`at most ${MAX_BODY} characters`))
        .optional(),
    },
    expected("an answer: {url, method, status, headers, json or text}"),
  )
  .refine((answer) => answer.json === undefined || answer.text === undefined, expected("either json or text"));

const answersSchema = z
  .array(answerSchema, expected("a list of answers"))
  .min(1, expected("at least one answer"))
  .max(MAX_ITEMS, expected(`at most ${MAX_ITEMS}`));

const reply = z.union(
  [
    content,
    z.strictObject({
      text: z.string().max(MAX_BODY).optional(),
      calls: z
        .array(z.strictObject({ name: z.string().min(1), input: z.record(z.string(), json) }))
        .min(1)
        .optional(),
      status: wholeNumber(200, 599).optional(),
    }),
  ],
  expected("a text, or a reply: {text, calls: [{name, input}], status}"),
);

const repliesSchema = z
  .record(
    z.string(),
    z.union([reply.transform((one) => [one]), z.array(reply).min(1).max(MAX_ITEMS)], expected("a reply, or a list of replies")),
    expected("replies by the name of a model"),
  )
  .transform((models) =>
    Object.fromEntries(
      Object.entries(models).map(([name, list]) => [name, list.map((one) => (typeof one === "string" ? one : defined(one)))]),
    ),
  );

const MAX_READS = 1_000;
const values = z.record(z.string(), json, expected("values by name")) as z.ZodType<JsonObject>;
const results = z.record(z.string(), json, expected("results by name"));
const word = z.string(expected("a text")).min(1, expected("a text that is not empty"));

const recordingSchema = z
  .strictObject(
    {
      recording: z.literal(RECORDING_VERSION, expected(`${RECORDING_VERSION}, the form of file that this version reads`)),
      handle: word.optional(),
      event: z.strictObject(
        { id: word.optional(), kind: word, at: z.number(expected("ms since the epoch")).optional(), payload: json },
        expected("an event: {id, kind, at, payload}"),
      ),
      account: word.optional(),
      state: values.optional(),
      reads: z
        .array(
          z.strictObject({ operation: word, target: word.optional(), value: json }, expected("an answer: {operation, target, value}")),
          expected("a list of answers: {operation, target, value}"),
        )
        .max(MAX_READS, expected(`at most ${MAX_READS}`))
        .optional(),
      steps: results.optional(),
      tools: z.record(toolName, word, expected("texts of answers by server/tool")).optional(),
      fetch: answersSchema.optional(),
      models: repliesSchema.optional(),
    },
    expected("a recording: {recording, handle, event, account, state, reads, steps, tools, fetch, models}"),
  )
  .transform((file) => defined(file));

/** An event to rehearse, with the answers that its handler gets. */
export type RecordingFile = z.output<typeof recordingSchema>;

/** Words and rates of a simulated crowd. */
export type CrowdFile = z.output<typeof crowdSchema>;
/** The replies of models. */
export type RepliesFile = z.output<typeof repliesSchema>;
/** One answer of another service. */
export type FetchAnswer = z.output<typeof answerSchema>;

/** The content of a file, or every mistake in it. */
export type ReadFile<Content> =
  | { readonly value: Content; readonly problems: readonly [] }
  | { readonly value: undefined; readonly problems: readonly Problem[] };

export function readCrowd(file: string, cwd: string): Promise<ReadFile<CrowdFile>> {
  return readChecked(file, cwd, crowdSchema, "crowd_invalid");
}

export function readAnswers(file: string, cwd: string): Promise<ReadFile<readonly FetchAnswer[]>> {
  return readChecked(file, cwd, answersSchema, "answers_invalid");
}

export function readReplies(file: string, cwd: string): Promise<ReadFile<RepliesFile>> {
  return readChecked(file, cwd, repliesSchema, "answers_invalid");
}

export function readRecording(file: string, cwd: string): Promise<ReadFile<RecordingFile>> {
  return readChecked(file, cwd, recordingSchema, "recording_invalid");
}

async function readChecked<Schema extends z.ZodType>(
  name: string,
  cwd: string,
  schema: Schema,
  code: "crowd_invalid" | "answers_invalid" | "recording_invalid",
): Promise<ReadFile<z.output<Schema>>> {
  const file = isAbsolute(name) ? name : join(cwd, name);
  const { data, problems } = await readDataFile(file);
  if (data === undefined)
    return { value: undefined, problems: problems.map((problem) => ({ hint: "create it, or name another file", ...problem })) };
  return checkShape(schema, data.value, { code, file, lineOf: (path) => data.lineOf(path) });
}
