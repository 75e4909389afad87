/** Checks that every post a specialist should see became an event, in runs that last longer than events are kept. */
import type { Clock } from "../core/clock.ts";
import type { Announcements } from "../core/events.ts";
import { parseJson } from "../core/json.ts";
import { DAY } from "../core/units.ts";
import { AGREED_SKEW_MS } from "../limits/ledger-clock.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";
import type { TrafficPost } from "./background-traffic.ts";
import { liesIn } from "./oracle-gaps.ts";

export interface FeedOracle {
  /** Records the events on disk now and then, because done events are pruned after some weeks. */
  note(): void;
  /** Records that a poll reported posts as too old, for instance after days of outage. */
  recordPoll(poll: Announcements["poll"]): void;
  /** Returns posts that never became an event and lie in no reported gap, once all is quiet. `posts` are oldest first. */
  missed(posts: readonly TrafficPost[], gaps: readonly Announcements["gap"][]): readonly Unseen[];
}

export interface Unseen {
  readonly handle: string;
  readonly post: string;
}

/** Far shorter than the weeks for which events are kept. */
const NOTE_EVERY_MS = 10 * DAY;
/** Younger rows may still be lost in a power cut. */
const DURABLE_MS = DAY;

export function createFeedOracle(db: OpenDatabase["db"], clock: Clock, specialists: readonly Specialist[]): FeedOracle {
  const watching = specialists.filter(({ watch, on }) => watch.feed !== undefined && on["post.created"] !== undefined);
  const known = new Map<string, Set<string>>(watching.map(({ handle }) => [handle, new Set()]));
  const events = db.prepare("SELECT id FROM event WHERE specialist = ? AND kind = 'post.created' AND created_at <= ?");
  /** By handle: posts from before this time were too old when they became visible. */
  const tooOld = new Map<string, number>();
  let noteAt = clock.now() + NOTE_EVERY_MS;
  const take = (until: number): void => {
    for (const [handle, ids] of known) for (const { id } of events.all(handle, until)) ids.add(String(id));
  };
  return {
    note() {
      if (clock.now() < noteAt) return;
      noteAt = clock.now() + NOTE_EVERY_MS;
      take(clock.now() - DURABLE_MS);
    },
    recordPoll({ handle, source, skipped }) {
      const maxAgeMs = specialists.find((one) => one.handle === handle)?.watch.feed?.maxAgeMs;
      if (source === "feed" && skipped > 0 && maxAgeMs !== undefined) tooOld.set(handle, clock.now() - maxAgeMs + AGREED_SKEW_MS);
    },
    missed(posts, gaps) {
      take(Infinity);
      return watching.flatMap((specialist) =>
        due(db, specialist, posts, tooOld.get(specialist.handle) ?? 0)
          .filter((post) => known.get(specialist.handle)?.has(`post.created:${post}`) === false)
          .filter((post) => !gaps.some((gap) => gap.handle === specialist.handle && gap.source === "feed" && liesIn(post, gap)))
          .map((post) => ({ handle: specialist.handle, post })),
      );
    },
  };
}

/** Returns the posts from the start of the watch to the last one that a poll of the feed showed. */
function due(db: OpenDatabase["db"], { handle, watch }: Specialist, posts: readonly TrafficPost[], wantedSince: number): readonly string[] {
  const feed = db.prepare(
    "SELECT cursor ->> '$.startedAt' AS began, cursor -> '$.seen' AS seen FROM source WHERE specialist = ? AND name = 'feed'",
  );
  const { began = null, seen = null } = feed.get(handle) ?? {};
  const listed = parseJson(typeof seen === "string" ? seen : "[]");
  const listedIds = new Set(Array.isArray(listed) ? listed : []);
  const from = watch.feed?.from ?? "now";
  const begin = Math.max(wantedSince, from === "now" ? Number(began ?? Infinity) : from === "start" ? 0 : from);
  // A webhook may report later posts before the next poll of the list, which brings those in between.
  const last = posts.findLastIndex(({ id }) => listedIds.has(id));
  return posts.slice(0, last + 1).flatMap(({ id, at }) => (at >= begin ? [id] : []));
}
