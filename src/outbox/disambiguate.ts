/** Several actions of ours in the same words about the same: which of them what was found may be. Pure. */
import type { NetworkRecord } from "../contract/records.ts";
import { MINUTE } from "../core/units.ts";
import { dateOf } from "./sent-at.ts";
import { UNDATED } from "./intent.ts";
import { findSame, type Myself } from "./read-back.ts";
import type { SimilarIntent, SimilarIntents, Requests } from "../store/outbox.ts";

/** So much earlier or later by the network's own clock may be at once: its servers may differ, and what is sent may land late. */
const AT_ONCE_MS = 15 * MINUTE;

/** What was read to see whether something happened. */
export interface VisibleEffect {
  readonly records: readonly NetworkRecord[];
  /** Whether nothing is left out. Of a list: back to the sending. */
  readonly complete: boolean;
  readonly list: boolean;
}

/** What of it the action can have brought about, and the other that may have done so instead, where no more is there than others can have done. */
export interface Disambiguation {
  readonly refs: readonly string[];
  readonly rival: SimilarIntent | undefined;
}

/**
 * Tells what was found of an action from what others did that said the same. A rival is one of which nobody knows what it
 * brought about: given up in doubt, done without a word of what came to be, or with an id that nothing goes by.
 *
 * Requests about one object leave one after the other, each once the one before is settled. So what another is known to have
 * done shows, by the network's clock, what is older or newer than an action can have been.
 */
export function disambiguate(found: readonly string[], { own, others }: SimilarIntents, shown: VisibleEffect, me: Myself): Disambiguation {
  const times = timesIn(shown.records);
  const rivals = others.filter((other) => isRival(other, found, times, shown, me));
  if (rivals.length === 0) return { refs: found, rival: undefined };
  const known = others.flatMap(({ intent, requests }) => {
    const at = intent.createdRef === undefined ? undefined : times.get(intent.createdRef);
    return at === undefined || requests === undefined ? [] : [{ requests, at }];
  });
  const fits = (ref: string, by: Requests | undefined): boolean => {
    const at = times.get(ref);
    if (at === undefined || by === undefined) return true;
    return known.every(
      (other) =>
        (other.requests.last > by.first || at > other.at - AT_ONCE_MS) && (other.requests.first < by.last || at < other.at + AT_ONCE_MS),
    );
  };
  const refs = found.filter((ref) => fits(ref, own));
  // What a person on the network's side has still to allow may come to be at any time.
  const able = rivals.filter(({ intent, requests }) => refs.some((ref) => intent.state === "pending" || fits(ref, requests)));
  return able.length < refs.length ? { refs: ownFirst(refs, own, able, times), rival: undefined } : { refs, rival: able[0] };
}

/**
 * Where there is one for each, what they did lies in the order in which they were sent. To take another's for one's own would date
 * it wrongly, and some later action would be taken for done since it seems to be nobody else's.
 */
function ownFirst(
  refs: readonly string[],
  own: Requests | undefined,
  rivals: readonly SimilarIntent[],
  times: ReadonlyMap<string, number | undefined>,
): readonly string[] {
  if (own === undefined || rivals.length === 0 || refs.some((ref) => times.get(ref) === undefined)) return refs;
  const earlier = rivals.filter(({ requests }) => requests === undefined || requests.last < own.first).length;
  const inOrder = refs.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0));
  const mine = inOrder[earlier];
  return mine === undefined ? refs : [mine, ...inOrder.filter((ref) => ref !== mine)];
}

/** Ids of all that is shown, with their times where these are told. */
function timesIn(records: readonly NetworkRecord[]): ReadonlyMap<string, number | undefined> {
  const times = new Map<string, number | undefined>();
  for (const record of records) {
    if ("id" in record && record.id !== undefined) times.set(record.id, "createdAtMs" in record ? record.createdAtMs : undefined);
    if (record.kind === "post") for (const { id, createdAtMs } of record.replies ?? []) times.set(id, createdAtMs);
  }
  return times;
}

function isRival(
  { intent }: SimilarIntent,
  found: readonly string[],
  times: ReadonlyMap<string, number | undefined>,
  { records, complete, list }: VisibleEffect,
  me: Myself,
): boolean {
  const { createdRef } = intent;
  if (createdRef !== undefined && (!complete || times.has(createdRef))) return false;
  const oldest = [...times.values()].reduce<number>((least, at) => Math.min(least, at ?? least), Infinity);
  // What is older than a list is not among what was found there.
  const since = dateOf(intent);
  if (list && oldest !== Infinity && since !== UNDATED && since < oldest) return false;
  return findSame(intent, records, me).some((ref) => found.includes(ref));
}
