/** What the runtime announces as it happens: for eyes and counters only, never to do the work. */
import { EventEmitter } from "eventemitter3";
import type { JsonObject } from "./json.ts";

interface About {
  /** Ms since the epoch. */
  readonly at: number;
  readonly handle: string;
}

export interface Announcements {
  /** A list or followed object was looked at. */
  poll: About & { readonly source: string; readonly fresh: number; readonly skipped: number };
  /** More came to a list than was read back: what lies between these two ids, listed between these two times, was not read. */
  gap: About & {
    readonly source: string;
    readonly after: string | undefined;
    readonly before: string;
    readonly since: number;
    readonly until: number;
  };
  /** A webhook delivery was worked on. `kind` is the network's word, empty where it has none. */
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
    readonly message?: string;
  };
  /** An intent came to a new state. */
  intent: About & {
    readonly id: string;
    readonly operation: string;
    readonly state: string;
    readonly target?: string;
    /** The beginning of its own words, where it has some: a title, else what it says. */
    readonly words?: string;
    /** All of it, where a person decides on it (`proposed`) or a dry run kept it from leaving. */
    readonly input?: JsonObject;
    readonly code?: string;
    readonly message?: string;
  };
  /** A request came back (or did not). */
  request: About & { readonly operation: string; readonly outcome: string; readonly status?: number; readonly tookMs: number };
  /** A job that is followed came to a new standing. */
  job: About & { readonly job: string; readonly state: string; readonly title?: string };
  /** Something waits: for quota, money, a key, an approval. */
  wait: About & { readonly lane: string; readonly rule: string; readonly until: number; readonly message: string };
  /** Something only a person can mend: a dead key, an action in doubt. */
  parked: About & { readonly code: string; readonly message: string };
  /** The network answers in a shape the profile does not know. */
  drift: About & { readonly operation: string; readonly path: string; readonly kind: string };
  /** A file was loaded again, or could not be. */
  definition: About & { readonly file: string; readonly message: string };
}

export type AnnouncementName = keyof Announcements;

export type Listener = <Name extends AnnouncementName>(name: Name, what: Announcements[Name]) => void;

const NAMES: { readonly [name in AnnouncementName]: true } = {
  poll: true,
  gap: true,
  delivery: true,
  run: true,
  intent: true,
  request: true,
  job: true,
  wait: true,
  parked: true,
  drift: true,
  definition: true,
};

/** Every name there is, in no order. */
export const ANNOUNCEMENT_NAMES = Object.keys(NAMES) as readonly AnnouncementName[];

export type Announcer = EventEmitter<{ [name in AnnouncementName]: (what: Announcements[name]) => void }>;

/** Calls `listener` with each announcement of one name. Answers a function that ends it. */
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
