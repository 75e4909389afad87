/** Everything known here of one object of the network: events about it, actions on it, and its watch. */
import { WATCH_KINDS } from "../contract/event.ts";
import { EVENT_KINDS } from "../contract/event-kinds.ts";
import type { Intent } from "../outbox/intent.ts";
import type { WatchRow } from "../store/sources.ts";
import type { Explanation } from "./explanation.ts";
import { explainEvent } from "./failures.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import type { Store } from "../store/store.ts";

const MAX_FOUND = 50;

/** Undefined if nothing is about it. */
export async function explainObject(
  { store, clock, parts }: { readonly store: Store; readonly clock: Clock; readonly parts?: { readonly profile: Profile } },
  object: string,
  explainIntent: (intent: Intent) => Promise<Explanation>,
): Promise<Explanation | undefined> {
  const kinds = [...EVENT_KINDS, ...Object.values(parts?.profile.webhooks.kinds ?? {})];
  const intents = await store.reads.intents({ object, limit: MAX_FOUND });
  const events = await store.reads.eventsAbout([object, ...intents.map(({ id }) => id)], [...new Set(kinds)], MAX_FOUND);
  const watches = (
    await Promise.all(
      (await store.reads.handles()).flatMap((handle) =>
        WATCH_KINDS.map(async (kind) => {
          const row = await store.findWatch(handle, kind, object);
          return row === undefined ? [] : [watchShown(handle, row, clock.now())];
        }),
      ),
    )
  ).flat();
  const found = [
    ...watches,
    ...(await Promise.all(intents.map(explainIntent))),
    ...events.map((event) => explainEvent(event, `${event.id} --as ${event.specialist}`)),
  ];
  if (found.length === 0) return undefined;
  return {
    id: object,
    about: "object",
    handle: "",
    what: watches[0]?.what ?? "object",
    state: watches[0]?.state ?? "known",
    since: Math.min(...found.map(({ since }) => since)),
    reasons: [],
    found: found.slice(0, MAX_FOUND),
  };
}

function watchShown(handle: string, { kind, object, state, dueAt, data }: WatchRow, now: number): Explanation {
  const { followedAt } = data;
  return {
    id: object,
    about: "watch",
    handle,
    what: kind.replace("_", " "),
    state,
    since: typeof followedAt === "number" ? followedAt : now,
    reasons: dueAt === null ? [] : [{ rule: "followed", message: "it is followed, and checked again", until: dueAt }],
  };
}
