/** Builds the `act` of one run: every action becomes a draft, every read and step is stored. */
import { defined } from "../core/defined.ts";
import { Refused, Retryable } from "../core/errors.ts";
import { isObject, sha256, type Json, type JsonObject } from "../core/json.ts";
import type { Random } from "../core/random.ts";
import { durationMs } from "../core/units.ts";
import type { Act, IntentOptions, IntentRef, Reads, Target } from "./act.ts";
import type { OperationRule, OperationRules } from "./operation-rules.ts";
import { storable, type RunRequest } from "./run-request.ts";
import type { DraftIntent, IntentRefusal } from "./intent-draft.ts";

/** A handler that decides on more than this is broken. */
export const MAX_INTENTS_PER_RUN = 100;
/** Steps and reads of one handling; each is a row, and held in memory until it ends. */
export const MAX_STEPS_PER_RUN = 1_000;
const MAX_DATA_BYTES = 16 * 1024;

export interface RunTools {
  /** Made when first used, as `random`. */
  readonly signal: () => AbortSignal;
  /** Made when first used: most handlers leave nothing to chance. */
  readonly random: () => Random;
  readonly suspend: (until: number, reason: string) => void;
}

export interface RunContext {
  readonly act: Act;
  intents(): readonly DraftIntent[];
  /** What is called on `act` afterwards throws. */
  close(): void;
}

export function createContext(request: RunRequest, tools: RunTools): RunContext {
  const { me, rules, event } = request;
  let open = true;
  const alive = (): void => {
    if (!open)
      throw new Refused("act_closed", "act was used after the handler had returned", { hint: "await everything the handler starts" });
  };
  const { record, drafts } = createRecorder(request, alive);
  let steps = 0;
  const another = (): void => {
    alive();
    if (++steps > MAX_STEPS_PER_RUN)
      throw new Refused("too_many_steps", `expected at most ${MAX_STEPS_PER_RUN} steps and reads for one event, got more`);
  };
  let random: Random | undefined;
  let { state } = request;
  const act: Act = {
    ...createActions(record, me, rules),
    read: createReads(request, tools, another),
    step: createSteps(request, tools, another),
    now: event.beganAt,
    random: () => (random ??= tools.random()).next(),
    fetch: (input, init) => request.fetch(input, { ...init, signal: init?.signal ?? tools.signal() }),
    get state() {
      return state;
    },
    set state(value) {
      alive();
      state = value;
    },
    log: request.log,
    get signal() {
      return tools.signal();
    },
    me,
  };
  return { act, intents: () => drafts, close: () => void (open = false) };
}

type Decide = (operation: string, target: Target | undefined, input: JsonObject, options?: IntentOptions) => IntentRef;
type Actions = Pick<
  Act,
  "post" | "reply" | "vote" | "remove" | "apply" | "submit" | "createJob" | "join" | "leave" | "updateProfile" | "perform"
>;

function createActions(record: Decide, me: RunRequest["me"], rules: OperationRules): Actions {
  return {
    post: (content, options) =>
      record(
        "posts.create",
        undefined,
        { content, ...(options?.community === undefined ? {} : { community: options.community }) },
        options,
      ),
    reply: (to, content, options) => record("posts.reply", to, { content }, options),
    vote: (post, direction = "up", options) => record("posts.vote", post, { direction }, options),
    remove: (post, options) => record("posts.delete", post, {}, options),
    apply: (job, input = {}, options) => record("jobs.apply", job, defined(input), options),
    submit: (job, deliverable, options) => record("jobs.submit", job, { deliverable }, options),
    createJob: (input, options) => record("jobs.create", undefined, defined(input), options),
    join: (community, options) => record("communities.join", community, {}, options),
    leave: (community, options) => record("communities.leave", community, {}, options),
    updateProfile: (input, options) => record("agents.update", mine(rules.of("agents.update"), me), defined(input), options),
    perform: (operation, call, options) => record(operation, call.target, call.input ?? {}, options),
  };
}

/** Turns decisions into drafts, in written order; the same decision twice is one draft. */
function createRecorder(request: RunRequest, alive: () => void): { readonly record: Decide; readonly drafts: readonly DraftIntent[] } {
  const drafts: DraftIntent[] = [];
  const same = new Map<string, IntentRef>();
  const record: Decide = (operation, target, input, options = {}) => {
    alive();
    const rule = request.rules.of(operation);
    if (rule.effect === "read")
      throw new Refused("operation_is_read", `${operation} is a read`, { hint: `use act.read.perform("${operation}", …)` });
    const wanted = resolveTarget(rule, operation, target);
    const checked = request.rules.input(operation, input);
    const identity = sha256([operation, wanted.id ?? wanted.intent ?? null, checked, options.key ?? null]);
    const known = same.get(identity);
    if (known !== undefined) return known; // a model that repeats itself says it once
    if (drafts.length >= MAX_INTENTS_PER_RUN)
      throw new Refused("too_many_intents", `expected at most ${MAX_INTENTS_PER_RUN} actions for one event, got more`);
    const id = request.newIntentId();
    drafts.push({
      id,
      ordinal: drafts.length,
      operation,
      input: checked,
      effect: rule.effect,
      lane: rule.lane,
      hops: request.event.hops,
      conflictKey: `${request.me.handle}|${operation}|${wanted.id ?? wanted.intent ?? sha256(checked).slice(0, 16)}`,
      ...(wanted.id === undefined ? {} : { target: wanted.id }),
      ...(wanted.intent === undefined ? {} : { targetIntent: wanted.intent }),
      ...speech(request, operation, target, wanted, checked, rule),
      ...(rule.review === undefined ? {} : { review: rule.review(wanted.id ?? wanted.intent, checked) }),
      ...labels(options, request.clock.now()),
    });
    const ref: IntentRef = { intent: id };
    same.set(identity, ref);
    return ref;
  };
  return { record, drafts };
}

