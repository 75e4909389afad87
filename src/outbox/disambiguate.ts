/** Decides which of several similar intents a visible effect belongs to. Pure. */
import type { NetworkRecord } from "../contract/records.ts";
import { MINUTE } from "../core/units.ts";
import { dateOf } from "./sent-at.ts";
import { UNDATED } from "./intent.ts";
import { findSame, type Myself } from "./read-back.ts";
import type { SimilarIntent, SimilarIntents, Requests } from "../store/outbox.ts";

/** Times this close by the network's clock count as equal: its servers may differ, and a request may take effect late. */
const AT_ONCE_MS = 15 * MINUTE;

/** The records read to find an effect. */
export interface VisibleEffect {
  readonly records: readonly NetworkRecord[];
  /** True if nothing is left out. For a list: back to the sending. */
  readonly complete: boolean;
  readonly list: boolean;
}

/** Candidates for the intent's effect, and the similar intent that may own them instead, if there are too few for both. */
export interface Disambiguation {
  readonly refs: readonly string[];
  readonly otherIntent: SimilarIntent | undefined;
}

/**
 * Separates an intent's effects from those of similar intents with the same text. An ambiguous one has an unknown effect: it was given up
 * in doubt, or is done without an id of the created object, or with an id that nothing has.
 *
 * Requests about one object leave one after the other, each once the previous one is resolved. So the known effect of one intent shows, by
 * the network's clock, which objects are too old or too new for another.
 */
export function disambiguate(found: readonly string[], { own, others }: SimilarIntents, shown: VisibleEffect, me: Myself): Disambiguation {
  const times = timesIn(shown.records);
  const candidates = others.filter((other) => isCandidate(other, found, times, shown, me));
  if (candidates.length === 0) return { refs: found, otherIntent: undefined };
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
  // A pending action of another, which a person on the network's side must still allow, may take effect at any time.
  const able = candidates.filter(({ intent, requests }) => refs.some((ref) => intent.state === "pending" || fits(ref, requests)));
  return able.length < refs.length ? { refs: ownFirst(refs, own, able, times), otherIntent: undefined } : { refs, otherIntent: able[0] };
}

/**
 * If there is one effect for each, their order is that of the sending. Taking another's effect for one's own would date it wrongly, and a
 * later action would count as done because that effect seems unclaimed.
 */
function ownFirst(
  refs: readonly string[],
  own: Requests | undefined,
  candidates: readonly SimilarIntent[],
  times: ReadonlyMap<string, number | undefined>,
): readonly string[] {
  if (own === undefined || candidates.length === 0 || refs.some((ref) => times.get(ref) === undefined)) return refs;
  const earlier = candidates.filter(({ requests }) => requests === undefined || requests.last < own.first).length;
  const inOrder = refs.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0));
  const mine = inOrder[earlier];
  return mine === undefined ? refs : [mine, ...inOrder.filter((ref) => ref !== mine)];
}

/** Ids of all shown objects, with their times if stated. */
function timesIn(records: readonly NetworkRecord[]): ReadonlyMap<string, number | undefined> {
  const times = new Map<string, number | undefined>();
  for (const record of records) {
    if ("id" in record && record.id !== undefined) times.set(record.id, "createdAtMs" in record ? record.createdAtMs : undefined);
    if (record.kind === "post") for (const { id, createdAtMs } of record.replies ?? []) times.set(id, createdAtMs);
  }
  return times;
}

function isCandidate(
  { intent }: SimilarIntent,
  found: readonly string[],
  times: ReadonlyMap<string, number | undefined>,
  { records, complete, list }: VisibleEffect,
  me: Myself,
): boolean {
  const { createdRef } = intent;
  if (createdRef !== undefined && (!complete || times.has(createdRef))) return false;
  const oldest = [...times.values()].reduce<number>((least, at) => Math.min(least, at ?? least), Infinity);
  // An intent older than the list has no effect in it.
  const since = dateOf(intent);
  if (list && oldest !== Infinity && since !== UNDATED && since < oldest) return false;
  return findSame(intent, records, me).some((ref) => found.includes(ref));
}
