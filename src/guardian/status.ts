/** What runs, in one value: specialists with their quota and money, what waits and why, what is parked, what is due. */
import type { Lane } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import type { DriftEntry } from "../gateway/drift.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { asHandle } from "../core/ids.ts";
import type { Micros } from "../core/units.ts";
import { readGaps, type Gap } from "../polling/gaps.ts";
import { reportedReadFailure, type ReadFailure } from "../polling/read-failures.ts";
import { lastWentOnAt } from "../outbox/sent-at.ts";
import type { Intent } from "../outbox/intent.ts";
import type { Stop } from "../limits/admission.ts";
import type { Awaiting } from "../store/controls.ts";
import type { Store } from "../store/store.ts";
import type { KeyTrouble, Member } from "../gateway/member.ts";
import type { OpenBreaker } from "../gateway/classify-refusal.ts";
import { showProposal, type Proposal } from "./proposals.ts";
import { storedBreakers } from "../gateway/breakers.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { WebhooksShown } from "../webhooks/webhooks.ts";
import type { Frozen } from "../store/controls.ts";

export interface UseOfLimit {
  readonly used: number;
  readonly limit: number;
}

export interface MoneyShown {
  readonly currency: string;
  /** Spent for good, since the store began. */
  readonly postedMicros: Micros;
  /** Set aside for actions whose outcome is open. */
  readonly heldMicros: Micros;
  /** Both together in the Guardian's present day. */
  readonly dayMicros: Micros;
  /** The definition's cap on a day. */
  readonly dayCapMicros?: Micros;
}

export interface WaitShown {
  readonly lane: Lane;
  readonly rule: string;
  readonly message: string;
  readonly since: number;
  readonly until: number;
}

/** A list that is looked at, or a schedule. */
export interface SourceShown {
  readonly name: string;
  readonly dueAt: number | null;
  /** What of it was not read, of the last days; oldest first. */
  readonly gaps: readonly Gap[];
  /** Where the last looks failed. */
  readonly readFailure: ReadFailure | undefined;
}

export interface ParkedShown {
  readonly code: string;
  readonly message: string;
  readonly since: number;
  /** When the runtime tries by itself whether that still holds. */
  readonly probeAt?: number;
}

export interface SpecialistShown {
  readonly handle: string;
  readonly tier: Tier | undefined;
  /** The network's trust in it, where the profile says what that is good for. */
  readonly trust?: string;
  readonly accountId: string | undefined;
  readonly retired: boolean;
  /** Confirmed actions by operation. */
  readonly actions: { readonly [operation: string]: number };
  /** Intents by state, those not settled yet. */
  readonly open: { readonly [state: string]: number };
  /** Actions that wait for the Guardian's word, and until when the first of them can be answered. */
  readonly awaiting?: Awaiting;
  readonly quota: { readonly hour: UseOfLimit; readonly day: UseOfLimit } | undefined;
  /** The network asked to wait. */
  readonly cooldown: { readonly until: number; readonly reason: string } | undefined;
  readonly money: readonly MoneyShown[];
  /** Followed jobs by standing. */
  readonly jobs: { readonly [state: string]: number };
  readonly waits: readonly WaitShown[];
  /** Why nothing is sent for it at all. */
  readonly parked: ParkedShown | undefined;
  readonly sources: readonly SourceShown[];
}

/** Something that waits for a person. */
export interface WaitingForPerson {
  readonly id: string;
  readonly handle: string;
  /** The operation of an intent, the kind of an event. */
  readonly what: string;
  readonly target?: string;
  readonly message: string;
  readonly since: number;
}

