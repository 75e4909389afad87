/** Actions that wait for the Guardian: the facts shown of each, and the answer, which names what was shown. */
import { defined } from "../core/defined.ts";
import { Misconfigured, Refused } from "../core/errors.ts";
import { asIntentId } from "../core/ids.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { showMoney, type Money } from "../core/units.ts";
import {
  answerBy,
  changedSince,
  isShownHash,
  payloadHash,
  shownHash,
  type Approval,
  type Shown,
  type ShownPart,
} from "../limits/approvals.ts";
import type { WaitRule } from "../limits/wait-rules.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { follow } from "../outbox/follow-up.ts";
import { rejection, type Intent } from "../outbox/intent.ts";
import type { OpenApproval } from "../store/controls.ts";
import type { EventRow } from "../store/history.ts";
import type { Store } from "../store/store.ts";
import type { ApprovalShown, EventShown, Over, Reason } from "./explanation.ts";
import { wakeAll, type GuardianContext, type OrderResult } from "./wake-waiting.ts";
import type { Member } from "../gateway/member.ts";

/** An action that can still be answered. */
export interface Proposal extends ApprovalShown {
  readonly id: string;
  readonly handle: string;
  readonly what: string;
  readonly target?: string;
  /** The whole payload. */
  readonly input: JsonObject;
}

/** Provides present prices, if a specialist is running. */
export interface Pricing {
  readonly member: Member | undefined;
  readonly profile: Pick<Profile, "operations">;
}

export function showApproval(intent: Intent, approval: Approval, now: number, pricing?: Pricing): ApprovalShown {
  const shown = shownOf(intent, approval, pricing);
  return defined({
    hash: shownHash(shown),
    since: approval.askedAt,
    expiresAt: shown.answerBy,
    cost: shown.amount,
    over: overOf(intent, approval, now),
  });
}

export const APPROVAL_WANTED = "approval_wanted" satisfies WaitRule;

/** The reason for which a proposed action waits: a question without an answer by then counts as rejected. */
export function waitForWord({ lane, createdAt }: Intent, approval: ApprovalShown | undefined): Reason {
  return defined({
    rule: APPROVAL_WANTED,
    message: "waits for the Guardian's approval",
    lane,
    since: approval?.since ?? createdAt,
    until: approval?.expiresAt,
  });
}

export function showProposal({ intent, approval }: OpenApproval, now: number, pricing?: Pricing): Proposal {
  const { id, specialist: handle, operation: what, target, input } = intent;
  return defined({ id, handle, what, input, target, ...showApproval(intent, approval, now, pricing) });
}

function shownOf(intent: Intent, approval: Approval, pricing: Pricing | undefined): Shown {
  return {
    intent: intent.id,
    payloadHash: payloadHash(intent),
    amount: amountOf(intent, approval, pricing),
    answerBy: answerBy(approval, intent),
  };
}

/** The highest cost now: an approval of an earlier, lower price would be refused at admission. */
function amountOf({ operation, target, input }: Intent, { state, amount }: Approval, pricing: Pricing | undefined): Money | undefined {
  const isPriced = state === "asked" && pricing?.profile.operations.has(operation) === true;
  const review = isPriced ? pricing.member?.rules.of(operation).review : undefined;
  return review === undefined ? amount : review(target, input).amount;
}

function overOf(intent: Intent, approval: Approval, now: number): Over | undefined {
  const { state, code, message, settledAt } = intent;
  const { decidedAt = now, reason } = approval;
  if (approval.state === "approved") return { how: "approved", message: "it was approved", at: decidedAt };
  if (approval.state === "rejected")
    return { how: "rejected", message: `it was rejected${reason === undefined ? "" : `: ${reason}`}`, at: decidedAt };
  const deadline = answerBy(approval, intent);
  if (state === "proposed" ? now >= deadline : code === "approval_expired")
    return { how: "expired", message: "it expired without an answer", at: deadline };
  if (state === "proposed") return undefined;
  return { how: "cancelled", message: `it was ${state}${message === undefined ? "" : `: ${message}`}`, at: settledAt ?? now };
}

export function showEvent({ id, kind, createdAt, payload }: EventRow): EventShown {
  const record: JsonObject = isObject(payload) ? payload : {};
  const first = (...names: readonly string[]): string | undefined => names.map((name) => record[name]).find(isText);
  return defined({
    id,
    kind,
    at: createdAt,
    author: first("authorHandle", "authorId", "byHandle", "byId", "handle"),
    object: first("id", "postId", "created", "target", "reference"),
    title: first("title", "name"),
    text: first("content", "description", "message", "bio"),
  });
}

const isText = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

/** Each throws `Refused` (`nothing_found`, `nothing_asked`, `approval_over`). */
export interface Words {
  /** Approves the action shown under this hash. Throws `Refused` (`changed_meanwhile`) with the changes since. */
  approve(query: { readonly id: string; readonly hash: string; readonly reason?: string }): Promise<OrderResult>;
  reject(query: { readonly id: string; readonly reason?: string }): Promise<OrderResult>;
}

