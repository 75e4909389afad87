/** Matters that wait for a person, each with its message and the orders that answer it: one list for the page, the alerts and the commands. */
import { defined } from "../core/defined.ts";
import type { JsonObject } from "../core/json.ts";
import { showMoney } from "../core/units.ts";
import { freezeReason, GUARDIAN, ownerOf } from "../limits/spending.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { isWaitRule, remedyFor } from "../limits/wait-rules.ts";
import { changeText } from "./explain.ts";
import type { Proposal } from "./proposals.ts";
import type { ProcessShown } from "./process-shown.ts";
import type { OrderName } from "./record-orders.ts";
import { isChange, type Snapshot, type WaitingForPerson } from "./status.ts";

export type NeedKind =
  | "store_lost"
  | "approval"
  | "parked"
  | "doubt"
  | "pending"
  | "frozen"
  | "key"
  | "undelivered"
  | "stopped"
  | "drift"
  | "failing"
  | "halt"
  | "model";

/** An order of the Guardian that answers a matter. */
export interface NeedOrder {
  readonly order: OrderName;
  readonly label: string;
  /** The query of the order, complete except for a reason (and for the `created` of `settle`). */
  readonly with: JsonObject;
  readonly takesReason: boolean;
  /** True if it may be given for several matters at once; never for an approval. */
  readonly many: boolean;
}

export interface Need {
  /** Identity of the matter, stable over restarts: kind and subject. */
  readonly key: string;
  readonly kind: NeedKind;
  readonly handle?: string;
  /** Id, handle or operation: passed to `why`. */
  readonly subject: string;
  readonly title: string;
  /** As `why` says it. */
  readonly message: string;
  /** The remedy, if no order below is the whole of it. */
  readonly hint?: string;
  readonly since: number;
  /** End of the time to answer. */
  readonly until?: number;
  readonly orders: readonly NeedOrder[];
  /** Approvals only: exact payload, cost, hash. */
  readonly proposal?: Proposal;
}

export interface Needs {
  readonly at: number;
  readonly total: number;
  readonly counts: { readonly [kind in NeedKind]?: number };
  /** Bounded, kind after kind; `total` and `counts` are exact. */
  readonly needs: readonly Need[];
  /** The processes of a fleet. */
  readonly processes?: readonly ProcessShown[];
}

/** One kind of matter in a status. */
interface Found {
  readonly total: number;
  readonly needs: readonly Omit<Need, "kind">[];
}

/** Matters listed of one kind. */
const MAX_OF_KIND = 100;

