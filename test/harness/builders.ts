/** Values that many tests need whole and care about in part: an intent, a member, a post, a job. */
import { shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import type { Job, Post } from "../../src/contract/records.ts";
import { asEventId, asHandle, asIntentId } from "../../src/core/ids.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createMember, type Member } from "../../src/gateway/member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";
import { createSpecialist, DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import type { Store } from "../../src/store/store.ts";

/** A post of the specialist `scout`, in doubt after one attempt at time 0. */
export function intentOf(over: Partial<Intent> = {}): Intent {
  return {
    seq: 1,
    id: asIntentId("i1"),
    specialist: asHandle("scout"),
    eventSeq: 1,
    operation: "posts.create",
    target: undefined,
    targetIntent: undefined,
    input: { content: "hello" },
    effect: "reconciled",
    lane: "act",
    thread: undefined,
    author: undefined,
    conflictKey: "k",
    hops: 0,
    label: undefined,
    data: undefined,
    state: "in_doubt",
    attempt: 1,
    everUnknown: true,
    nextAt: 0,
    checks: 0,
    sentAt: 0,
    expiresAt: undefined,
    createdRef: undefined,
    code: undefined,
    message: undefined,
    createdAt: 0,
    settledAt: undefined,
    ...over,
  };
}

/** A working specialist, by default `scout` on the shipped Set B. */
export function memberOf(
  definition: Partial<SpecialistDefinition> = {},
  { profile = shippedProfile("b"), now = 0 }: { readonly profile?: Profile; readonly now?: number } = {},
): Member {
  const specialist = createSpecialist({ handle: "scout", ...definition });
  return createMember(specialist, operationRules(specialist, profile, virtualClock(now)), limitsOf(specialist.tier, profile), now);
}

/** Somebody's post; the tests' own account has the id `me`. */
export function postOf(id: string, over: Partial<Post> = {}): Post {
  return { kind: "post", id, authorId: "amy", authorHandle: "amy", content: "hello", raw: {}, ...over };
}

/** Somebody's open job. */
export function jobOf(id: string, over: Partial<Job> = {}): Job {
  return { kind: "job", id, authorId: "amy", status: "open", raw: {}, ...over };
}

/** Stores these posts of `scout`, each decided by a run of its own, as handlings leave them. */
export async function decide(store: Store, now: number, drafts: readonly Partial<DraftIntent>[]): Promise<readonly Intent[]> {
  const specialist = asHandle("scout");
  await store.saveAccount(specialist, "agt_mine", now);
  for (const [i, draft] of drafts.entries()) {
    const id = asIntentId(`i${i}`);
    await store.recordRun(
      { specialist, id: asEventId(`schedule:talk:${draft.id ?? id}`), kind: "schedule:talk", payload: {}, via: "runtime", hops: 0 },
      {
        specialist,
        now,
        intents: [
          {
            id,
            ordinal: 0,
            operation: "posts.create",
            input: { content: `post ${i}` },
            effect: "reconciled",
            lane: "act",
            conflictKey: `post ${i}`,
            hops: 0,
            ...draft,
          },
        ],
        caps: DEFAULT_BRAKES,
        brake: () => undefined,
        report: () => undefined,
      },
    );
  }
  return (await store.intents({ specialist, limit: 100 })).toReversed();
}