export interface Snapshot {
  readonly at: number;
  /** Undefined where nothing runs, and this is what the store says. */
  readonly running: { readonly pid: number; readonly since: number; readonly baseUrl: string; readonly set: "a" | "b" } | undefined;
  readonly halts: readonly Stop[];
  readonly pauses: readonly Stop[];
  /** Accounts that spend nothing until a person has looked. */
  readonly frozen: readonly Frozen[];
  readonly approvals: readonly Proposal[];
  readonly parked: readonly WaitingForPerson[];
  readonly doubts: readonly WaitingForPerson[];
  /** What the network's own Guardian has to decide there. */
  readonly pending: readonly WaitingForPerson[];
  /** Deliveries that the network refused, of jobs that are still ours. */
  readonly undelivered: readonly WaitingForPerson[];
  /** What the network lacks, forbids or no longer says readably, so that requests do not leave. */
  readonly stopped: readonly OpenBreaker[];
  /** How answers departed from what was seen before, worst first: paths and types, never values. */
  readonly drift: readonly DriftEntry[];
  readonly specialists: readonly SpecialistShown[];
  /** Undefined where none are received. */
  readonly webhooks: WebhooksShown | undefined;
}

const MAX_LISTED = 100;

/** Everything at once; lists are bounded, newest first. */
export async function showStatus({
  store,
  clock,
  live,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly live?: { readonly runtime: Runtime; readonly startedAt: number; readonly baseUrl: string };
}): Promise<Snapshot> {
  const members = live?.runtime.members() ?? [];
  const running = new Map(members.map((member) => [String(member.specialist.handle), member]));
  const handles = new Set([...running.keys(), ...(await store.handles())]);
  const standing = live?.runtime.parts.breakers ?? (await storedBreakers(store, clock));
  const now = clock.now();
  const [stops, frozen, approvals, events, intents, doubts, pending, undelivered] = await Promise.all([
    store.stops(),
    store.frozen(),
    store.openApprovals(MAX_LISTED, now),
    store.parkedEvents(undefined, MAX_LISTED),
    store.intents({ states: ["parked"], limit: MAX_LISTED }),
    store.intents({ states: ["in_doubt"], limit: MAX_LISTED }),
    store.intents({ states: ["pending"], limit: MAX_LISTED }),
    undeliveredJobs(store),
  ]);
  return {
    at: now,
    running:
      live === undefined
        ? undefined
        : { pid: process.pid, since: live.startedAt, baseUrl: live.baseUrl, set: live.runtime.parts.profile.set },
    ...stops,
    frozen,
    approvals: approvals.map((open) =>
      showProposal(open, now, live && { profile: live.runtime.parts.profile, member: running.get(open.intent.specialist) }),
    ),
    parked: [
      ...events.map(({ id, specialist, kind, note, parkedAt }) => ({ id, handle: specialist, what: kind, message: note, since: parkedAt })),
      ...intents.map(waiting),
    ],
    doubts: doubts.map(waiting),
    pending: pending.map(waiting),
    undelivered: undelivered.map(waiting),
    stopped: standing.stops().slice(0, MAX_LISTED),
    drift: standing.drift().slice(0, MAX_LISTED),
    specialists: await Promise.all(
      [...handles].sort().map(async (handle) => {
        const trust = standing.trust.of(handle);
        return { ...(await showSpecialist(store, clock, handle, running.get(handle))), ...defined({ trust }) };
      }),
    ),
    webhooks: await live?.runtime.webhooks?.shown(),
  };
}

const DELIVERY = "jobs.submit";

/** The last delivery of each job that was refused, where the job is ours and nothing else is under way for it. */
async function undeliveredJobs(store: Store): Promise<readonly Intent[]> {
  const refused = await store.intents({ operation: DELIVERY, states: ["refused"], limit: MAX_LISTED });
  if (refused.length === 0) return [];
  const open = await store.intents({ operation: DELIVERY, states: OPEN, limit: MAX_LISTED });
  const jobOf = ({ specialist, target }: Intent): string => `${specialist} ${target}`;
  const told = new Set(open.map(jobOf));
  const last = refused.filter((intent) => !told.has(jobOf(intent)) && told.add(jobOf(intent)));
  const watches = await Promise.all(
    last.map(async ({ specialist, target }) => (target === undefined ? undefined : store.findWatch(specialist, "job", target))),
  );
  return last.filter((_, i) => watches[i]?.state === "assigned");
}

