/** Status of everything in one value: specialists with their quota and money, waits and their reasons, parked and due work. */
import type { Lane } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import type { DriftEntry } from "../gateway/drift.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { messageOf } from "../core/errors.ts";
import { asHandle, type Handle } from "../core/ids.ts";
import { readListState, reportedReadFailure, type Gap, type ReadFailure } from "../polling/list-state.ts";
import { mayHaveHappened } from "../outbox/reconcile.ts";
import { lastWentOnAt } from "../outbox/sent-at.ts";
import { OPEN, type Intent, type IntentState } from "../outbox/intent.ts";
import type { Stop } from "../limits/verdict.ts";
import type { WaitRule } from "../limits/wait-rules.ts";
import type { Awaiting, Frozen, Usage } from "../store/controls.ts";
import type { SpecialistOverview } from "../store/overview.ts";
import { NO_ROW } from "../store/specialists.ts";
import type { ParkedEvent } from "../store/inbox.ts";
import type { Store } from "../store/store.ts";
import { lossShown, type LostStore } from "../store/store-lost.ts";
import type { FailureStreak, KeyTrouble, Member } from "../gateway/member.ts";
import { moneyOf, together, type MoneyShown } from "./money-shown.ts";
import { showFailing, type AllFailing } from "./failures.ts";
import { parkedShown, type ParkedShown } from "./parked-shown.ts";
import { stopsInForce, type HaltShown } from "./stops-in-force.ts";
import { showHeld, type HeldShown } from "./held.ts";
import type { OpenBreaker } from "../gateway/breaker.ts";
import type { ModelWait } from "../model/models.ts";
import type { Live } from "./live-runtime.ts";
import { showProposal, withinLength, type Proposal } from "./proposals.ts";
import { storedBreakers } from "../gateway/network-breakers.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { WebhooksShown } from "../webhooks/webhooks.ts";
import type { ProcessShown } from "./process-shown.ts";

export interface UseOfLimit {
  readonly used: number;
  readonly limit: number;
}

export interface WaitShown {
  readonly lane: Lane;
  readonly rule: WaitRule;
  readonly message: string;
  readonly since: number;
  readonly until: number;
}

/** A polled list, or a schedule. */
export interface SourceShown {
  readonly name: string;
  readonly dueAt: number | null;
  /** Its unread gaps of the last days; oldest first. */
  readonly gaps: readonly Gap[];
  /** Set if the last polls failed. */
  readonly readFailure: ReadFailure | undefined;
}

export interface SpecialistShown {
  readonly handle: string;
  /** The process of a fleet that runs it, as `host:pid`. */
  readonly process?: string;
  readonly tier: Tier | undefined;
  /** The network's trust in it, if the profile has trust tiers. */
  readonly trust?: string;
  /** The operations that more trust unlocks. */
  readonly trustLacks?: readonly string[];
  readonly accountId: string | undefined;
  readonly retired: boolean;
  /** Set while it has not begun in this process, because its past is still being read. */
  readonly awaitsPast?: { readonly message: string };
  /** Confirmed actions by operation. */
  readonly actions: { readonly [operation: string]: number };
  /** Unresolved intents by state. */
  readonly open: { readonly [State in IntentState]?: number };
  /** Number of actions that wait for the Guardian, and the end of the time to answer the first. */
  readonly awaiting?: Awaiting;
  readonly quota: { readonly hour: UseOfLimit; readonly day: UseOfLimit } | undefined;
  /** The cooldown that the network asked for. */
  readonly cooldown: { readonly until: number; readonly reason: string } | undefined;
  readonly money: readonly MoneyShown[];
  /** Watched jobs by status. */
  readonly jobs: { readonly [state: string]: number };
  readonly waits: readonly WaitShown[];
  /** The reason if nothing is sent for it at all. */
  readonly parked: ParkedShown | undefined;
  /** Consecutive failed handlings up to the last one, in the running process. */
  readonly failing?: FailureStreak;
  /** Its waiting actions, by rule. */
  readonly held: readonly HeldShown[];
  readonly sources: readonly SourceShown[];
}

/** An intent or event that waits for a person. */
export interface WaitingForPerson {
  readonly about: "action" | "event";
  readonly id: string;
  readonly handle: string;
  /** The operation of an intent, the kind of an event. */
  readonly what: string;
  readonly target?: string;
  readonly message: string;
  readonly since: number;
  /** Its handler failed: it is also part of a group in `failing`. */
  readonly isFailing?: true;
  /** An action that a person must settle before it may be tried again. */
  readonly mayHaveHappened?: true;
}