/** What the brakes and the reader need to know of words: in which thread, to whom, which; and whether they are forbidden. */
function speech(
  request: RunRequest,
  operation: string,
  target: Target | undefined,
  wanted: ResolvedTarget,
  input: JsonObject,
  rule: OperationRule,
): Partial<DraftIntent> {
  const said = typeof input["content"] === "string" ? input["content"] : undefined;
  const textHash = said === undefined ? {} : { textHash: sha256(said.trim().toLowerCase()) };
  const refused = (refusal: OperationRule["refusal"]) => (refusal === undefined ? {} : { refusal });
  if (operation !== "posts.reply") return { ...textHash, ...refused(rule.refusal) };
  const post = postOf(target) ?? (wanted.id === undefined ? undefined : eventPost(request.event.payload, wanted.id));
  const author = post?.authorId ?? post?.authorHandle;
  const thread = post?.threadId ?? post?.parentId ?? wanted.id;
  return {
    ...textHash,
    ...(thread === undefined ? {} : { thread }),
    ...(author === undefined ? {} : { author }),
    ...refused(rule.refusal ?? selfReply(request.me, post)),
  };
}

function labels(options: IntentOptions, now: number): Partial<DraftIntent> {
  return {
    ...(options.key === undefined ? {} : { label: options.key }),
    ...(options.data === undefined ? {} : { data: bounded(options.data) }),
    ...(options.expiresIn === undefined ? {} : { expiresAt: now + durationMs(options.expiresIn) }),
  };
}

function createSteps(request: RunRequest, tools: RunTools, another: () => void): Act["step"] {
  const used = new Set<string>();
  return async (name, work) => {
    another();
    if (used.has(name))
      throw new Refused("step_repeated", `expected each step of a run to have a name of its own, got ${JSON.stringify(name)} twice`);
    used.add(name);
    const stored = request.steps.get(`step:${name}`);
    if (stored !== undefined) return stored as Awaited<ReturnType<typeof work>>;
    const value = storable(`the result of step ${JSON.stringify(name)}`, await work(tools.signal()));
    await request.saveStep(`step:${name}`, value);
    return value as Awaited<ReturnType<typeof work>>;
  };
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
    const nth = counts.get(base) ?? 0; // the same read again in one run is a new look
    counts.set(base, nth + 1);
    const name = `${base}:${nth}`;
    const stored = request.steps.get(name);
    if (stored !== undefined) return stored as never;
    const result = await request.read(call, tools.signal());
    if ("suspendedUntil" in result) {
      tools.suspend(result.suspendedUntil, result.reason);
      return new Promise<never>(() => undefined); // the run is abandoned here: no catch of the handler's may go on without the value
    }
    await request.saveStep(name, result.value);
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

interface ResolvedTarget {
  readonly id?: string;
  readonly intent?: IntentRef["intent"];
}

function resolveTarget(rule: OperationRule, operation: string, target: Target | undefined): ResolvedTarget {
  if (rule.targetBy === undefined) return {};
  if (typeof target === "string" && target !== "") return { id: target };
  if (typeof target === "object" && "intent" in target) return { intent: target.intent };
  if (typeof target === "object") {
    const named = rule.targetBy === "handle" && "handle" in target && typeof target.handle === "string" ? target.handle : target.id;
    if (typeof named === "string" && named !== "") return { id: named };
  }
  throw new Refused("target_missing", `${operation} needs an object: its record, its id, or the intent that creates it`);
}

/** The path of `agents.update` names the specialist itself. */
function mine(rule: OperationRule, me: RunRequest["me"]): string {
  const target = rule.targetBy === "handle" ? me.handle : me.id;
  if (target === undefined) throw new Retryable("account_unknown", "the specialist's id on the network is not known yet");
  return target;
}

interface PostLike {
  readonly authorId?: string;
  readonly authorHandle?: string;
  readonly parentId?: string;
  readonly threadId?: string;
}

function postOf(target: Target | undefined): PostLike | undefined {
  return typeof target === "object" && "id" in target ? postLike(target as { readonly [name: string]: unknown }) : undefined;
}

function eventPost(payload: Json, id: string): PostLike | undefined {
  return isObject(payload) && payload["id"] === id ? postLike(payload) : undefined;
}

function postLike(value: { readonly [name: string]: unknown }): PostLike {
  const text = (name: string) => (typeof value[name] === "string" ? { [name]: value[name] } : {});
  return { ...text("authorId"), ...text("authorHandle"), ...text("parentId"), ...text("threadId") };
}

/** Answering oneself must be impossible, also while it is not known who "oneself" is. */
function selfReply(me: RunRequest["me"], post: PostLike | undefined): IntentRefusal | undefined {
  if (post === undefined) return undefined;
  const own = (me.id !== undefined && post.authorId === me.id) || post.authorHandle?.toLowerCase() === me.handle.toLowerCase();
  if (own) return { code: "own_post", message: "a specialist does not answer itself" };
  if (me.id === undefined && post.authorHandle === undefined)
    return { code: "account_unknown", message: "the specialist's own id is not known yet, so this could be its own post" };
  return undefined;
}

function bounded(data: Json): Json {
  const json = storable("data", data);
  if (JSON.stringify(json).length > MAX_DATA_BYTES)
    throw new Refused("value_invalid", `expected data to be at most ${MAX_DATA_BYTES} bytes of JSON`);
  return json;
}
