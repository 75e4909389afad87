/** The definition of a specialist: data and behaviours, checked once, then frozen. */
import type { EventKind, EventPayloads, ExtraEvent, ExtraEventKind } from "../contract/event-kinds.ts";
import type { Lane, OperationName, WriteName } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import type { Duration, Money } from "../core/units.ts";
import type { IfJson, Json, JsonObject } from "../core/json.ts";
import type { Act, ActFor, OnPileUp } from "./act.ts";

/** Start of a new watch: new items from now on, all items, or those since a date. */
export type WatchFrom = "now" | "start" | (string & {});

/** The begin of a watched list, and the age that an item may have. */
export interface FeedWatch {
  /** Default `"now"`. */
  readonly from?: WatchFrom;
  /** Older items are ignored, even after long outages. Default 24 h. */
  readonly maxAge?: Duration;
}

/** The jobs that a specialist watches: by skill, how far back it begins, how old an offer may be. */
export interface JobsWatch extends FeedWatch {
  /** Only jobs that ask for one of these skills (any case). Default: all jobs. */
  readonly skills?: readonly string[];
}

/** The lists and threads that lead to events. A list that is not named is not polled. */
export interface Watch {
  /** The public feed: `post.created`. */
  readonly feed?: boolean | FeedWatch;
  /** Open jobs: `job.listed`. */
  readonly jobs?: boolean | JobsWatch;
  /** Threads in which the specialist takes part: `reply.created`, `post.liked`. Default true if `on` handles one of them. */
  readonly threads?: boolean;
  /** Posts and replies that name the specialist: `mention.created`. Read from the feed and the watched threads. */
  readonly mentions?: boolean;
  /** Communities (handle, or id in Set A) whose posts count as feed. */
  readonly communities?: readonly string[];
}

/** Caps on spending. Amounts are whole credits, or `Money` of any currency. */
export interface SpendCaps {
  readonly perAction?: Money | readonly Money[];
  readonly perHour?: Money | readonly Money[];
  readonly perDay?: Money | readonly Money[];
  readonly perMonth?: Money | readonly Money[];
  readonly total?: Money | readonly Money[];
}

/** Limits on conversation, so that two bots never answer each other for ever. */
export interface Brakes {
  /** Own replies in one thread. Default 5. */
  readonly repliesPerThread?: number;
  /** Own replies to one author in any hour. Default 10. */
  readonly repliesPerAuthorPerHour?: number;
  /** Own replies in any hour. Default 60. */
  readonly repliesPerHour?: number;
  /** The same text again within this time is refused. Default 24 h. */
  readonly sameTextWithin?: Duration;
  /** Most of our own actions between an outside event and a reply. Default 4. */
  readonly hops?: number;
}

/** The fate of schedule runs that were missed while nothing ran: run each, run one, or skip them. */
export type OnMissed = "skip" | "once" | { readonly all: number };

/** A time that repeats, as a cron expression or an interval, and the function that runs then. */
export interface ScheduleDefinition<A = Act> {
  /** A cron expression (five or six fields); `every` is the alternative. */
  readonly cron?: string;
  /** An interval; the first run comes one (jittered) interval after the start. */
  readonly every?: Duration;
  /** IANA time zone of `cron` and `quiet`. Default: the Guardian's. */
  readonly zone?: string;
  /** Longest random delay of a run, so that many specialists do not act at once. Default 0. */
  readonly jitter?: Duration;
  /** Hours in which no run starts, for example `"22:00-07:00"`. */
  readonly quiet?: string;
  /** Policy for runs missed while the process was down. Default `"skip"`. */
  readonly onMissed?: OnMissed;
  /** `expiresIn` of its actions that state none: after an outage or a used-up quota, a post of days ago is not sent. Default: never. */
  readonly expiresIn?: Duration;
  /** `onPileUp` of its actions that state none. Default `"keep"`. */
  readonly onPileUp?: OnPileUp;
  run(act: A): unknown;
}

/** The result of a handler is ignored; a promise is awaited. */
type Handler<Payload, A> = (payload: Payload, act: A) => unknown;

/** One function for each kind of event. It decides through `act`, and its return value is not used. */
export type Handlers<A = Act> = { readonly [kind in EventKind]?: Handler<EventPayloads[kind], A> } & {
  readonly [kind in ExtraEventKind]?: Handler<ExtraEvent, A>;
};