export interface Snapshot extends AllFailing {
  readonly at: number;
  /** Undefined if no runtime is running: the snapshot then comes from the store. Of a fleet, the process that was asked. */
  readonly running: { readonly pid: number; readonly since: number; readonly baseUrl: string; readonly set: "a" | "b" } | undefined;
  /** The processes of a fleet, the oldest first; absent where one process has the store. */
  readonly processes?: readonly ProcessShown[];
  /** The processes that did not answer, with their specialists, of which nothing is shown. */
  readonly unseen?: string;
  /** The specialists that `unseen` is about. */
  readonly unseenHandles?: readonly string[];
  /** Set if the running process can no longer write its store: it sends nothing until it is restarted or, of a fleet, the server is back. */
  readonly storeLost?: { readonly message: string; readonly hint?: string; readonly since?: number };
  readonly halts: readonly HaltShown[];
  readonly pauses: readonly Stop[];
  /** Accounts that spend nothing until a person unfreezes them. */
  readonly frozen: readonly Frozen[];
  readonly approvals: readonly Proposal[];
  readonly parked: readonly WaitingForPerson[];
  readonly doubts: readonly WaitingForPerson[];
  /** Decisions that wait for the network's own Guardian. */
  readonly pending: readonly WaitingForPerson[];
  /** Deliverables that the network refused, of jobs that are still ours. */
  readonly undelivered: readonly WaitingForPerson[];
  /** Open breakers: operations that the network lacks, forbids or answers unreadably. */
  readonly stopped: readonly OpenBreaker[];
  /** Changes in answers since earlier ones, worst first: paths and types, never values. */
  readonly drift: readonly DriftEntry[];
  /** Models that cannot be asked now, and why. */
  readonly models: readonly ModelWait[];
  /** How many there are of each list above that is cut at its newest entries; `changed`: operations whose answers changed. */
  readonly totals: { readonly [list in CutList | "changed"]: number };
  readonly specialists: readonly SpecialistShown[];
  /** Money of all specialists together, with the Guardian's own daily caps while a runtime runs. */
  readonly money: readonly MoneyShown[];
  /** Undefined without a receiver. */
  readonly webhooks: WebhooksShown | undefined;
}

/** Lists of which a status has the newest entries only. */
export type CutList = "approvals" | "parked" | "doubts" | "pending" | "undelivered" | "stopped" | "drift";

/** Entries of a list of a status. */
export const MAX_SHOWN = 100;
const NO_TOTALS = { approvals: 0, parked: 0, doubts: 0, pending: 0, undelivered: 0 } as const;

/** Everything at once; lists are bounded, newest first. A store that is lost and cannot be read either is shown by what memory knows. */
export async function showStatus(from: StatusParts): Promise<Snapshot> {
  try {
    return await readStatus(from);
  } catch (error) {
    const lost = from.live?.runtime.parts.storeLost();
    if (lost === undefined) throw error;
    return withoutStore(from, lost, messageOf(error));
  }
}

interface StatusParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly live?: Live;
}

/** Parts of a status that only the store knows. */
const NOTHING_READ = {
  failing: [],
  failingCounts: { events: 0, parked: 0, groups: 0 },
  pauses: [],
  frozen: [],
  approvals: [],
  parked: [],
  doubts: [],
  pending: [],
  undelivered: [],
  money: [],
  webhooks: undefined,
  stopped: [],
  drift: [],
  models: [],
  specialists: [],
  totals: { ...NO_TOTALS, stopped: 0, drift: 0, changed: 0 },
} as const;

function withoutStore({ clock, live }: StatusParts, lost: LostStore, unread: string): Snapshot {
  const now = clock.now();
  const { breakers, unkeptHalts, models } = live?.runtime.parts ?? {};
  const [stopped, drift, members] = [breakers?.stops() ?? [], breakers?.drift() ?? [], live?.runtime.members() ?? []];
  return {
    ...statusOfLost({ at: now, running: runningOf(live), unkept: unkeptHalts?.all() ?? [] }),
    storeLost: lossShown(lost, `${lost.error.message}; it cannot be read either (${unread}), so what waits in it is not shown`),
    stopped: stopped.slice(0, MAX_SHOWN),
    drift: drift.slice(0, MAX_SHOWN),
    totals: { ...NO_TOTALS, stopped: stopped.length, drift: drift.length, changed: changedOperations(drift) },
    models: models?.waits() ?? [],
    specialists: members.map((member) => showOne(member.specialist.handle, { rows: UNKNOWN, usage: undefined, member, now })),
  };
}

