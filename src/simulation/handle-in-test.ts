/** Runs one handler of a definition in a test: through the real rules, brakes, input checks and steps, and without a network. */
import type { ModelConfig } from "../config/model-settings.ts";
import type { EventKind, EventPayloads, ExtraEvent, ExtraEventKind, SCHEDULE_PREFIX } from "../contract/event-kinds.ts";
import type { EndpointSet, OperationName } from "../contract/operations.ts";
import { shippedProfile, type Profile } from "../contract/profile/profile.ts";
import { systemClock, type Clock } from "../core/clock.ts";
import type { AnyCode } from "../core/error-codes.ts";
import { Misconfigured, Refused } from "../core/errors.ts";
import { asJson, isObject, type Json, type JsonObject } from "../core/json.ts";
import type { LogFields, LogLevel } from "../core/log.ts";
import type { ToolDesk } from "../handlers/handling.ts";
import type { Reads, ToolAnswer } from "../specialist/act.ts";
import type { ToolName } from "../specialist/definition.ts";
import { storable, type HandlerRead, type ReadCall } from "../specialist/run-request.ts";
import { fetchOf, type FetchAnswers } from "./answering-fetch.ts";
import { checkNames, checkPayload, checkSet, specialistsOf, type GivenSpecialist, type NamesOf } from "./given-in-test.ts";
import { keylessModels } from "./staged-models.ts";
import { handleOnce, type Decision, type OneHandling } from "./one-handling.ts";

/** The kind of an event that `handle` takes: one of the closed list, a profile's own, or the run of a schedule. */
export type HandledKind = EventKind | ExtraEventKind | `${typeof SCHEDULE_PREFIX}${string}`;

/** The payload of an event of this kind; null for the run of a schedule. */
export type HandledPayload<Kind extends HandledKind> = Kind extends EventKind
  ? EventPayloads[Kind]
  : Kind extends ExtraEventKind
    ? ExtraEvent
    : null;

type ReadMethod = Exclude<keyof Reads, "perform">;
/** The object's id, the words searched for, or the query of a list. */
type Asked<Method extends ReadMethod> = Method extends "posts" | "jobs" | "agents" | "communities"
  ? NonNullable<Parameters<Reads[Method]>[0]>
  : string;
type Answer<Method extends ReadMethod> = Awaited<ReturnType<Reads[Method]>>;

/** The answers to a handler's reads, by the name of the read: a value, or a function of the id, the query or the words. */
export type ReadAnswers = {
  readonly [Method in ReadMethod]?: Answer<Method> | ((asked: Asked<Method>) => Answer<Method> | Promise<Answer<Method>>);
} & {
  /** Answers `act.read.perform`, and reads without an answer of their own. */
  readonly perform?: (call: ReadCall) => unknown;
};

/** The answer of a tool in a test: whole, its text alone, or a function of the input. */
export type ToolAnswers = {
  readonly [tool: ToolName]: ToolAnswer | string | ((input: JsonObject) => ToolAnswer | string);
};

/** The world of one handling. Everything not stated is empty, and a read or a request without an answer is refused. */
export interface HandleOptions {
  /** The specialist's value before. Default: its `initialState`. */
  readonly state?: JsonObject;
  /** Results of steps that ran before: they are not run again. */
  readonly steps?: { readonly [name: string]: Json };
  readonly reads?: ReadAnswers;
  /** Answers of tools by `server/tool`: an answer, a text, or a function of the input. Default: every call is refused (`no_tool`). */
  readonly tools?: ToolAnswers;
  /** Answers `act.fetch`. Default: refuses every request (`no_fetch`). */
  readonly fetch?: FetchAnswers;
  /** Models by name, as in the settings: mostly one of `scriptedModel`. They are asked over HTTP. Default: none. */
  readonly models?: { readonly [name: string]: ModelConfig };
  /** The time of the handling, in ms since the epoch. Default 2026-01-05T00:00Z, a Monday. */
  readonly now?: number;
  /** The specialist's id on the network; undefined while it is not known. Default: that of its definition, else `agent_<handle>`. */
  readonly id?: string | undefined;
  /** Actions of ours that led to this event. Default 0. */
  readonly hops?: number;
  readonly set?: EndpointSet;
  /** Default: the set's own, as shipped. */
  readonly profile?: Profile;
}

/** An action that a handler decided on. */
export interface HandledIntent {
  /** `ready` would be sent within the limits, `proposed` waits for the Guardian's approval, `refused` is never sent. */
  readonly state: "ready" | "proposed" | "refused";
  readonly operation: string;
  /** The id of its object. */
  readonly target?: string;
  /** The position in `intents` of the action that creates its object. */
  readonly targetOf?: number;
  readonly input: JsonObject;
  readonly key?: string;
  readonly data?: Json;
  readonly expiresInMs?: number;
  /** The reason for a refusal. */
  readonly code?: AnyCode;
  readonly message?: string;
}

/** The result of a handling. */
export interface Handled {
  readonly intents: readonly HandledIntent[];
  /** The specialist's value after. */
  readonly state: JsonObject;
  /** Results of the steps that ran, by name. */
  readonly steps: { readonly [name: string]: Json };
  readonly reads: readonly ReadCall[];
  readonly log: readonly { readonly level: LogLevel; readonly message: string; readonly fields: LogFields }[];
}

const OPTIONS: NamesOf<HandleOptions> = {
  state: true,
  steps: true,
  reads: true,
  tools: true,
  fetch: true,
  models: true,
  now: true,
  id: true,
  hops: true,
  set: true,
  profile: true,
};

/** The time of a handling that states none. */
export const BEGINS = Date.UTC(2026, 0, 5);

