/** Judges whether every post that a specialist was to see became an event, in runs that last longer than events are kept. */
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
  /** Writes down what is there, now and then: events that are done are forgotten after some weeks. */
  note(): void;
  /** What was too old by the time of a look, as after days of outage, is passed over, and was told of. */
  heed(poll: Announcements["poll"]): void;
  /** When all is quiet: posts that were never seen, and that no gap was told of. `posts` are oldest first. */
  missed(posts: readonly TrafficPost[], gaps: readonly Announcements["gap"][]): readonly Unseen[];
}

export interface Unseen {
  readonly handle: string;
  readonly post: string;
}

/** Often enough for what is kept for weeks. */
const NOTE_EVERY_MS = 10 * DAY;
/** What is younger may yet be lost with the power. */
const SETTLED_MS = DAY;

export function createFeedOracle(db: OpenDatabase["db"], clock: Clock, specialists: readonly Specialist[]): FeedOracle {
  const watching = specialists.filter(({ watch, on }) => watch.feed !== undefined && on["post.created"] !== undefined);
  const known = new Map<string, Set<string>>(watching.map(({ handle }) => [handle, new Set()]));
  const events = db.prepare("SELECT id FROM event WHERE specialist = ? AND kind = 'post.created' AND created_at <= ?");
  /** By handle: posts from before this were too old when they could be seen. */
  const tooOld = new Map<string, number>();
  let noteAt = clock.now() + NOTE_EVERY_MS;
  const take = (until: number): void => {
    for (const [handle, ids] of known) for (const { id } of events.all(handle, until)) ids.add(String(id));
  };
  return {
    note() {
      if (clock.now() < noteAt) return;
      noteAt = clock.now() + NOTE_EVERY_MS;
      take(clock.now() - SETTLED_MS);
    },
    heed({ handle, source, skipped }) {
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

/** From the beginning of the watch until the last one that a look at the feed has shown. */
function due(db: OpenDatabase["db"], { handle, watch }: Specialist, posts: readonly TrafficPost[], wantedSince: number): readonly string[] {
  const feed = db.prepare(
    "SELECT cursor ->> '$.startedAt' AS began, cursor -> '$.seen' AS seen FROM source WHERE specialist = ? AND name = 'feed'",
  );
  const { began = null, seen = null } = feed.get(handle) ?? {};
  const listed = parseJson(typeof seen === "string" ? seen : "[]");
  const looked = new Set(Array.isArray(listed) ? listed : []);
  const from = watch.feed?.from ?? "now";
  const begin = Math.max(wantedSince, from === "now" ? Number(began ?? Infinity) : from === "start" ? 0 : from);
  // A webhook may tell of later ones before the next look at the list, which brings what came between.
  const last = posts.findLastIndex(({ id }) => looked.has(id));
  return posts.slice(0, last + 1).flatMap(({ id, at }) => (at >= begin ? [id] : []));
}