/** The status of a process that has no store now, as one of a fleet without its server. `unkept`: halts that no store keeps. */
export function statusOfLost({
  unkept,
  ...lost
}: Pick<Snapshot, "at" | "running" | "storeLost"> & { readonly unkept: readonly Stop[] }): Snapshot {
  return { ...NOTHING_READ, ...lost, halts: unkept.map((halt) => ({ ...halt, kept: false })) };
}

function runningOf(live: StatusParts["live"]): Snapshot["running"] {
  return live && { pid: process.pid, since: live.startedAt, baseUrl: live.baseUrl, set: live.runtime.parts.profile.set };
}

async function readStatus({ store, clock, live }: StatusParts): Promise<Snapshot> {
  const members = live?.runtime.members() ?? [];
  const running = new Map(members.map((member) => [String(member.specialist.handle), member]));
  const breakers = live?.runtime.parts.breakers ?? (await storedBreakers(store, clock));
  const now = clock.now();
  const [stops, frozen, approvals, events, eventCount, waits, specialists] = await Promise.all([
    stopsInForce(store, live?.runtime.parts.unkeptHalts),
    store.frozen(),
    store.reads.openApprovals(MAX_SHOWN, now),
    store.reads.parkedEvents(undefined, MAX_SHOWN),
    store.reads.parkedEventCount(),
    store.reads.waitingIntents(MAX_SHOWN),
    showSpecialists(store, clock, { members, keptOut: live?.runtime.parts.keptOut?.() }),
  ]);
  const { parked, doubts, pending, undelivered } = waits;
  const isHere = ({ handle }: OpenBreaker): boolean => handle === undefined || live?.has?.(asHandle(handle)) !== false;
  const [stopped, drift] = [breakers.stops().filter(isHere), breakers.drift()];
  const failing = await showFailing(store);
  const lost = live?.runtime.parts.storeLost();
  return {
    at: now,
    running: runningOf(live),
    ...failing,
    ...(lost === undefined ? {} : { storeLost: lossShown(lost) }),
    ...stops,
    frozen,
    approvals: withinLength(
      approvals.map((open) =>
        showProposal(open, now, live && { profile: live.runtime.parts.profile, member: running.get(open.intent.specialist) }),
      ),
    ),
    parked: [...events.map(parkedEvent), ...parked.rows.map(waiting)],
    doubts: doubts.rows.map(waiting),
    pending: pending.rows.map(waiting),
    undelivered: undelivered.rows.map(waiting),
    stopped: stopped.slice(0, MAX_SHOWN),
    drift: drift.slice(0, MAX_SHOWN),
    totals: {
      approvals: specialists.reduce((count, { awaiting }) => count + (awaiting?.count ?? 0), 0),
      parked: eventCount + parked.total,
      doubts: doubts.total,
      pending: pending.total,
      undelivered: undelivered.total,
      stopped: stopped.length,
      drift: drift.length,
      changed: changedOperations(drift),
    },
    models: live?.runtime.parts.models?.waits() ?? [],
    specialists: specialists.map((one) => ({
      ...one,
      ...defined({ trust: breakers.trust.of(one.handle), trustLacks: breakers.trust.lacks(one.handle) }),
    })),
    money: together(specialists, live?.runtime.parts.guardianCaps?.perDay),
    webhooks: await live?.runtime.webhooks?.shown(),
  };
}

function parkedEvent({ id, specialist, kind, note, failure, parkedAt }: ParkedEvent): WaitingForPerson {
  const row = { about: "event", id, handle: specialist, what: kind, message: note, since: parkedAt } as const;
  return failure === undefined ? row : { ...row, isFailing: true };
}

/** The number of operations whose answers changed. */
export function changedOperations(drift: readonly DriftEntry[]): number {
  return new Set(drift.filter(isChange).map(({ operation }) => operation)).size;
}

/** False for something new in an answer, which breaks nothing. */
export function isChange({ severity }: Pick<DriftEntry, "severity">): boolean {
  return severity !== "note";
}

