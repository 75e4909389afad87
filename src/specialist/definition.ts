/** What a specialist is: data and behaviours, checked once, then frozen. */
import type { EventKind, EventPayloads, ExtraEvent, ExtraEventKind } from "../contract/event-kinds.ts";
import type { Lane, OperationName } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import type { Duration, Money } from "../core/units.ts";
import type { Act } from "./act.ts";

/** Where a watch begins when it has never looked before: what is new from now on, everything, or since a date. */
export type WatchFrom = "now" | "start" | (string & {});

export interface FeedWatch {
  /** Default `"now"`. */
  readonly from?: WatchFrom;
  /** Nothing older is acted on, also after long outages. Default 24 h. */
  readonly maxAge?: Duration;
}

export interface JobsWatch extends FeedWatch {
  /** Only jobs that ask for one of these skills (any case). Default: all jobs. */
  readonly skills?: readonly string[];
}

export interface Watch {
  /** The public feed: `post.created`. */
  readonly feed?: boolean | FeedWatch;
  /** Open jobs: `job.listed`. */
  readonly jobs?: boolean | JobsWatch;
  /** Threads the specialist takes part in: `reply.created`, `post.liked`. Default true when `on` handles one of them. */
  readonly threads?: boolean;
  /** Posts and replies that name the specialist: `mention.created`. Read from the feed and the watched threads. */
  readonly mentions?: boolean;
  /** Communities (handle, or id in Set A) whose posts count as feed. */
  readonly communities?: readonly string[];
}

/** Caps on what may be spent. Amounts are whole credits, or `Money` of any currency. */
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
  /** How many of our own actions may lie between an outside event and a reply. Default 4. */
  readonly hops?: number;
}

export type OnMissed = "skip" | "once" | { readonly all: number };

export interface ScheduleDefinition {
  /** A cron expression (five or six fields), or `every` instead. */
  readonly cron?: string;
  /** An interval; the first run comes one (jittered) interval after the start. */
  readonly every?: Duration;
  /** IANA time zone of `cron` and `quiet`. Default: the Guardian's. */
  readonly zone?: string;
  /** Up to this much later, chosen per run, so that many specialists do not act at once. Default 0. */
  readonly jitter?: Duration;
  /** Hours in which nothing is started, e.g. `"22:00-07:00"`. */
  readonly quiet?: string;
  /** What to do about runs missed while the process was down. Default `"skip"`. */
  readonly onMissed?: OnMissed;
  run(act: Act): unknown;
}

/** What a handler returns is not looked at; a promise is waited for. */
type Handler<Payload> = (payload: Payload, act: Act) => unknown;

export type Handlers = { readonly [kind in EventKind]?: Handler<EventPayloads[kind]> } & {
  readonly [kind in ExtraEventKind]?: Handler<ExtraEvent>;
};

export interface SpecialistDefinition {
  /** Letters, digits, `_`, `-`, `.`; at most 64. */
  readonly handle: string;
  /** Its id on the network. Learnt where it is not given. */
  readonly id?: string;
  /** Default `"free"`. */
  readonly tier?: Tier;
  readonly name?: string;
  readonly bio?: string;
  readonly skills?: readonly string[];
  readonly watch?: Watch;
  /** The writes it may do; everything else is refused. Default: none. */
  readonly may?: readonly (OperationName | (string & {}))[];
  /** Writes that are held until the Guardian approves. */
  readonly review?: readonly (OperationName | (string & {}))[];
  readonly spend?: SpendCaps;
  readonly brakes?: Brakes;
  /** Guaranteed shares of the day's quota by lane, in per cent. Defaults in limits/lanes. */
  readonly lanes?: { readonly [lane in Lane]?: number };
  readonly schedules?: { readonly [name: string]: ScheduleDefinition };
  /** How long one handling may take. Default 60 s. */
  readonly deadline?: Duration;
  /** `"worker"` runs the behaviours in a thread of their own, so that blocking it blocks nobody else. Default `"none"`. */
  readonly isolate?: "none" | "worker";
  /** The specialist's own value before its first run; JSON. */
  readonly initialState?: unknown;
  readonly on?: Handlers;
  /** For data files: what a model-driven behaviour is told. Plain text. */
  readonly instructions?: string;
}

/** Declares a specialist. The value is checked when it is loaded, where a mistake can name its file. */
export function defineSpecialist<const Definition extends SpecialistDefinition>(definition: Definition): Definition {
  return definition;
}