/** The kinds, most urgent first. */
const KINDS: { readonly [kind in NeedKind]: (status: Snapshot) => Found } = {
  store_lost: ({ storeLost, at }) =>
    all(
      (storeLost === undefined ? [] : [storeLost]).map(({ message, hint = "mend the disk, then start the process again", since = at }) => ({
        key: "store_lost",
        subject: "store",
        title: "The store is lost",
        message: `${message}; nothing is sent`,
        hint,
        since,
        orders: [],
      })),
    ),
  halt: ({ halts }) =>
    all(
      halts.map(({ scope, reason, since, kept }) => ({
        key: `halt:${scope}`,
        ...scoped(scope),
        title: scope === EVERYONE ? "Nobody writes" : `${scope} does not write`,
        message: `halted: ${reason}${kept === false ? "; not stored: it ends with the process" : ""}`,
        since,
        orders: [{ order: "lift", label: "Lift the halt", with: handleIn(scope), ...ALONE }],
      })),
    ),
  approval: ({ approvals, totals }) => ({
    total: totals.approvals,
    needs: approvals.map((proposal) => ({
      key: `approval:${proposal.id}`,
      handle: proposal.handle,
      subject: proposal.id,
      title: titleOf(proposal),
      message: `waits for the Guardian's approval${proposal.cost === undefined ? "" : `; costs at most ${showMoney(proposal.cost)}`}`,
      since: proposal.since,
      until: proposal.expiresAt,
      orders: [
        { order: "approve", label: "Approve", with: { id: proposal.id, hash: proposal.hash }, ...ALONE },
        { order: "reject", label: "Reject", with: { id: proposal.id }, ...MANY },
      ],
      proposal,
    })),
  }),
  frozen: ({ frozen }) =>
    all(
      frozen.map(({ scope, currency, reason, since }) => ({
        key: `frozen:${scope}:${currency}`,
        ...scoped(scope === GUARDIAN ? EVERYONE : ownerOf(scope)),
        title: `Spending of ${ownerOf(scope)} is frozen`,
        message: freezeReason(scope, currency, reason),
        since,
        orders: [{ order: "unfreeze", label: "Unfreeze", with: handleIn(scope === GUARDIAN ? EVERYONE : ownerOf(scope)), ...ALONE }],
      })),
    ),
  key: ({ specialists }) =>
    all(
      specialists.flatMap(({ handle, parked }) =>
        parked === undefined
          ? []
          : [
              defined({
                key: `key:${handle}`,
                handle,
                subject: handle,
                title: `${handle} is parked`,
                message: parked.message,
                hint: remedyFor(parked.code === "key_shared" ? "key_shared" : "key_unusable", { handle, id: handle, name: handle }),
                since: parked.since,
                orders:
                  parked.code === "key_refused"
                    ? [{ order: "retry" as const, label: "Try the key again", with: { id: handle }, ...MANY }]
                    : [],
              }),
            ],
      ),
    ),
  parked: ({ parked, totals, failingCounts }) => ({
    // Events whose handler failed are part of a group of `failing`.
    total: totals.parked - failingCounts.parked,
    needs: parked
      .filter(({ isFailing }) => isFailing !== true)
      .map((row) =>
        waiting("parked", row, row.mayHaveHappened === true ? VERDICTS : [retryOf(row), ...(row.about === "action" ? [GIVE_UP] : [])]),
      ),
  }),
  doubt: ({ doubts, totals }) => ({ total: totals.doubts, needs: doubts.map((row) => waiting("doubt", row, [HAPPENED, DID_NOT])) }),
  pending: ({ pending, totals }) => ({ total: totals.pending, needs: pending.map((row) => waiting("pending", row, [HAPPENED, GIVE_UP])) }),
  undelivered: ({ undelivered, totals }) => ({
    total: totals.undelivered,
    needs: undelivered.map((row) => waiting("undelivered", row, [])),
  }),
  failing: ({ failing, failingCounts }) => ({
    total: failingCounts.groups,
    needs: failing.map(({ handle, what, pattern, message, count, failedAt, id, hint, parked }) =>
      defined({
        key: `failing:${handle}:${what}:${pattern}`,
        handle,
        subject: id,
        title: `${count} ${what} of ${handle} ${count === 1 ? "fails" : "fail"}`,
        message,
        hint,
        since: failedAt,
        orders: parked === 0 ? [] : [{ order: "retry" as const, label: `Handle ${parked} again`, with: { id: handle }, ...MANY }],
      }),
    ),
  }),
  stopped: ({ stopped, totals }) => ({
    total: totals.stopped,
    needs: stopped.map(({ operation, handle, rule, code, message, since }) => {
      const subject = operation ?? handle ?? "everyone";
      const query = operation === undefined || handle === undefined ? { id: subject } : { id: subject, handle };
      return defined({
        key: `stopped:${operation ?? ""}:${handle ?? ""}:${code}`,
        handle,
        subject,
        title: `${operation ?? "Everything"} of ${handle ?? "everyone"} is stopped`,
        message,
        hint: isWaitRule(rule) ? remedyFor(rule, { handle, id: subject, name: subject }) : undefined,
        since,
        orders: [{ order: "retry" as const, label: "Try it again", with: query, ...MANY }],
      });
    }),
  }),
  drift: ({ drift, totals }) => {
    const first = new Map(
      drift
        .filter(isChange)
        .toReversed()
        .map((entry) => [entry.operation, entry]),
    ); // the worst of each operation
    return {
      total: totals.changed,
      needs: [...first.values()].toReversed().map(({ operation, firstSeenMs, ...entry }) =>
        defined({
          key: `drift:${operation}`,
          subject: operation,
          title: `Answers to ${operation} changed`,
          message: changeText(entry),
          hint: remedyFor("drift", { handle: undefined, id: operation, name: operation }),
          since: firstSeenMs,
          orders: [{ order: "retry" as const, label: "Accept it as it is now", with: { id: operation }, ...ALONE }],
        }),
      ),
    };
  },
  model: ({ models }) =>
    all(
      // A wait for money or a halt is a matter of its own, or ends by time.
      models
        .filter(({ code }) => !isWaitRule(code))
        .map(({ model, handle, message, since }) =>
          defined({
            key: `model:${model}:${handle ?? ""}`,
            handle,
            subject: handle ?? model,
            title: `The model ${model} cannot be asked`,
            message: `${message}; its events wait, and it is tried again`,
            since,
            orders: [],
          }),
        ),
    ),
};

