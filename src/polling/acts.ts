/** Actions that handlers have decided on since the lists were last looked at that brought the events. In memory only. */
import type { Member } from "../gateway/member.ts";
import { perMember } from "../gateway/per-member.ts";

export interface Acts {
  /** Counts what the handler of an event has decided on. */
  add(member: Member, event: string, acts: number): void;
  /** What a list of this kind has led to since it was asked last. Lists of one kind share it. */
  take(member: Member, kind: string): number;
}

/** Events that lists bring. */
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
