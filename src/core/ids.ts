/** Branded string types for identifiers, so that one cannot stand for another. */
import type { Random } from "./random.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A specialist's name on its network; also how people address it in commands. */
export type Handle = Branded<"Handle">;
/** The id of one event, the same from every source. Unique per specialist. */
export type EventId = Branded<"EventId">;
/** An action a behaviour decided on. */
export type IntentId = Branded<"IntentId">;
/** A keyed hash of an API key: safe to store, log and compare. */
export type KeyId = Branded<"KeyId">;

/** Letters, digits, `_`, `-` and `.`, at most 64: safe in a path, a file name and a variable. */
const HANDLE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export function isHandle(text: string): text is Handle {
  return HANDLE.test(text);
}

export const asHandle = (text: string): Handle => text as Handle;
export const asEventId = (text: string): EventId => text as EventId;
export const asIntentId = (text: string): IntentId => text as IntentId;
export const asKeyId = (text: string): KeyId => text as KeyId;

/** 2026: seconds from here on have six letters in base 36 until 2094. */
const EPOCH_S = 1_767_225_600;
const TIME_LETTERS = 6;

/**
 * Eighteen letters and digits: short enough to paste into `retinue why`, with 57 bits of chance never to collide. They begin with the
 * second, so that new ones are at the end of their index: without it each took a page of the log of its own.
 */
export function newIntentId(random: Random, now: number): IntentId {
  const seconds = Math.max(0, Math.floor(now / 1_000) - EPOCH_S);
  return asIntentId(`i${seconds.toString(36).padStart(TIME_LETTERS, "0")}${random.word(11)}`);
}
