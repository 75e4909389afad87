/** Brakes on conversation: pure rules over a small window of what the specialist lately did and read. */
import { DAY, HOUR, durationMs, type Duration } from "../core/units.ts";

/** As a definition states them; what is left out has the defaults below. */
export interface BrakeSettings {
  readonly repliesPerThread?: number;
  readonly repliesPerAuthorPerHour?: number;
  readonly repliesPerHour?: number;
  readonly sameTextWithin?: Duration;
  readonly hops?: number;
}

export const DEFAULT_BRAKES = {
  repliesPerThread: 5,
  repliesPerAuthorPerHour: 10,
  repliesPerHour: 60,
  sameTextWithinMs: DAY,
  hops: 4,
} as const;

/** Two who only answer each other this often, with nobody else in between, talk in circles. */
export const CIRCLE_TURNS = 6;
/** Turns of one thread looked at for circles. */
export const MAX_TURNS = 32;
/** Own texts looked at for repetition. */
export const MAX_PAST = 256;

/** Something of the specialist's own that was sent or is on its way. */
export interface PastText {
  readonly at: number;
  readonly reply: boolean;
  readonly thread?: string;
  /** Whom it answers. */
  readonly author?: string;
  readonly textHash?: string;
}

/** What is about to be said, and what is known around it. */
export interface Utterance {
  readonly reply: boolean;
  readonly thread?: string;
  readonly author?: string;
  readonly textHash?: string;
  /** How many of our own actions lie between an outside event and this. */
  readonly hops: number;
  /** Our own author id; unknown means no replies at all. */
  readonly self: string | undefined;
  /** Own texts, newest first, at most {@link MAX_PAST}. */
  readonly past: readonly PastText[];
  /** Authors of the thread's turns, oldest first, at most {@link MAX_TURNS}. */
  readonly turns: readonly string[];
}

export type Braked =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "brake_hour"; readonly message: string; readonly until: number; readonly since: number }
  | { readonly ok: false; readonly code: BrakeCode; readonly message: string };

export type BrakeCode =
  | "brake_self"
  | "brake_self_unknown"
  | "brake_thread"
  | "brake_author"
  | "brake_same_text"
  | "brake_hops"
  | "brake_circle";

/** Whether it may be said. Only the hourly cap passes by waiting; the others refuse. */
export function braked(said: Utterance, settings: BrakeSettings, now: number): Braked {
  const within = settings.sameTextWithin === undefined ? DEFAULT_BRAKES.sameTextWithinMs : durationMs(settings.sameTextWithin);
  if (said.textHash !== undefined && said.past.some((past) => past.textHash === said.textHash && past.at > now - within))
    return no("brake_same_text", "the same text was sent a short while ago");
  const hops = settings.hops ?? DEFAULT_BRAKES.hops;
  if (said.hops > hops) return no("brake_hops", `${said.hops} of our own actions led to this one; at most ${hops} may`);
  return said.reply ? replyBraked(said, settings, now) : { ok: true };
}

function replyBraked(said: Utterance, settings: BrakeSettings, now: number): Braked {
  if (said.self === undefined)
    return no("brake_self_unknown", "our own author id is not known yet, so answering ourselves cannot be ruled out");
  if (said.author === said.self) return no("brake_self", "a specialist does not answer itself");
  const replies = said.past.filter((past) => past.reply);
  const perThread = settings.repliesPerThread ?? DEFAULT_BRAKES.repliesPerThread;
  if (said.thread !== undefined && countOf(replies, (past) => past.thread === said.thread) >= perThread)
    return no("brake_thread", `${perThread} replies in this thread are the most`);
  if (said.author !== undefined && inCircles(said.turns, said.self, said.author))
    return no("brake_circle", `${CIRCLE_TURNS} turns in a row between the same two`);
  const lastHour = replies.filter((past) => past.at > now - HOUR);
  const perAuthor = settings.repliesPerAuthorPerHour ?? DEFAULT_BRAKES.repliesPerAuthorPerHour;
  if (said.author !== undefined && countOf(lastHour, (past) => past.author === said.author) >= perAuthor)
    return no("brake_author", `${perAuthor} replies an hour to one author are the most`);
  const perHour = settings.repliesPerHour ?? DEFAULT_BRAKES.repliesPerHour;
  const oldest = lastHour[perHour - 1];
  if (perHour === 0) return no("brake_thread", "replies are switched off: repliesPerHour is 0");
  if (oldest !== undefined)
    return {
      ok: false,
      code: "brake_hour",
      message: `${perHour} replies an hour are the most`,
      since: lastHour[0]?.at ?? now,
      until: oldest.at + HOUR,
    };
  return { ok: true };
}

/** The last turns are ours and theirs in turn, with nobody else between. */
function inCircles(turns: readonly string[], self: string, other: string): boolean {
  const last = turns.slice(-CIRCLE_TURNS);
  if (last.length < CIRCLE_TURNS) return false;
  return last.every((author, i) => (author === self || author === other) && author !== last[i - 1]);
}

function countOf<Item>(items: readonly Item[], is: (item: Item) => boolean): number {
  let count = 0;
  for (const item of items) if (is(item)) count++;
  return count;
}

function no(code: BrakeCode, message: string): Braked {
  return { ok: false, code, message };
}