export function words(context: GuardianContext): Words {
  const { store, clock, parts } = context;
  const said = (verdict: string, { operation, specialist }: Intent): OrderResult => {
    wakeAll(context, "approve");
    return { message: `${verdict}: ${operation} of ${specialist}` };
  };
  return {
    async approve({ id, hash, reason }) {
      if (!isShownHash(hash))
        throw new Misconfigured("option_invalid", `${JSON.stringify(hash)} is not the hash of an action`, {
          expected: `64 hex digits, from approval.hash of retinue why ${id} --json`,
        });
      const now = clock.now();
      const { intent, approval } = await answerable(store, id, now);
      const pricing = parts === undefined ? undefined : { profile: parts.profile, member: await context.memberOf(intent.specialist) };
      const shown = shownOf(intent, approval, pricing);
      const changed = changedSince(hash, shown);
      if (changed.length > 0)
        throw changedMeanwhile(
          id,
          changed.map((part) => CHANGES[part](shown)),
        );
      const word = defined({ verdict: "approved", shown, reason });
      if (!(await store.decideApproval(intent.id, word, now))) throw await overtaken(store, id, now);
      return said("approved", intent);
    },
    async reject({ id, reason }) {
      const now = clock.now();
      const { intent } = await answerable(store, id, now);
      const { member, trouble } = await authorOf(context, intent);
      const events = member === undefined ? [] : follow(member, { ...intent, reason }, rejection(reason), now).events;
      const word = defined({ verdict: "rejected", reason, events });
      if (!(await store.decideApproval(intent.id, word, now))) throw await overtaken(store, id, now);
      const { message } = said("rejected", intent);
      return { message: trouble === undefined ? message : `${message}; its handler gets no receipt: ${trouble}` };
    },
  };
}

/** The author of an action, for a receipt. A rejection must work where the definitions do not load. */
async function authorOf(
  { memberOf }: GuardianContext,
  { specialist }: Intent,
): Promise<{ readonly member?: Member | undefined; readonly trouble?: string }> {
  try {
    return { member: await memberOf(specialist) };
  } catch (error) {
    if (error instanceof Misconfigured) return { trouble: error.message };
    throw error;
  }
}

/** The action of this id, if it can be answered. Throws `Refused` otherwise. */
async function answerable(store: Store, id: string, now: number): Promise<OpenApproval> {
  const intent = await store.findIntent(id);
  if (intent === undefined)
    throw new Refused("nothing_found", `there is no action "${id}"`, { hint: "retinue status lists those that wait" });
  const approval = await store.approvalOf(asIntentId(id));
  if (approval === undefined)
    throw new Refused("nothing_asked", `"${id}" needs no approval: it is ${intent.state}`, { hint: `retinue why ${id}` });
  const over = overOf(intent, approval, now);
  if (over !== undefined) {
    const who = await deciderOf(store, id, over);
    const told = `${over.message}, ${who === undefined ? "" : `by ${who}, `}${new Date(over.at).toISOString()}`;
    throw new Refused("approval_over", `${id} can no longer be answered: ${told}`, { hint: `retinue why ${id}` });
  }
  return { intent, approval };
}

const ANSWERS: { readonly [how in Over["how"]]?: string } = { approved: "approve", rejected: "reject" };
/** Orders of one action that are searched: the one that decided is among the first of its kind. */
const MAX_ANSWERS = 50;

/** The person who decided, by the record of orders. */
async function deciderOf(store: Store, id: string, { how, at }: Over): Promise<string | undefined> {
  const what = ANSWERS[how];
  if (what === undefined) return undefined;
  const { rows } = await store.reads.orders({ subject: id, what, limit: MAX_ANSWERS });
  // One that came too late was given later, has a code, or has no result yet.
  const given = rows.filter((order) => order.code === undefined && order.at <= at);
  return (given.findLast(({ result }) => result !== undefined) ?? given.at(-1))?.who;
}

/** The error of an answer that somebody else's came before, while it was given. */
async function overtaken(store: Store, id: string, now: number): Promise<Refused> {
  await answerable(store, id, now);
  return changedMeanwhile(id);
}

function changedMeanwhile(id: string, changes: readonly string[] = []): Refused {
  return new Refused("changed_meanwhile", [`${id} has changed since it was shown`, ...changes].join("; "), {
    hint: `check it again: retinue approve ${id}`,
  });
}

const CHANGES: { readonly [part in ShownPart]: (shown: Shown) => string } = {
  payload: () => "it would send something else",
  cost: ({ amount }) => `it may now cost ${amount === undefined ? "nothing" : showMoney(amount)}`,
  deadline: (shown) => `the time to answer now ends ${new Date(shown.answerBy).toISOString()}`,
};

/** Characters of the payloads of all approvals of a status; the first is listed whatever its length. */
const MAX_PAYLOADS = 2_000_000;

/** The exact payload is what a person decides on, so it is listed whole or not at all. */
export function withinLength(approvals: readonly Proposal[]): readonly Proposal[] {
  let length = 0;
  return approvals.filter(({ input }, i) => (length += JSON.stringify(input).length) <= MAX_PAYLOADS || i === 0);
}