/** Most urgent first. */
export const NEED_KINDS = Object.keys(KINDS) as readonly NeedKind[];

/** Everything that waits for a person now, most urgent kind first. */
export function needsOf(status: Snapshot): Needs {
  const kinds = NEED_KINDS.map((kind) => ({ kind, ...KINDS[kind](status) })).filter(({ total }) => total > 0);
  return {
    at: status.at,
    total: kinds.reduce((sum, { total }) => sum + total, 0),
    counts: Object.fromEntries(kinds.map(({ kind, total }) => [kind, total])),
    needs: kinds.flatMap(({ kind, needs }) => needs.slice(0, MAX_OF_KIND).map((need) => ({ kind, ...need }))),
    ...defined({ processes: status.processes }),
  };
}

const ALONE = { takesReason: true, many: false } as const;
const MANY = { takesReason: true, many: true } as const;

type Answer = Omit<NeedOrder, "with"> & { readonly with?: JsonObject };

const settling = (verdict: string, label: string, many: boolean): Answer => ({
  order: "settle",
  label,
  with: { verdict },
  takesReason: true,
  many,
});
const HAPPENED = settling("happened", "It happened", false);
const DID_NOT = settling("did-not", "It did not happen: send it again", false);
const GIVE_UP = settling("give-up", "Give it up", true);
const VERDICTS: readonly Answer[] = [HAPPENED, DID_NOT, GIVE_UP];

function retryOf({ about, handle }: WaitingForPerson): Answer {
  return {
    order: "retry",
    label: about === "event" ? "Handle it again" : "Try it again",
    ...MANY,
    ...(about === "event" ? { with: { handle } } : {}),
  };
}

function waiting(kind: NeedKind, row: WaitingForPerson, answers: readonly Answer[]): Omit<Need, "kind"> {
  const { id, handle, message, since, about } = row;
  return {
    // One event may wait for several specialists.
    key: about === "event" ? `${kind}:${id}:${handle}` : `${kind}:${id}`,
    handle,
    subject: id,
    title: titleOf(row),
    message,
    since,
    orders: answers.map((answer) => ({ ...answer, with: { id, ...answer.with } })),
  };
}

function titleOf({ what, handle, target }: { readonly what: string; readonly handle: string; readonly target?: string }): string {
  return `${what} of ${handle}${target === undefined ? "" : `: ${target}`}`;
}

/** The subject of a stop: a specialist, or everyone. */
function scoped(scope: string): { readonly handle?: string; readonly subject: string } {
  return scope === EVERYONE ? { subject: "everyone" } : { handle: scope, subject: scope };
}

function handleIn(scope: string): JsonObject {
  return scope === EVERYONE ? {} : { handle: scope };
}

/** A list that is whole in the status. */
function all(needs: Found["needs"]): Found {
  return { total: needs.length, needs };
}