/**
 * Handles one event. Rejects with what the handler throws, with `Misconfigured` for a mistake in the definition or an event that it does not
 * handle, and with `Refused` (`no_read`, `no_fetch`) for a read or a request without an answer.
 */
export async function handle<const Kind extends HandledKind>(
  definition: GivenSpecialist,
  kind: Kind,
  payload: HandledPayload<Kind>,
  options: HandleOptions = {},
): Promise<Handled> {
  return (await handleWith(definition, kind, payload, options)).handled;
}

/** The same, with the results that it stored, which an earlier handling may give. */
export async function handleWith(
  definition: GivenSpecialist,
  kind: string,
  payload: unknown,
  options: HandleOptions,
  answers: OneHandling["answers"] = {},
): Promise<{ readonly handled: Handled; readonly answers: OneHandling["answers"] }> {
  const [specialist] = specialistsOf([definition]);
  if (specialist === undefined) throw new Misconfigured("specialists_empty", "expected a definition, got none");
  checkNames(options, OPTIONS);
  checkNames(options.reads ?? {}, READS, "reads.");
  checkPayload(kind, payload);
  if (options.state !== undefined && !isObject(options.state))
    throw new Misconfigured("state_invalid", "state: expected an object", { hint: "give one, such as { counted: 1 }" });
  const { now = BEGINS, set = "b", reads = {} } = options;
  checkSet(set);
  const clock: Clock = { ...systemClock(), now: () => now, monotonic: () => 0 }; // two runs of a test read the same
  const handled = await handleOnce({
    specialist,
    event: { kind, payload: storable("the payload", payload), ...(options.hops === undefined ? {} : { hops: options.hops }) },
    profile: options.profile ?? shippedProfile(set),
    clock,
    accountId: "id" in options ? options.id : (specialist.id ?? `agent_${specialist.handle}`),
    state: options.state,
    steps: options.steps ?? {},
    answers,
    read: (call) => answer(reads, call),
    callTool: toolsOf(options.tools),
    fetch: fetchOf(options.fetch),
    ...(options.models === undefined ? {} : { models: { settings: keylessModels(options.models), readKey: () => undefined } }),
  });
  if ("failure" in handled) throw handled.failure;
  return { handled: shownHandling(handled, now), answers: handled.answers };
}

/** The answers to tools, which are permitted as in a run. */
export function toolsOf(answers: ToolAnswers = {}): ToolDesk["callTool"] {
  return async ({ tools }, { tool, input }) => {
    if (!tools.includes(tool)) throw new Refused("tool_not_allowed", `${tool} is not in \`tools\``);
    const given = Object.entries(answers).find(([name]) => name === tool)?.[1];
    if (given === undefined)
      throw new Refused("no_tool", `the test has no answer of ${tool}`, { hint: `give one: { tools: { "${tool}": "…" } }` });
    const said = typeof given === "function" ? given(input) : given;
    return typeof said === "string" ? { ok: true, text: said } : said;
  };
}

/** The name of the read for an operation. */
const METHODS: { readonly [operation in OperationName]?: ReadMethod } = {
  "posts.get": "post",
  "posts.list": "posts",
  "jobs.get": "job",
  "jobs.list": "jobs",
  "agents.get": "agent",
  "agents.list": "agents",
  "agents.stats": "stats",
  "communities.get": "community",
  "communities.list": "communities",
  "search.web": "searchWeb",
  "search.agents": "searchAgents",
  "search.jobs": "searchJobs",
};

const READS: NamesOf<ReadAnswers> = {
  post: true,
  posts: true,
  job: true,
  jobs: true,
  agent: true,
  agents: true,
  stats: true,
  community: true,
  communities: true,
  searchWeb: true,
  searchAgents: true,
  searchJobs: true,
  perform: true,
};

async function answer(answers: ReadAnswers, call: ReadCall): Promise<HandlerRead> {
  const method = Object.entries(METHODS).find(([operation]) => operation === call.operation)?.[1];
  const given: unknown = method === undefined ? undefined : answers[method];
  const asked = call.target ?? (method?.startsWith("search") === true ? call.input["query"] : call.input);
  if (typeof given === "function") return { value: storable("the answer to a read", await Reflect.apply(given, undefined, [asked])) };
  if (given !== undefined) return { value: storable("the answer to a read", given) };
  if (answers.perform !== undefined) return { value: storable("the answer to a read", await answers.perform(call)) };
  const named = method === undefined ? `perform("${call.operation}")` : `${method}(${JSON.stringify(asked)})`;
  throw new Refused("no_read", `the test has no answer to act.read.${named}`, {
    hint: `give one: { reads: { ${method ?? "perform"}: … } }`,
  });
}

/** A handling for display. */
export function shownHandling({ decisions, state, steps, reads, log }: OneHandling, now: number): Handled {
  const ids = decisions.map(({ draft }) => draft.id);
  const intents = decisions.map(({ draft, stored }: Decision): HandledIntent => {
    const { operation, target, targetIntent, input, label, data, expiresAt } = draft;
    return {
      state: stored.state === "in_doubt" ? "ready" : stored.state,
      operation,
      ...(target === undefined ? {} : { target }),
      ...(targetIntent === undefined ? {} : { targetOf: ids.indexOf(targetIntent) }),
      input: asJson(input),
      ...(label === undefined ? {} : { key: label }),
      ...(data === undefined ? {} : { data }),
      ...(expiresAt === undefined ? {} : { expiresInMs: expiresAt - now }),
      ...(stored.code === undefined ? {} : { code: stored.code }),
      ...(stored.message === undefined ? {} : { message: stored.message }),
    };
  });
  return { intents, state, steps, reads, log: log.map(({ level, message, fields }) => ({ level, message, fields })) };
}
