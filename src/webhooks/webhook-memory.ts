/** The webhooks' state in memory: after a restart lists and threads are read anyway. */
import type { Post } from "../contract/records.ts";
import type { Member } from "../gateway/member.ts";
import { perMember, type PerMember } from "../gateway/per-member.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { Nudge } from "../store/deliveries.ts";
import type { Meant } from "./interpret.ts";

export interface WebhookMemory {
  /** Nudges that arrived during a pass that reads: they are repeated after it. Oldest first. */
  readonly missedNudges: PerMember<Set<Nudge>>;
  /** Posts fetched for deliveries a moment ago, by id, oldest first. */
  readonly postsRead: PerMember<Map<string, PostRead>>;
  /** Specialists whose deliveries wait until their events have been handled. */
  readonly deferred: Set<Member>;
  /** The reading of each definition's deliveries. */
  readonly meant: WeakMap<Specialist, Meant>;
}

export interface PostRead {
  readonly post: Post;
  /** On the monotonic clock, in ms. */
  readonly at: number;
}

export function createWebhookMemory(): WebhookMemory {
  return {
    missedNudges: perMember(() => new Set<Nudge>()),
    postsRead: perMember(() => new Map<string, PostRead>()),
    deferred: new Set(),
    meant: new WeakMap(),
  };
}
