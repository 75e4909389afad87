/** Builds the `act` of one run: every action becomes a draft, every read and step is stored. */
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { durationMs } from "../core/units.ts";
import { canonicalJson, isObject, sha256, type JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import { askingBy, ASK, type AskInStep } from "./model-call.ts";
import type { Act, IntentOptions, IntentRef, OnPileUp, Reads, Target } from "./act.ts";
import { storable, type RunRequest } from "./run-request.ts";
import { createFetch } from "./service-fetch.ts";
import { createSteps } from "./steps.ts";
import { createTool } from "./tool-calls.ts";
import { bounded, mine, resolveTarget, speech, withRecord, type ResolvedTarget } from "./decision.ts";
import type { DraftIntent } from "./intent-draft.ts";
import type { GivenInput } from "./operation-rules.ts";

/** A handler with more decisions than this is broken. */
export const MAX_INTENTS_PER_RUN = 100;
/** Steps and reads of one handling; each is a row, held in memory until the handling ends. */
export const MAX_STEPS_PER_RUN = 1_000;
const NOTHING: JsonObject = Object.freeze({});
const NO_OPTIONS: IntentOptions = Object.freeze({});

export interface RunTools {
  /** Created on first use. */
  signal(): AbortSignal;
  /** The run's own sequence, from its beginning. */
  random(): Random;
  suspend(until: number, reason: string): void;
}

export interface RunContext {
  readonly act: Act;
  intents(): readonly DraftIntent[];
  /** The specialist's value, if the handler changed it. Throws `Refused` (`state_invalid`, `value_invalid`) if it cannot be stored. */
  changedState(): JsonObject | undefined;
  /** Closes the context: later calls on `act` throw. */
  close(): void;
}

export function createContext(request: RunRequest, tools: RunTools): RunContext {
  return new Context(request, tools);
}

type Stepping = Pick<Act, "step" | "tool" | "fetch"> & { readonly ask: AskInStep };

/** A class, because every event has one, and few handlers use more than one of its parts. */
class Context implements RunContext {
  readonly request: RunRequest;
  readonly act: Act;
  readonly #tools: RunTools;
  readonly #drafts: DraftIntent[] = [];
  /** The canonical text of each draft's input, once it had to be compared. */
  readonly #inputs: (string | undefined)[] = [];
  #open = true;
  #steps = 0;
  #stepping: Stepping | undefined;
  #reads: Reads | undefined;
  #random: Random | undefined;
  #log: Logger | undefined;
  /** The specialist's value. */
  #state: JsonObject = NOTHING;
  /** Its text before the first look at it: a handler may change it in place. Undefined before that look. */
  #before: string | undefined;

  constructor(request: RunRequest, tools: RunTools) {
    this.request = request;
    this.#tools = tools;
    this.act = new RunAct(this);
  }

  get stepping(): Stepping {
    if (this.#stepping === undefined) {
      const another = (): void => this.#another();
      const step = createSteps(this.request, this.#tools, another);
      this.#stepping = {
        step,
        ask: askingBy(this.request, this.#tools, step),
        tool: createTool(this.request, this.#tools, another),
        fetch: createFetch(this.request, () => this.signal),
      };
    }
    return this.#stepping;
  }

  get read(): Reads {
    return (this.#reads ??= createReads(this.request, this.#tools, () => this.#another()));
  }

  get log(): Logger {
    return (this.#log ??= this.request.log);
  }

  get signal(): AbortSignal {
    return this.#tools.signal();
  }

  get state(): JsonObject {
    this.#look();
    return this.#state;
  }

  set state(value: JsonObject) {
    this.#alive();
    if (this.request.isSideBySide === true) throw sharedState(this.request.event.kind);
    this.#look();
    this.#state = value;
  }

  #look(): void {
    if (this.#before !== undefined) return;
    this.#state = this.request.state;
    this.#before = JSON.stringify(this.#state);
  }

  random(): number {
    return (this.#random ??= this.#tools.random()).next();
  }

  intents(): readonly DraftIntent[] {
    return this.#drafts;
  }

  changedState(): JsonObject | undefined {
    if (this.#before === undefined) return undefined;
    const json = storable("act.state", this.#state);
    if (!isObject(json)) throw new Refused("state_invalid", "expected act.state to be a JSON object");
    if (JSON.stringify(json) === this.#before) return undefined;
    if (this.request.isSideBySide === true) throw sharedState(this.request.event.kind);
    return json;
  }

  close(): void {
    this.#open = false;
  }

  /** Turns a decision into a draft, in written order; equal decisions become one draft. */
  decide(operation: string, target: Target | undefined, input: GivenInput, options: IntentOptions = NO_OPTIONS): IntentRef<never> {
    this.#alive();
    const { request } = this;
    const rule = request.rules.of(operation);
    if (rule.effect === "read")
      throw new Refused("operation_is_read", `${operation} is a read`, { hint: `use act.read.perform("${operation}", …)` });
    const wanted = resolveTarget(rule, operation, target);
    const checked = request.rules.input(operation, withRecord(request, rule, target, wanted, input));
    const known = this.#equalDraft(operation, wanted, checked, options.key);
    if (known !== undefined) return { intent: known.id }; // a model that repeats itself posts once
    // Parts of an action are actions of their own, which are sent in this order.
    for (const part of rule.before ?? []) this.decide(part, target, {});
    const drafts = this.#drafts;
    if (drafts.length >= MAX_INTENTS_PER_RUN)
      throw new Refused("too_many_intents", `expected at most ${MAX_INTENTS_PER_RUN} actions for one event, got more`);
    const id = request.newIntentId();
    const said = speech(request, operation, target, wanted, checked, rule);
    drafts.push({
      id,
      ordinal: drafts.length,
      operation,
      input: checked,
      effect: rule.effect,
      lane: rule.lane,
      hops: request.event.hops,
      conflictKey: `${request.me.handle}|${operation}|${wanted.id ?? wanted.intent ?? sha256(checked).slice(0, 16)}`,
      target: wanted.id,
      targetIntent: wanted.intent,
      thread: said.thread,
      author: said.author,
      textHash: said.textHash,
      refusal: said.refusal,
      review: rule.review?.(wanted.id ?? wanted.intent, checked),
      label: options.key,
      data: options.data === undefined ? undefined : bounded(options.data),
      expiresAt: expiryOf(request, options),
      pileUp: pileUpOf(options.onPileUp ?? request.usual?.onPileUp),
    });
    return { intent: id };
  }

  /** The draft of the same decision. Inputs are compared last, since their texts cost the most. */
  #equalDraft(operation: string, wanted: ResolvedTarget, input: JsonObject, label: string | undefined): DraftIntent | undefined {
    let text: string | undefined;
    return this.#drafts.find((draft, n) => {
      if (draft.operation !== operation || draft.label !== label || draft.target !== wanted.id || draft.targetIntent !== wanted.intent)
        return false;
      return (this.#inputs[n] ??= canonicalJson(draft.input)) === (text ??= canonicalJson(input));
    });
  }

  #alive(): void {
    if (!this.#open)
      throw new Refused("act_closed", "act was used after the handler returned", { hint: "await everything the handler starts" });
  }

  #another(): void {
    this.#alive();
    if (++this.#steps > MAX_STEPS_PER_RUN)
      throw new Refused("too_many_steps", `expected at most ${MAX_STEPS_PER_RUN} steps and reads for one event, got more`);
  }
}

function expiryOf({ clock, usual }: RunRequest, { expiresIn }: IntentOptions): number | undefined {
  const afterMs = expiresIn === undefined ? usual?.expiresMs : durationMs(expiresIn);
  return afterMs === undefined ? undefined : clock.now() + afterMs;
}

function pileUpOf(given: OnPileUp = "keep"): DraftIntent["pileUp"] {
  if (given === "newest" || given === "drop") return given;
  if (given === "keep") return undefined;
  throw new Refused("value_invalid", `expected onPileUp to be "keep", "newest" or "drop", got ${JSON.stringify(given)}`);
}

/** State has one writer: of two handlings at once, the later would undo what the earlier stored. */
function sharedState(kind: string): Refused {
  return new Refused("state_shared", `a handler of ${kind} wrote act.state, and concurrency lets several of them run at once`, {
    hint: `leave ${kind} out of concurrency, or keep the value in a step or elsewhere`,
  });
}

const CONTEXT = Symbol("context");

/** An action is a closure made on each look at it, so that a definition may take `act` apart. Everything that changes is in the context. */
class RunAct implements Act {
  readonly [CONTEXT]: Context;
  readonly now: number;
  readonly me: Act["me"];

  constructor(context: Context) {
    this[CONTEXT] = context;
    this.now = context.request.event.beganAt;
    this.me = context.request.me;
  }

  get post(): Act["post"] {
    const context = this[CONTEXT];
    return (content, options) =>
      context.decide(
        "posts.create",
        undefined,
        { content, ...(options?.community === undefined ? {} : { community: options.community }) },
        options,
      );
  }

  get reply(): Act["reply"] {
    const context = this[CONTEXT];
    return (to, content, options) => context.decide("posts.reply", to, { content }, options);
  }

  get vote(): Act["vote"] {
    const context = this[CONTEXT];
    return (post, direction = "up", options) => context.decide("posts.vote", post, { direction }, options);
  }

  get remove(): Act["remove"] {
    const context = this[CONTEXT];
    return (post, options) => context.decide("posts.delete", post, {}, options);
  }

  get apply(): Act["apply"] {
    const context = this[CONTEXT];
    return (job, input = {}, options) => context.decide("jobs.apply", job, defined(input), options);
  }

  get submit(): Act["submit"] {
    const context = this[CONTEXT];
    return (job, deliverable, options) => context.decide("jobs.submit", job, { deliverable }, options);
  }

  get createJob(): Act["createJob"] {
    const context = this[CONTEXT];
    return (input, options) => context.decide("jobs.create", undefined, defined(input), options);
  }

  get join(): Act["join"] {
    const context = this[CONTEXT];
    return (community, options) => context.decide("communities.join", community, {}, options);
  }

  get leave(): Act["leave"] {
    const context = this[CONTEXT];
    return (community, options) => context.decide("communities.leave", community, {}, options);
  }

  get updateProfile(): Act["updateProfile"] {
    const context = this[CONTEXT];
    const { rules, me } = context.request;
    return (input, options) => context.decide("agents.update", mine(rules.of("agents.update"), me), defined(input), options);
  }

  get perform(): Act["perform"] {
    const context = this[CONTEXT];
    return (operation, call, options) => context.decide(operation, call.target, call.input ?? {}, options);
  }

  get read(): Reads {
    return this[CONTEXT].read;
  }

  get step(): Act["step"] {
    return this[CONTEXT].stepping.step;
  }

  get [ASK](): AskInStep {
    return this[CONTEXT].stepping.ask;
  }

  get tool(): Act["tool"] {
    return this[CONTEXT].stepping.tool;
  }

  get random(): Act["random"] {
    const context = this[CONTEXT];
    return () => context.random();
  }

  get fetch(): Act["fetch"] {
    return this[CONTEXT].stepping.fetch;
  }

  get state(): JsonObject {
    return this[CONTEXT].state;
  }

  set state(value: JsonObject) {
    this[CONTEXT].state = value;
  }

  get log(): Logger {
    return this[CONTEXT].log;
  }

  get signal(): AbortSignal {
    return this[CONTEXT].signal;
  }
}

function createReads(request: RunRequest, tools: RunTools, another: () => void): Reads {
  const counts = new Map<string, number>();
  const read = async (operation: string, target: Target | undefined, input: JsonObject): Promise<never> => {
    another();
    const rule = request.rules.of(operation);
    if (rule.effect !== "read")
      throw new Refused("operation_is_write", `${operation} is a write`, { hint: `use act.perform("${operation}", …)` });
    if (rule.refusal !== undefined) throw new Refused(rule.refusal.code, rule.refusal.message);
    const { id } = resolveTarget(rule, operation, target);
    const call = { operation, ...(id === undefined ? {} : { target: id }), input: request.rules.input(operation, input) };
    const base = `read:${sha256([operation, id ?? null, call.input])}`;
    const nth = counts.get(base) ?? 0; // the same read again in one run is a new request
    counts.set(base, nth + 1);
    const name = `${base}:${nth}`;
    const stored = request.steps.get(name);
    if (stored !== undefined) return stored as never;
    const startedAt = request.clock.now();
    const result = await request.read(call, tools.signal());
    if ("suspendedUntil" in result) {
      tools.suspend(result.suspendedUntil, result.reason);
      return new Promise<never>(() => undefined); // the run is abandoned here: no `catch` of the handler may continue without the value
    }
    await request.saveStep(name, result.value, startedAt);
    return result.value as never;
  };
  return {
    post: (id) => read("posts.get", id, {}),
    posts: (query = {}) => read("posts.list", undefined, defined(query)),
    job: (id) => read("jobs.get", id, {}),
    jobs: (query = {}) => read("jobs.list", undefined, defined(query)),
    agent: (id) => read("agents.get", id, {}),
    agents: (query = {}) => read("agents.list", undefined, defined(query)),
    stats: (handle) => read("agents.stats", handle, {}),
    community: (handle) => read("communities.get", handle, {}),
    communities: (query = {}) => read("communities.list", undefined, defined(query)),
    searchWeb: (query) => read("search.web", undefined, { query }),
    searchAgents: (query) => read("search.agents", undefined, { query }),
    searchJobs: (query) => read("search.jobs", undefined, { query }),
    perform: (operation, call) => read(operation, call.target, call.input ?? {}),
  };
}
