/** The admission check: every rule that can delay or refuse a request, in one order, as a pure function. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Lane } from "../contract/operations.ts";
import { showDuration } from "../core/units.ts";
import { approved } from "./approvals.ts";
import { leftToOthers } from "./lanes.ts";
import type { AdmissionView, Verdict } from "./verdict.ts";
import { takeable, type Takeable } from "./quota.ts";
import { holdable, ownerOf } from "./spending.ts";
import type { WaitRule } from "./wait-rules.ts";

type Wait = Extract<Verdict, { readonly kind: "wait" }>;

/**
 * Admits, delays or refuses one request. Rules that only a person can lift come before those that time lifts, so that `retinue why` names
 * the real obstacle. Changes nothing: the caller applies the charge and the hold.
 */
export function decide(view: AdmissionView): Verdict {
  return permitted(view) ?? timely(view) ?? affordable(view);
}

/** Checks permission: allow-list, halt, pause, approval. */
function permitted(view: AdmissionView): Verdict | undefined {
  const { request, now } = view;
  const write = request.effect !== "read";
  const refuse = (code: AnyCode, message: string, since = now): Verdict => ({ kind: "refuse", code, message, lane: request.lane, since });
  if (write && view.may !== undefined && !view.may.includes(request.operation))
    return refuse("not_allowed", `${request.operation} is not among the permitted operations of the definition`);
  if (write && view.halt !== undefined) return wait(view, "halted", `halted: ${view.halt.reason}`, { since: view.halt.since });
  // A paused specialist still reads back doubts and delivers; new work waits.
  if (view.pause !== undefined && request.lane !== "obligation")
    return wait(view, "paused", `paused: ${view.pause.reason}`, { since: view.pause.since });
  if (request.price.kind === "unknown")
    return refuse("price_unknown", `the profile does not state the price of ${request.operation}; an unknown price never counts as zero`);
  if (view.review) {
    if (request.intent === undefined || request.payloadHash === undefined)
      return refuse("approval_changed", "only a recorded intent can be approved");
    const worst = request.price.kind === "priced" ? request.price.worst : undefined;
    const said = approved(view.approval, { intent: request.intent, payloadHash: request.payloadHash, worst }, now);
    if (!said.ok && said.code === "approval_wanted")
      return wait(view, "approval_wanted", "waits for the Guardian's approval", { since: said.since });
    if (!said.ok) return refuse(said.code, said.message, said.since);
  }
  return undefined;
}

/** Checks timing: conflict, quota. */
function timely(view: AdmissionView): Verdict | undefined {
  const { request, now } = view;
  if (view.conflict !== undefined)
    return wait(view, "conflict", `intent ${view.conflict.intent} on the same target is not resolved yet`, view.conflict);
  for (const { limit, used, freesAt } of view.ownUses ?? [])
    if (used >= limit.max - leftToOthers(limit.max, request.lane, limit.lanes)) {
      const isFull = used >= limit.max;
      const rest = isFull ? "" : `; the rest is reserved for lanes other than ${request.lane}`;
      const message = `the network allows ${limit.max} of ${limit.name} in ${showDuration(limit.perMs)}${rest}`;
      return wait(view, "network_limit", message, { since: request.readyAt ?? now, until: freesAt });
    }
  const taken = takeable(view.quota, now, {
    lane: request.lane,
    cost: request.cost ?? 1,
    obligations: view.obligations,
    soon: view.soon ?? 0,
    promises: request.promises ?? 0,
    ...(request.noticeCalls === undefined ? {} : { noticeCalls: request.noticeCalls }),
  });
  if (taken.ok) return undefined;
  const since = taken.rule === "key_parked" ? view.quota.parkedAt : (request.readyAt ?? now);
  return wait(view, taken.rule, quotaMessage(taken.rule, taken.window, request.lane, view), {
    since,
    // No day frees room for another obligation: one of them must be completed.
    until: taken.rule === "obligations_full" && taken.window === "day" ? undefined : taken.until,
    window: taken.window,
  });
}

/** Checks money. */
function affordable(view: AdmissionView): Verdict {
  const { request, now } = view;
  const charge = { lane: request.lane, cost: request.cost ?? 1 };
  if (request.price.kind !== "priced" || request.price.worst.micros === 0) return { kind: "admit", charge, hold: undefined };
  const { worst } = request.price;
  // The intent's hold is kept across its attempts; a price that rose since is refused, not topped up.
  if (view.held !== undefined && view.held.currency === worst.currency && view.held.micros >= worst.micros)
    return { kind: "admit", charge, hold: undefined };
  if (view.held !== undefined)
    return { kind: "refuse", code: "spend_hold_short", message: "the price rose above the hold", lane: request.lane, since: now };
  const accounts = view.accounts ?? [];
  if (accounts.length === 0)
    return { kind: "refuse", code: "spend_no_cap", message: "no account pays for this", lane: request.lane, since: now };
  const held = holdable(accounts, view.caps ?? [], worst, now);
  if (held.ok) return { kind: "admit", charge, hold: { scopes: accounts.map(({ scope }) => scope), money: worst } };
  if (held.code === "spend_frozen") return wait(view, "spend_frozen", held.message, { since: held.since ?? now });
  const message = `${ownerOf(held.scope)}: ${held.message}`;
  if (held.code === "spend_cap")
    return wait(view, "spend_cap", message, { since: request.readyAt ?? now, until: held.until, window: held.window });
  return { kind: "refuse", code: held.code, message, lane: request.lane, since: request.readyAt ?? now };
}

function wait(
  view: AdmissionView,
  rule: WaitRule,
  message: string,
  when: { readonly since: number; readonly until?: number | undefined; readonly window?: Wait["window"] },
): Wait {
  return { kind: "wait", rule, message, lane: view.request.lane, window: when.window, since: when.since, until: when.until };
}

type NotTakeable = Extract<Takeable, { readonly ok: false }>;

function quotaMessage(rule: NotTakeable["rule"], window: NotTakeable["window"], lane: Lane, view: AdmissionView): string {
  if (rule === "key_parked") return `the network asked for a wait (${view.quota.parkReason})`;
  if (rule === "obligations_full") return `${view.obligations} jobs are open already; the requests to deliver one more cannot be reserved`;
  const { limit } = view.quota.shares[window === "hour" ? "hour" : "day"];
  if (rule === "quota_window") return `all ${limit} requests of this ${window} are used`;
  return `the rest of this ${window}'s ${limit} requests is reserved for lanes other than ${lane}`;
}
