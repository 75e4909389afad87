/** Values that many tests need whole and care about in part: an intent, a member, a post, a job. */
import { shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import type { Job, Post } from "../../src/contract/records.ts";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createMember, type Member } from "../../src/gateway/member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

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
