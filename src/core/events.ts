/** Announcements of the runtime, for display and counters only, never to trigger work. */
import { EventEmitter } from "eventemitter3";
import type { JsonObject } from "./json.ts";

interface About {
  /** Ms since the epoch. */
  readonly at: number;
  readonly handle: string;
}

/** The payload of each announcement, by its name. Times are in ms since the epoch. */
export interface Announcements {
  /** A list or a watched object was polled. */
  poll: About & { readonly source: string; readonly fresh: number; readonly skipped: number };
  /** A list received more items than were read back: those between these two ids, listed between these two times, were not read. */
  gap: About & {
    readonly source: string;
    readonly after: string | undefined;
    readonly before: string;
    readonly since: number;
    readonly until: number;
  };
  /** A webhook delivery was processed. `kind` is the network's word, empty if it has none. */
  delivery: About & {
    readonly kind: string;
    readonly state: "done" | "unhandled" | "parked";
    readonly fresh: number;
    readonly message?: string;
  };
  /** A handler ended. */
  run: About & {
    readonly event: string;
    readonly kind: string;
    readonly result: "finished" | "suspended" | "failed" | "parked";
    readonly intents: number;
    /** Number of the event in the store. */
    readonly seq: number;
    /** Start of the event's first handling, and of this one. */
    readonly beganAt: number;
    readonly startedAt: number;
    readonly message?: string;
    /** For a failed handling: the number of failures, the place in the definition, and the time of the next try. */
    readonly tries?: number;
    readonly file?: string;
    readonly line?: number;
    readonly nextAt?: number;
  };
  /** A step, a read or a call of a tool was stored. */
  step: About & { readonly event: string; readonly step: string; readonly startedAt: number };
  /** An intent changed its state. */
  intent: About & {
    readonly id: string;
    readonly operation: string;
    readonly state: string;
    readonly target?: string;
    /** The beginning of its text, if it has one: the title, else the content. */
    readonly words?: string;
    /** The complete input, if a person decides on it (`proposed`) or a dry run withheld it. */
    readonly input?: JsonObject;
    readonly code?: string;
    readonly message?: string;
  };
  /** A request completed, with or without an answer. */
  request: About & {
    readonly operation: string;
    readonly lane: string;
    readonly outcome: string;
    readonly status?: number;
    readonly tookMs: number;
    /** Time until it was admitted: the wait for a free socket, and for its row. */
    readonly admissionMs: number;
    /** The action it was sent for, and the number of the event that led to it. */
    readonly intent?: string;
    readonly eventSeq?: number;
    /** The event whose handler asked. */
    readonly event?: string;
  };
  /** A watched job changed its state. */
  job: About & { readonly job: string; readonly state: string; readonly title?: string; readonly reason?: string };
  /** Work waits: for quota, money, a key or an approval. */
  wait: About & { readonly lane: string; readonly rule: string; readonly until: number; readonly message: string };
  /** A condition that only a person can resolve: a dead key, an action in doubt. */
  parked: About & { readonly code: string; readonly message: string };
  /** The network's answer has a shape that the profile does not know. */
  drift: About & { readonly operation: string; readonly path: string; readonly kind: string };
  /** The Guardian gave an order; `handle` is empty if it names no specialist. `code`: it was not carried out. */
  order: About & { readonly what: string; readonly who: string; readonly subject?: string; readonly code?: string };
  /** A file was reloaded, or could not be. */
  definition: About & { readonly file: string; readonly message: string };
}

/** The name of an announcement. */
export type AnnouncementName = keyof Announcements;

export type Listener = <Name extends AnnouncementName>(name: Name, what: Announcements[Name]) => void;

const NAMES: { readonly [name in AnnouncementName]: true } = {
  poll: true,
  gap: true,
  delivery: true,
  run: true,
  step: true,
  intent: true,
  request: true,
  job: true,
  wait: true,
  parked: true,
  drift: true,
  order: true,
  definition: true,
};

/** All names, in no particular order. */
export const ANNOUNCEMENT_NAMES = Object.keys(NAMES) as readonly AnnouncementName[];

/** An event emitter of announcements. A listener that throws does not reach the runtime. */
export type Announcer = EventEmitter<{ [name in AnnouncementName]: (what: Announcements[name]) => void }>;

/** Calls `listener` with each announcement of one name. Returns the function that ends it. */
export function subscribe<Name extends AnnouncementName>(
  announcer: Announcer,
  name: Name,
  listener: (what: Announcements[Name]) => void,
): () => void {
  // The emitter's types do not follow a name that is itself a type parameter.
  const listening = listener as (what: Announcements["poll"]) => void;
  announcer.on(name as "poll", listening);
  return () => void announcer.off(name as "poll", listening);
}

export function createAnnouncer(): Announcer {
  return new EventEmitter();
}
