/** Several states of the program as one. Pure. */
import { defined } from "../core/defined.ts";
import type { FailingShown } from "./failures.ts";
import { together } from "./money-shown.ts";
import { withinLength } from "./proposals.ts";
import { changedOperations, MAX_SHOWN, type CutList, type Snapshot, type SpecialistShown, type WaitingForPerson } from "./status.ts";
import type { WebhooksShown } from "../webhooks/webhooks.ts";

export function joinStatuses(all: readonly Snapshot[]): Snapshot {
  const [first] = all;
  if (first === undefined) throw new TypeError("there is no status to join");
  const lists = <Entry>(of: (one: Snapshot) => readonly Entry[]): readonly Entry[] => all.flatMap(of);
  const newest = (of: (one: Snapshot) => readonly WaitingForPerson[]): readonly WaitingForPerson[] =>
    lists(of)
      .toSorted((a, b) => b.since - a.since)
      .slice(0, MAX_SHOWN);
  const caps = all
    .flatMap(({ money }) => money)
    .flatMap(({ currency, dayCapMicros: micros }) => (micros === undefined ? [] : [{ currency, micros }]));
  const specialists = eachOnce(lists(({ specialists: some }) => some));
  const failing = lists((one) => one.failing).toSorted((a, b) => b.count - a.count);
  const allStopped = lists((one) => one.stopped);
  const stopped = once(allStopped, (one) => JSON.stringify({ ...one, since: 0, probeAt: 0 }));
  const allDrift = lists((one) => one.drift);
  const drift = once(allDrift, ({ operation, kind, record, path, type }) => [operation, kind, record, path, type].join("\n"));
  // Each list is cut: those beyond it are in the totals alone.
  const counted = totals(all);
  const sums = {
    stopped: counted.stopped - (allStopped.length - stopped.length),
    drift: counted.drift - (allDrift.length - drift.length),
    changed: Math.max(changedOperations(drift), ...all.map((one) => one.totals.changed)),
  };
  const lost = all.every(({ storeLost }) => storeLost !== undefined) ? first.storeLost : undefined;
  return {
    at: Math.max(...all.map(({ at }) => at)),
    running: all.find(({ running }) => running !== undefined)?.running,
    ...defined({ storeLost: lost }),
    halts: once(
      lists((one) => one.halts),
      ({ scope }) => scope,
    ),
    pauses: once(
      lists((one) => one.pauses),
      ({ scope }) => scope,
    ),
    frozen: once(
      lists((one) => one.frozen),
      ({ scope, currency }) => `${scope}\n${currency}`,
    ),
    approvals: longest(lists((one) => one.approvals)),
    parked: newest((one) => one.parked),
    doubts: newest((one) => one.doubts),
    pending: newest((one) => one.pending),
    undelivered: newest((one) => one.undelivered),
    stopped: stopped.slice(0, MAX_SHOWN),
    drift: drift.slice(0, MAX_SHOWN),
    models: once(
      lists((one) => one.models),
      ({ model, handle, code }) => [model, handle, code].join("\n"),
    ),
    totals: { ...counted, ...sums },
    failing: failing.slice(0, MAX_SHOWN),
    failingCounts: {
      events: sum(all, (one) => one.failingCounts.events),
      parked: sum(all, (one) => one.failingCounts.parked),
      groups: sum(all, (one) => one.failingCounts.groups),
    },
    specialists,
    money: together(
      specialists,
      once(caps, ({ currency }) => currency),
    ),
    webhooks: joinWebhooks(all.flatMap(({ webhooks }) => (webhooks === undefined ? [] : [webhooks]))),
  } satisfies Snapshot & { readonly failing: readonly FailingShown[] };
}

const SUMMED = ["approvals", "parked", "doubts", "pending", "undelivered", "stopped", "drift"] as const satisfies readonly CutList[];

function totals(all: readonly Snapshot[]): { readonly [list in CutList]: number } {
  const sums: Partial<Record<CutList, number>> = {};
  for (const list of SUMMED) sums[list] = sum(all, (one) => one.totals[list]);
  return sums as Record<CutList, number>;
}

function sum(all: readonly Snapshot[], of: (one: Snapshot) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

/** The approvals that were asked for first. */
function longest(approvals: Snapshot["approvals"]): Snapshot["approvals"] {
  return withinLength(approvals.toSorted((a, b) => a.since - b.since).slice(0, MAX_SHOWN));
}

/** Entries without those whose name an earlier one has. */
export function once<Entry>(entries: readonly Entry[], nameOf: (entry: Entry) => string): readonly Entry[] {
  const known = new Map<string, Entry>();
  for (const entry of entries) if (!known.has(nameOf(entry))) known.set(nameOf(entry), entry);
  return [...known.values()];
}

/** In the order of handles. A specialist that several know is shown by the one that runs it. */
function eachOnce(specialists: readonly SpecialistShown[]): readonly SpecialistShown[] {
  const known = new Map<string, SpecialistShown>();
  for (const one of specialists) {
    const other = known.get(one.handle);
    if (other === undefined || (other.tier === undefined && one.tier !== undefined)) known.set(one.handle, one);
  }
  return [...known.values()].toSorted((a, b) => (a.handle < b.handle ? -1 : 1));
}

function joinWebhooks(all: readonly WebhooksShown[]): WebhooksShown | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const route = all.find((one) => one.route !== undefined)?.route;
  return {
    ...first,
    url: all.find(({ url }) => url !== undefined)?.url,
    ...defined({ route }),
    unsigned: all.some(({ unsigned }) => unsigned),
    counts: addUp(all.map(({ counts }) => counts)) as WebhooksShown["counts"],
    specialists: all.flatMap(({ specialists }) => specialists).toSorted((a, b) => (a.handle < b.handle ? -1 : 1)),
  };
}

/** Adds numbers up, place by place. */
function addUp(values: readonly unknown[]): unknown {
  const [first] = values;
  if (typeof first === "number") return values.reduce<number>((total, value) => total + (typeof value === "number" ? value : 0), 0);
  if (Array.isArray(first)) {
    const lists = values.filter((value) => Array.isArray(value));
    const length = Math.max(...lists.map((list) => list.length));
    return Array.from({ length }, (_, i) => addUp(lists.map((list): unknown => list[i] ?? 0)));
  }
  if (typeof first !== "object" || first === null) return first;
  const names = new Set(values.flatMap((value) => (typeof value === "object" && value !== null ? Object.keys(value) : [])));
  return Object.fromEntries(
    [...names].map((name) => [name, addUp(values.map((value): unknown => valueIn(value, name)).filter((value) => value !== undefined))]),
  );
}

function valueIn(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