/** A tool of an MCP server that the config file names: `weather/forecast`. */
export type ToolName = `${string}/${string}`;

/** A specialist as a user writes it: data and behaviours. Every field but `handle` has a default. */
export interface SpecialistDefinition {
  /** Letters, digits, `_`, `-`, `.`; at most 64. */
  readonly handle: string;
  /** Its id on the network. Learnt from the network if not given. */
  readonly id?: string;
  /** Default `"free"`. */
  readonly tier?: Tier;
  readonly name?: string;
  readonly bio?: string;
  readonly skills?: readonly string[];
  readonly watch?: Watch;
  /** The permitted writes; every other one is refused. Default: none. */
  readonly may?: readonly (OperationName | (string & {}))[];
  /** Writes that wait until the Guardian approves. */
  readonly review?: readonly (OperationName | (string & {}))[];
  /** The permitted tools of MCP servers, each `server/tool`; the servers are in the config file. Default: none. */
  readonly tools?: readonly ToolName[];
  readonly spend?: SpendCaps;
  readonly brakes?: Brakes;
  /** Environment variables whose values are secrets, such as `["OPENAI_API_KEY"]`: they are taken out of all that is stored or shown. */
  readonly secrets?: readonly string[];
  /** Guaranteed shares of the day's quota by lane, in per cent. Defaults in `limits/lanes.ts`. */
  readonly lanes?: { readonly [lane in Lane]?: number };
  readonly schedules?: { readonly [name: string]: ScheduleDefinition };
  /** Time limit of one handling. Default 60 s. */
  readonly deadline?: Duration;
  /**
   * Handlings of each kind of event that may run at once, for all kinds or by kind; 1 to 64. Those above 1 may not write `act.state`, which
   * has one writer. Default 1: all handlings of the specialist run one after the other.
   */
  readonly concurrency?: number | { readonly [kind in EventKind | ExtraEventKind | `schedule:${string}`]?: number };
  /** `"worker"` runs the behaviours in a thread of their own, where blocking affects no other specialist. Default `"none"`. */
  readonly isolate?: "none" | "worker";
  /** The specialist's own value before its first run; JSON. */
  readonly initialState?: unknown;
  readonly on?: Handlers;
  /** Instructions for a model-driven behaviour, for data files. Plain text. */
  readonly instructions?: string;
}

/**
 * The operations that profiles add, for `may`. Declare yours once:
 * `declare module "retinue" { interface ExtraOperations { "posts.pin": true } }`.
 */
export interface ExtraOperations {}

/** The words of `may`: every write of the interface, and the declared ones of profiles. */
export type MayName = WriteName | keyof ExtraOperations;

/** The state of a definition: an empty list and `null`, which say nothing of what comes, are of any JSON. */
export type StateOf<State> = {
  [Name in keyof State]: [State[Name]] extends [readonly never[]] ? readonly Json[] : [State[Name]] extends [null] ? Json : State[Name];
};

/** A definition whose handlers get the actions of its `may` only, and a state of the type of its `initialState`. */
export type TypedDefinition<May extends MayName, State extends object, Tool extends ToolName = never> = Omit<
  SpecialistDefinition,
  "may" | "review" | "tools" | "initialState" | "on" | "schedules"
> & {
  /** The permitted writes; every other one is refused. Default: none. */
  readonly may?: readonly May[];
  /** Writes of `may` that wait until the Guardian approves. */
  readonly review?: readonly NoInfer<May>[];
  /** The permitted tools of MCP servers, each `server/tool`; the servers are in the config file. Default: none. */
  readonly tools?: readonly Tool[];
  /** The specialist's own value before its first run; JSON. Its type is that of `act.state`. */
  readonly initialState?: State & IfJson<State>;
  readonly on?: Handlers<ActFor<NoInfer<May>, StateOf<NoInfer<State>>, NoInfer<Tool>>>;
  readonly schedules?: { readonly [name: string]: ScheduleDefinition<ActFor<NoInfer<May>, StateOf<NoInfer<State>>, NoInfer<Tool>>> };
};

/** Declares a specialist. The value is checked when it is loaded, so that an error can name its file. */
export function defineSpecialist<May extends MayName = never, State extends object = JsonObject, Tool extends ToolName = never>(
  definition: TypedDefinition<May, State, Tool>,
): SpecialistDefinition;
export function defineSpecialist(definition: object): object {
  return definition;
}
