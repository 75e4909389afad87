/** What runs, in one value: specialists with their quota and money, what waits and why, what is parked, what is due. */
import type { Lane } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import type { Clock } from "../core/clock.ts";
import { asHandle } from "../core/ids.ts";
import type { Micros } from "../core/units.ts";
import type { Store } from "../store/store.ts";
import type { Member } from "./member.ts";

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
}

export interface WaitShown {
  readonly lane: Lane;
  readonly rule: string;
  readonly message: string;
  readonly since: number;
  readonly until: number;
}

export interface SpecialistShown {
  readonly handle: string;
  readonly tier: Tier | undefined;
  readonly accountId: string | undefined;
  readonly retired: boolean;
  /** Confirmed actions by operation. */
  readonly actions: { readonly [operation: string]: number };
  /** Intents by state, those not settled yet. */
  readonly open: { readonly [state: string]: number };
  readonly quota: { readonly hour: UseOfLimit; readonly day: UseOfLimit } | undefined;
  /** The network asked to wait. */
  readonly toldToWait: { readonly until: number; readonly reason: string } | undefined;
  readonly money: readonly MoneyShown[];
  /** Followed jobs by standing. */
  readonly jobs: { readonly [state: string]: number };
  readonly waits: readonly WaitShown[];
  /** Why nothing is sent for it at all. */
  readonly parked: { readonly code: string; readonly message: string; readonly since: number } | undefined;
  readonly sources: readonly { readonly name: string; readonly dueAt: number | null }[];
}

const OPEN: readonly string[] = ["proposed", "ready", "sending", "in_doubt", "pending", "parked"];
const SETTLED_STATE = "confirmed";

/** One specialist as its rows say, and what is kept of it in memory while it runs. */
export async function showSpecialist(store: Store, clock: Clock, handle: string, member?: Member): Promise<SpecialistShown> {
  const specialist = asHandle(handle);
  const [row, counts, jobs, money, keyId, sources] = await Promise.all([
    store.loadSpecialist(specialist),
    store.counts(specialist),
    store.jobCounts(specialist),
    store.spent(specialist, clock.now()),
    store.keyOf(specialist),
    store.sources(specialist),
  ]);
  const use = keyId === undefined ? undefined : await store.quotaUse(keyId, clock.now());
  const trouble = member?.keyTrouble;
  return {
    handle,
    tier: member?.specialist.tier,
    accountId: member?.accountId ?? row.accountId,
    retired: member?.retired ?? false,
    actions: sum(counts.filter(({ state }) => state === SETTLED_STATE).map(({ operation, count }) => [operation, count])),
    open: sum(counts.filter(({ state }) => OPEN.includes(state)).map(({ state, count }) => [state, count])),
    quota: use === undefined ? undefined : { hour: pick(use.hour), day: pick(use.day) },
    toldToWait: use === undefined || use.parkedUntil <= clock.now() ? undefined : { until: use.parkedUntil, reason: use.parkReason },
    money,
    jobs: sum(jobs.map(({ state, count }) => [state, count])),
    waits: [...(member?.waits ?? [])].map(([lane, wait]) => ({ lane, ...wait })),
    parked: trouble ?? (row.parked === undefined ? undefined : { ...row.parked, since: row.parked.at }),
    sources: sources.map(({ name, dueAt }) => ({ name, dueAt })),
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
