/** Counts handlers' actions since the lists that brought their events were last polled. In memory only. */
import type { Member } from "../gateway/member.ts";
import { perMember } from "../gateway/per-member.ts";

export interface Acts {
  /** Counts the decisions of an event's handler. */
  add(member: Member, event: string, acts: number): void;
  /** Returns and clears the count of this kind of list. Lists of one kind share it. */
  take(member: Member, kind: string): number;
}

/** Kinds of events from lists. */
const LISTED: readonly string[] = ["post.created", "mention.created", "job.listed"];

export function createActs(): Acts {
  const acted = perMember(() => new Map<string, number>());
  return {
    add(member, event, acts) {
      if (!LISTED.includes(event)) return;
      const known = acted.of(member);
      known.set(event, (known.get(event) ?? 0) + acts);
    },
    take(member, kind) {
      const known = acted.find(member);
      if (known === undefined) return 0;
      let acts = 0;
      for (const event of kind === "post.created" ? [kind, "mention.created"] : [kind]) {
        acts += known.get(event) ?? 0;
        known.delete(event);
      }
      acted.tidy(member);
      return acts;
    },
  };
}