function waiting(intent: Intent): WaitingForPerson {
  return defined({
    about: "action" as const,
    id: intent.id,
    handle: intent.specialist,
    what: intent.operation,
    message: intent.message ?? intent.code ?? "",
    since: lastWentOnAt(intent),
    target: intent.target,
    mayHaveHappened: mayHaveHappened(intent) || undefined,
  });
}

/** Specialists from their rows, and from memory while they run: as many queries for a thousand as for one. */
export async function showSpecialists(
  store: Store,
  clock: Clock,
  {
    members = [],
    keptOut,
    handle,
  }: { readonly members?: readonly Member[]; readonly keptOut?: ReadonlyMap<Handle, KeyTrouble> | undefined; readonly handle?: string },
): Promise<readonly SpecialistShown[]> {
  const now = clock.now();
  const only = handle === undefined ? undefined : asHandle(handle);
  const [overview, usage] = await Promise.all([store.reads.overview(now, only), store.usage(now, only)]);
  const running = new Map(members.map((member) => [member.specialist.handle, member]));
  const handles = only === undefined ? new Set([...overview.keys(), ...running.keys()]) : [only];
  return [...handles].toSorted().map((one) => {
    const member = running.get(one);
    const known = { rows: overview.get(one) ?? UNKNOWN, usage: usage.get(one), member, keptOut: keptOut?.get(one), now };
    const shown = showOne(one, known);
    return member !== undefined && store.awaitsPast(one) ? { ...shown, awaitsPast: PAST_READ } : shown;
  });
}

/** The specialists that run, without those of the store that no longer do. */
export async function showRunning(
  { store, runtime }: { readonly store: Store; readonly runtime: Pick<Runtime, "members"> },
  clock: Clock,
): Promise<readonly SpecialistShown[]> {
  const members = runtime.members();
  const running = new Set<string>(members.map(({ specialist }) => specialist.handle));
  return (await showSpecialists(store, clock, { members })).filter(({ handle }) => running.has(handle));
}

const PAST_READ = { message: "its past is still being read from the server; it begins once that is here" };

/** A specialist that has no rows yet. */
const UNKNOWN: SpecialistOverview = {
  row: NO_ROW,
  counts: [],
  jobs: {},
  sources: [],
  awaiting: undefined,
  held: [],
};

interface Known {
  readonly rows: SpecialistOverview;
  readonly usage: Usage | undefined;
  readonly member: Member | undefined;
  readonly keptOut?: KeyTrouble | undefined;
  readonly now: number;
}

function showOne(handle: string, { rows, usage, member, keptOut, now }: Known): SpecialistShown {
  const { row, counts, awaiting } = rows;
  const use = usage?.quota;
  const waits = [...(member?.waits ?? [])].map(([lane, wait]) => ({ lane, ...wait }));
  return {
    handle,
    tier: member?.specialist.tier,
    accountId: member?.accountId ?? row.accountId,
    retired: member?.retired ?? false,
    actions: sum(counts.filter(({ state }) => state === "confirmed").map(({ operation, count }) => [operation, count])),
    open: {
      ...sum(counts.filter(({ state }) => OPEN.includes(state) && state !== "proposed").map(({ state, count }) => [state, count])),
      // The row of an expired action may still say so.
      ...(awaiting === undefined ? {} : { proposed: awaiting.count }),
    },
    ...(awaiting === undefined ? {} : { awaiting }),
    quota: use === undefined ? undefined : { hour: pick(use.hour), day: pick(use.day) },
    cooldown: use === undefined || use.parkedUntil <= now ? undefined : { until: use.parkedUntil, reason: use.parkReason },
    money: moneyOf(usage?.money ?? [], member?.specialist.spend.perDay),
    jobs: rows.jobs,
    waits,
    ...(typeof member?.handling === "object" ? { failing: member.handling } : {}),
    held: showHeld(rows.held, waits, now),
    parked: parkedShown(row, member, keptOut),
    sources: rows.sources.map(({ name, dueAt, cursor }) => {
      const list = readListState(cursor, now);
      return { name, dueAt, gaps: list.gaps, readFailure: reportedReadFailure(list) };
    }),
  };
}

function sum(entries: readonly (readonly [string, number])[]): { readonly [name: string]: number } {
  const sums: Record<string, number> = {};
  for (const [name, count] of entries) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function pick({ used, limit }: UseOfLimit): UseOfLimit {
  return { used, limit };
}
