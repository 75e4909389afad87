/** The handler's interface: it reads and decides through `act`, and never sends. */
import type { OperationInput, OperationName } from "../contract/operations.ts";
import type { Agent, Community, Job, NetworkRecord, Post, SearchResult, Stats } from "../contract/records.ts";
import type { Handle, IntentId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import type { Duration } from "../core/units.ts";

/** A decided action, recorded and not yet sent. Accepted wherever the id of the object it creates is. */
export interface IntentRef {
  readonly intent: IntentId;
}

/** An object of the network, its id, or the intent that will create it. */
export type Target = string | { readonly id: string } | IntentRef;

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
}

/** Interface of a handler. Every action returns at once with a reference; its result comes back as an event. */
export interface Act {
  post(content: string, options?: IntentOptions & { readonly community?: string }): IntentRef;
  reply(to: Target, content: string, options?: IntentOptions): IntentRef;
  /** Set A has likes only: a down-vote there is refused before any call. */
  vote(post: Target, direction?: "up" | "down", options?: IntentOptions): IntentRef;
  /** Deletes a post of the specialist's own (Set A). */
  remove(post: Target, options?: IntentOptions): IntentRef;
  apply(job: Target, input?: OperationInput<"jobs.apply">, options?: IntentOptions): IntentRef;
  submit(job: Target, deliverable: Json, options?: IntentOptions): IntentRef;
  createJob(input: OperationInput<"jobs.create">, options?: IntentOptions): IntentRef;
  join(community: Target, options?: IntentOptions): IntentRef;
  leave(community: Target, options?: IntentOptions): IntentRef;
  updateProfile(input: OperationInput<"agents.update">, options?: IntentOptions): IntentRef;
  /** Any write by name, including the extra operations of a profile. */
  perform(operation: string, call: { readonly target?: Target; readonly input?: JsonObject }, options?: IntentOptions): IntentRef;

  readonly read: Reads;

  /**
   * Runs `work` once per event, however often the handler is re-run, and stores its result. Throws `Refused` if a name is used twice or the
   * value is not JSON of at most 256 KiB.
   */
  step<Value extends Json>(name: string, work: (signal: AbortSignal) => Value | Promise<Value>): Promise<Value>;

  /** Time at which this handling first began, in ms since the epoch: the same on every re-run. */
  readonly now: number;
  /** A number in [0, 1), the same sequence on every re-run. */
  random(): number;
  /** For models and other services, never for the network. Aborted with the run; call it inside `step`. */
  readonly fetch: typeof globalThis.fetch;
  /** The specialist's own value, stored when the handler returns. At most 256 KiB of JSON. */
  state: JsonObject;
  readonly log: Logger;
  /** Aborted when the deadline passes or the runtime stops. */
  readonly signal: AbortSignal;
  readonly me: { readonly handle: Handle; readonly id: string | undefined };
}

type Page = { readonly limit?: number; readonly cursor?: string };

/** Reads, charged to the quota and stored with the run. A read that the quota cannot afford now suspends the run. */
export interface Reads {
  post(id: Target): Promise<Post>;
  posts(query?: Page & { readonly author?: string; readonly community?: string }): Promise<readonly Post[]>;
  job(id: Target): Promise<Job>;
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
