/** What a handler sees: it thinks, reads and decides through `act`; it never sends. */
import type { OperationInput, OperationName } from "../contract/operations.ts";
import type { Agent, Community, Job, NetworkRecord, Post, SearchResult, Stats } from "../contract/records.ts";
import type { Handle, IntentId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import type { Duration } from "../core/units.ts";

/** A decided action: recorded, not sent. Accepted wherever the id of what it will create is. */
export interface IntentRef {
  readonly intent: IntentId;
}

/** An object of the network, its id, or the intent that will create it. */
export type Target = string | { readonly id: string } | IntentRef;

export interface IntentOptions {
  /** Comes back with the receipt. */
  readonly key?: string;
  /** JSON; comes back with the receipt. At most 16 KiB. */
  readonly data?: Json;
  /** Not sent once this much time has passed since it was decided. Default: sent however late, past the deadline of a job too. */
  readonly expiresIn?: Duration;
}

/** Everything a handler can do. Every action returns at once with a reference; what became of it comes back as an event. */
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
  /** Any write by name, also the extra operations of a profile. */
  perform(operation: string, call: { readonly target?: Target; readonly input?: JsonObject }, options?: IntentOptions): IntentRef;

  readonly read: Reads;

  /**
   * Runs `work` once per event, however often the handler is run again, and stores what it returns.
   * Throws `Refused` when a name is used twice or the value is no JSON of at most 256 KiB.
   */
  step<Value extends Json>(name: string, work: (signal: AbortSignal) => Value | Promise<Value>): Promise<Value>;

  /** When this handling first began, in ms since the epoch: the same on every re-run. */
  readonly now: number;
  /** A number in [0, 1), the same sequence on every re-run. */
  random(): number;
  /** For models and other services, never for the network. Aborted with the run; wrap it in `step`. */
  readonly fetch: typeof globalThis.fetch;
  /** The specialist's own value, stored when the handler returns. At most 256 KiB of JSON. */
  state: JsonObject;
  readonly log: Logger;
  /** Aborted when the deadline passes or the runtime stops. */
  readonly signal: AbortSignal;
  readonly me: { readonly handle: Handle; readonly id: string | undefined };
}

type Page = { readonly limit?: number; readonly cursor?: string };

/** Reads, charged to the quota and stored with the run; one that cannot be afforded now suspends the run. */
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
  /** Any read by name, also the extra operations of a profile. */
  perform(
    operation: OperationName | (string & {}),
    call: { readonly target?: string; readonly input?: JsonObject },
  ): Promise<NetworkRecord | readonly NetworkRecord[]>;
}