function waiting(intent: Intent): WaitingForPerson {
  return defined({
    id: intent.id,
    handle: intent.specialist,
    what: intent.operation,
    message: intent.message ?? intent.code ?? "",
    since: lastWentOnAt(intent),
    target: intent.target,
  });
}

const OPEN: readonly string[] = ["proposed", "ready", "sending", "in_doubt", "pending", "parked"];
const PROPOSED = "proposed";
const SETTLED_STATE = "confirmed";
/** Looking must not move the ledger's time: a wall clock set forward would free what still counts. */
const AS_LAST_SEEN = 0;

/** One specialist as its rows say, and what is kept of it in memory while it runs. */
export async function showSpecialist(store: Store, clock: Clock, handle: string, member?: Member): Promise<SpecialistShown> {
  const specialist = asHandle(handle);
  const [row, counts, jobs, money, keyId, sources, awaiting] = await Promise.all([
    store.loadSpecialist(specialist),
    store.counts(specialist),
    store.jobCounts(specialist),
    store.spent(specialist, clock.now()),
    store.keyOf(specialist),
    store.sources(specialist),
    store.awaiting(specialist, clock.now()),
  ]);
  const use = keyId === undefined ? undefined : await store.quotaUse(keyId, AS_LAST_SEEN);
  const trouble = member?.keyTrouble;
  return {
    handle,
    tier: member?.specialist.tier,
    accountId: member?.accountId ?? row.accountId,
    retired: member?.retired ?? false,
    actions: sum(counts.filter(({ state }) => state === SETTLED_STATE).map(({ operation, count }) => [operation, count])),
    open: {
      ...sum(counts.filter(({ state }) => OPEN.includes(state) && state !== PROPOSED).map(({ state, count }) => [state, count])),
      // A row of which the time is over may say so still.
      ...(awaiting === undefined ? {} : { [PROPOSED]: awaiting.count }),
    },
    ...(awaiting === undefined ? {} : { awaiting }),
    quota: use === undefined ? undefined : { hour: pick(use.hour), day: pick(use.day) },
    cooldown: use === undefined || use.parkedUntil <= clock.now() ? undefined : { until: use.parkedUntil, reason: use.parkReason },
    money: moneyOf(money, member),
    jobs: sum(jobs.map(({ state, count }) => [state, count])),
    waits: [...(member?.waits ?? [])].map(([lane, wait]) => ({ lane, ...wait })),
    // What runs knows better than the row.
    parked:
      member === undefined ? row.parked && { code: row.parked.code, message: row.parked.message, since: row.parked.at } : parkedBy(trouble),
    sources: sources.map(({ name, dueAt, cursor }) => ({ name, dueAt, gaps: readGaps(cursor), readFailure: reportedReadFailure(cursor) })),
  };
}

function parkedBy(trouble: KeyTrouble | undefined): ParkedShown | undefined {
  if (trouble === undefined) return undefined;
  const { code, message, since, probe } = trouble;
  return defined({ code, message, since, probeAt: probe?.at });
}

/** What was spent, and what may be, also where nothing was spent yet. */
function moneyOf(spent: readonly MoneyShown[], member: Member | undefined): readonly MoneyShown[] {
  const caps = new Map((member?.specialist.spend.perDay ?? []).map(({ currency, micros }) => [currency, micros]));
  const currencies = new Set([...spent.map(({ currency }) => currency), ...caps.keys()]);
  return [...currencies].map((currency) => {
    const row = spent.find((one) => one.currency === currency) ?? { currency, postedMicros: 0, heldMicros: 0, dayMicros: 0 };
    const cap = caps.get(currency);
    return { ...row, ...defined({ dayCapMicros: cap }) };
  });
}

function sum(entries: readonly (readonly [string, number])[]): { readonly [name: string]: number } {
  const sums: Record<string, number> = {};
  for (const [name, count] of entries) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function pick({ used, limit }: UseOfLimit): UseOfLimit {
  return { used, limit };
}
