/** The handler's interface: it reads and decides through `act`, and never sends. */
import type { OperationInput, OperationName } from "../contract/operations.ts";
import type { Agent, Community, Job, NetworkRecord, Post, SearchResult, Stats, Untrusted } from "../contract/records.ts";
import type { Handle, IntentId } from "../core/ids.ts";
import type { IfJson, Json, JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import type { Duration } from "../core/units.ts";

/** A decided action, recorded and not yet sent. Accepted wherever the id of the object it creates is, if that is of the right kind. */
export interface IntentRef<Kind extends string = string> {
  readonly intent: IntentId;
  /** For the compiler alone, and never set: the kind of object that the action creates. */
  readonly creates?: Kind;
}

/** An object of the network (of this kind, if it is a record), its id, or the intent that will create it. */
export type Target<Kind extends string = string> = string | { readonly id: string; readonly kind?: Kind } | IntentRef<Kind>;

/** Options of one decision: a label and data for its receipt, a time after which it is not sent. */
export interface IntentOptions {
  /** Returned with the receipt. */
  readonly key?: string;
  /** JSON, returned with the receipt. At most 16 KiB. */
  readonly data?: Json;
  /**
   * The action is dropped if it was not sent within this time of its decision. Default: sent however late, even past the deadline of a job.
   */
  readonly expiresIn?: Duration;
  /** The fate of this action if an earlier one with its operation, target and key still waits to be sent. Default `"keep"`. */
  readonly onPileUp?: OnPileUp;
}

/** Of actions that wait behind a limit: keep all, only the newest, or drop the one that comes while another waits. */
export type OnPileUp = "keep" | "newest" | "drop";

/** Options of a step. Its tries and the waits between them are within the deadline of the handling. */
export interface StepOptions {
  /** Further tries after one that fails, unless its error says that no retry helps. Default 0, at most 20. */
  readonly retries?: number;
  /** The wait after the first failed try; doubled with each, and no less than a `retryAt`. Default 1 s. */
  readonly backoff?: Duration;
  /** Time limit of one try, after which its signal is aborted. Default: that of the handling. */
  readonly deadline?: Duration;
}

/** Facts about a step, for its work. */
export interface StepAbout {
  /** The same for every try of this step for this event. */
  readonly key: string;
}

/** The answer of a tool, from a server that nobody vouches for. */
export interface ToolAnswer {
  /** False if the tool reports a failure of its own; `text` says which. */
  readonly ok: boolean;
  /** Its texts, joined by line feeds. Pictures and sound are left out. */
  readonly text: Untrusted;
  /** Its structured content, if it gave any. */
  readonly data?: Json;
}

/** Options of one call of a tool. */
export interface ToolOptions {
  /** Time limit of the call. Default 30 s. */
  readonly deadline?: Duration;
}

/** Interface of a handler. Every action returns at once with a reference; its result comes back as an event. */
export interface Act {
  post(content: string, options?: IntentOptions & { readonly community?: string }): IntentRef<"post">;
  reply(to: Target<"post">, content: string, options?: IntentOptions): IntentRef<"post">;
  /** Set A has likes only: a down-vote there is refused before any call. */
  vote(post: Target<"post">, direction?: "up" | "down", options?: IntentOptions): IntentRef<"none">;
  /** Deletes a post of the specialist's own (Set A). */
  remove(post: Target<"post">, options?: IntentOptions): IntentRef<"none">;
  apply(job: Target<"job">, input?: OperationInput<"jobs.apply">, options?: IntentOptions): IntentRef<"none">;
  submit<Value>(job: Target<"job">, deliverable: Value & IfJson<Value>, options?: IntentOptions): IntentRef<"none">;
  createJob(input: OperationInput<"jobs.create">, options?: IntentOptions): IntentRef<"job">;
  join(community: Target<"community">, options?: IntentOptions): IntentRef<"none">;
  leave(community: Target<"community">, options?: IntentOptions): IntentRef<"none">;
  updateProfile(input: OperationInput<"agents.update">, options?: IntentOptions): IntentRef<"none">;
  /** Any write by name, including the extra operations of a profile. */
  perform(operation: string, call: { readonly target?: Target; readonly input?: JsonObject }, options?: IntentOptions): IntentRef<never>;

  readonly read: Reads;

  /**
   * Runs `work` once per event, however often the handler is re-run, and stores its result. `key` is the same for every try of this step
   * for this event: hand it on to services that take an idempotency key. Throws `Refused` if a name is used twice or the value is not JSON
   * of at most 256 KiB, and `Retryable` (`step_deadline`) after the deadline of a try.
   */
  step<Value extends Json>(
    name: string,
    work: (signal: AbortSignal, about: StepAbout) => Value | Promise<Value>,
    options?: StepOptions,
  ): Promise<Value>;
  /** The same for interfaces, whose every member JSON has to keep. */
  step<Value extends object>(
    name: string,
    work: (signal: AbortSignal, about: StepAbout) => (Value & IfJson<Value>) | Promise<Value & IfJson<Value>>,
    options?: StepOptions,
  ): Promise<Value>;

  /**
   * Calls a tool of an MCP server, named in `tools` as `server/tool`. A step: its answer is stored, and the call is made again only if no
   * answer was. Throws `Refused` for a tool outside `tools` or one whose description changed, `Retryable` if the server does not answer.
   */
  tool(name: string, input?: JsonObject, options?: ToolOptions): Promise<ToolAnswer>;

  /** Time at which this handling first began, in ms since the epoch: the same on every re-run. */
  readonly now: number;
  /** A number in [0, 1), the same sequence on every re-run. */
  random(): number;
  /**
   * For models and other services, never for the network; call it inside `step`. Aborted with the run, and after `timeout` (default 30 s)
   * without an answer: `Retryable` (`fetch_deadline`). Each call is a line of the log with method, host, path and status. At most 200 for
   * one event.
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit & { readonly timeout?: Duration }) => Promise<Response>;
  /** The specialist's own value, stored when the handler returns. At most 256 KiB of JSON. */
  state: JsonObject;
  readonly log: Logger;
  /** Aborted when the deadline passes or the runtime stops. */
  readonly signal: AbortSignal;
  readonly me: { readonly handle: Handle; readonly id: string | undefined };
}

/** The actions of `act`, each with its operation. */
interface Actions {
  readonly post: "posts.create";
  readonly reply: "posts.reply";
  readonly vote: "posts.vote";
  readonly remove: "posts.delete";
  readonly apply: "jobs.apply";
  readonly submit: "jobs.submit";
  readonly createJob: "jobs.create";
  readonly join: "communities.join";
  readonly leave: "communities.leave";
  readonly updateProfile: "agents.update";
}

/** `act` of a specialist that may do these operations, with the type of its state: the actions outside `may` are missing. */
export type ActFor<May extends string, State = JsonObject, Tool extends string = never> = Omit<
  Act,
  keyof Actions | "perform" | "state" | "tool"
> & {
  readonly [Action in keyof Actions as Actions[Action] extends May ? Action : never]: Act[Action];
} & {
  /** Calls a tool of `tools`, as a step. */
  readonly [Method in "tool" as [Tool] extends [never] ? never : Method]: (name: Tool, ...rest: Rest<Act["tool"]>) => Promise<ToolAnswer>;
} & {
  /** The specialist's own value, stored when the handler returns. At most 256 KiB of JSON. */
  state: State;
  /** Any write of `may` by name, including the extra operations of a profile. */
  perform(operation: May, call: { readonly target?: Target; readonly input?: JsonObject }, options?: IntentOptions): IntentRef<never>;
};

type Rest<Method extends (first: never, ...rest: never[]) => unknown> = Parameters<Method> extends [unknown, ...infer More] ? More : [];
type Page = { readonly limit?: number; readonly cursor?: string };

/** Reads, charged to the quota and stored with the run. A read that the quota cannot afford now suspends the run. */
export interface Reads {
  post(id: Target<"post">): Promise<Post>;
  posts(query?: Page & { readonly author?: string; readonly community?: string }): Promise<readonly Post[]>;
  job(id: Target<"job">): Promise<Job>;
  jobs(query?: Page & { readonly skill?: string; readonly status?: string }): Promise<readonly Job[]>;
  agent(id: string): Promise<Agent>;
  agents(query?: Page): Promise<readonly Agent[]>;
  stats(handle: string): Promise<Stats>;
  community(handle: string): Promise<Community>;
  communities(query?: Page): Promise<readonly Community[]>;
  searchWeb(query: string): Promise<readonly SearchResult[]>;
  searchAgents(query: string): Promise<readonly Agent[]>;
  searchJobs(query: string): Promise<readonly Job[]>;
  /** Any read by name, including the extra operations of a profile. */
  perform(
    operation: OperationName | (string & {}),
    call: { readonly target?: string; readonly input?: JsonObject },
  ): Promise<NetworkRecord | readonly NetworkRecord[]>;
}
