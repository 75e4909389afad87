/**
 * Metrics of a runtime in the text format of Prometheus. Counters follow announcements; everything else is read from the status when
 * somebody asks. No label grows with users: each has a closed list of values, or a bound.
 */
import type { Gauge } from "prom-client";
import { LANES } from "../contract/operations.ts";
import type { Clock } from "../core/clock.ts";
import { subscribe, type Announcer } from "../core/events.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { MICROS_PER_UNIT, SECOND } from "../core/units.ts";
import { EVERYONE } from "../limits/verdict.ts";
import type { Snapshot, SpecialistShown } from "../guardian/status.ts";
import type { Backlog } from "../store/overview.ts";
import type { loadPromClient } from "./metrics-peer.ts";

/** With more specialists than this, the label `specialist` is `all`. */
export const MAX_LABELLED = 200;
/** Values of a label that the network or a definition chooses; any further value is `other`. */
const MAX_VALUES = 20;

export interface MetricsOptions {
  readonly announcer: Announcer;
  readonly clock: Clock;
  readonly scrubber: Scrubber;
  readonly status: () => Promise<Snapshot>;
  /** Events that wait to be handled, with the time of the oldest, and actions that wait to be sent. */
  readonly backlog: () => Promise<Backlog>;
  readonly specialistCount: () => number;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  close(): void;
}

const UNKNOWN: Backlog = { events: Number.NaN, oldestEventAt: undefined, actions: Number.NaN, oldestActionAt: undefined };

/** Gauges of prom-client with the name of a counter, which `promtool check metrics` refuses. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

type Prom = Awaited<ReturnType<typeof loadPromClient>>;

export function createMetrics(prom: Prom, options: MetricsOptions): Metrics {
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const stop = countAnnouncements(prom, registry, options);
  const gauges = createGauges(prom, registry);
  return {
    contentType: registry.contentType,
    async text() {
      const status = await options.status();
      // Where the store cannot be read either, that it is lost is what counts.
      const backlog = await (status.storeLost === undefined ? options.backlog() : options.backlog().catch(() => UNKNOWN));
      setGauges(gauges, status, backlog, options.clock.now());
      return options.scrubber.clean(await registry.metrics());
    },
    close() {
      stop();
      registry.clear();
    },
  };
}

/** Returns one of the known values, or `other` for a value beyond the bound. */
function bounded(max: number, known: readonly string[] = []): (value: string) => string {
  const values = new Set(known);
  return (value) => {
    if (!values.has(value) && values.size < max) values.add(value);
    return values.has(value) ? value : "other";
  };
}

/** Counts requests, handlings and deliveries. Returns the function that ends it. */
function countAnnouncements(
  prom: Prom,
  registry: InstanceType<Prom["Registry"]>,
  { announcer, specialistCount }: MetricsOptions,
): () => void {
  const registers = [registry];
  const handleOf = bounded(MAX_LABELLED);
  const specialist = (handle: string): string => (specialistCount() > MAX_LABELLED ? "all" : handleOf(handle));
  const [laneOf, outcomeOf] = [bounded(LANES.length, LANES), bounded(MAX_VALUES)];
  const requests = new prom.Counter({
    name: "retinue_requests_total",
    help: "Requests to the network that completed",
    labelNames: ["specialist", "lane", "outcome"],
    registers,
  });
  const seconds = new prom.Histogram({
    name: "retinue_request_seconds",
    help: "Time until a request completed",
    labelNames: ["lane"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const runs = new prom.Counter({
    name: "retinue_runs_total",
    help: "Handlings of events",
    labelNames: ["specialist", "result"],
    registers,
  });
  const deliveries = new prom.Counter({
    name: "retinue_deliveries_total",
    help: "Webhook deliveries that were processed",
    labelNames: ["state"],
    registers,
  });
  const stops = [
    subscribe(announcer, "request", ({ handle, lane, outcome, tookMs }) => {
      requests.inc({ specialist: specialist(handle), lane: laneOf(lane), outcome: outcomeOf(outcome) });
      seconds.observe({ lane: laneOf(lane) }, tookMs / SECOND);
    }),
    subscribe(announcer, "run", ({ handle, result }) => runs.inc({ specialist: specialist(handle), result })),
    subscribe(announcer, "delivery", ({ state }) => deliveries.inc({ state })),
  ];
  return () => stops.forEach((end) => end());
}

const GAUGES = {
  retinue_specialists: ["Specialists of the store", []],
  retinue_keys_unusable: ["Specialists whose key cannot be used", []],
  retinue_quota_used: ["Requests counted in the window", ["specialist", "window"]],
  retinue_quota_limit: ["Requests that the window allows", ["specialist", "window"]],
  retinue_money_spent: ["Money spent since the store began, in units of its currency", ["specialist", "currency"]],
  retinue_money_spent_today: ["Money spent or held in the Guardian's day, in units of its currency", ["specialist", "currency"]],
  retinue_money_day_cap: ["Daily cap of the definitions, in units of its currency", ["specialist", "currency"]],
  retinue_inbox_events: ["Events that wait to be handled", []],
  retinue_inbox_age_seconds: ["Age of the oldest event that waits to be handled", []],
  retinue_outbox_actions: ["Actions that wait to be sent", []],
  retinue_outbox_age_seconds: ["Age of the oldest action that waits to be sent", []],
  retinue_late_seconds: ["Lateness of the most overdue poll or schedule", []],
  retinue_waiting: ["Things that wait for a person, by kind", ["kind"]],
  retinue_drift: ["Changes in the network's answers", []],
  retinue_halted: ["1 if nobody writes", []],
  retinue_halts: ["Halts in force", []],
  retinue_pauses: ["Pauses in force", []],
  retinue_store_lost: ["1 if the store can no longer be written", []],
} as const satisfies { readonly [name: string]: readonly [string, readonly string[]] };

type GaugeName = keyof typeof GAUGES;
type Gauges = { readonly [name in GaugeName]: Gauge };

function createGauges(prom: Prom, registry: InstanceType<Prom["Registry"]>): Gauges {
  const made = Object.entries(GAUGES).map(([name, [help, labelNames]]) => [
    name,
    new prom.Gauge({ name, help, labelNames: [...labelNames], registers: [registry] }),
  ]);
  return Object.fromEntries(made) as Gauges;
}

/** Gauges with labels start from nothing: a specialist that is gone has no series. */
function setGauges(gauges: Gauges, status: Snapshot, backlog: Backlog, now: number): void {
  for (const name of Object.keys(GAUGES) as GaugeName[]) if (GAUGES[name][1].length > 0) gauges[name].reset();
  const { specialists, totals, halts } = status;
  const age = (at: number | undefined): number => (at === undefined ? 0 : Math.max(0, now - at) / SECOND);
  const dues = specialists.flatMap(({ sources }) => sources.flatMap(({ dueAt }) => dueAt ?? []));
  gauges.retinue_specialists.set(specialists.length);
  gauges.retinue_keys_unusable.set(specialists.filter(({ parked }) => parked !== undefined).length);
  gauges.retinue_inbox_events.set(backlog.events);
  gauges.retinue_inbox_age_seconds.set(age(backlog.oldestEventAt));
  gauges.retinue_outbox_actions.set(backlog.actions);
  gauges.retinue_outbox_age_seconds.set(age(backlog.oldestActionAt));
  gauges.retinue_late_seconds.set(dues.reduce((latest, dueAt) => Math.max(latest, age(dueAt)), 0));
  gauges.retinue_drift.set(totals.drift);
  gauges.retinue_halted.set(halts.some(({ scope }) => scope === EVERYONE) ? 1 : 0);
  gauges.retinue_halts.set(halts.length);
  gauges.retinue_pauses.set(status.pauses.length);
  gauges.retinue_store_lost.set(status.storeLost === undefined ? 0 : 1);
  const { approvals, parked, doubts, pending, undelivered, stopped } = totals;
  const waiting = { approval: approvals, parked, in_doubt: doubts, pending, undelivered, stopped, frozen: status.frozen.length };
  for (const [kind, count] of Object.entries(waiting)) gauges.retinue_waiting.set({ kind }, count);
  setUsage(gauges, specialists);
}

/** Quota and money by specialist, or as one sum if they are too many. */
function setUsage(gauges: Gauges, specialists: readonly SpecialistShown[]): void {
  const isLabelled = specialists.length <= MAX_LABELLED;
  const currencyOf = bounded(MAX_VALUES);
  for (const { handle, quota, money } of specialists) {
    const specialist = isLabelled ? handle : "all";
    for (const window of ["hour", "day"] as const) {
      if (quota === undefined) continue;
      gauges.retinue_quota_used.inc({ specialist, window }, quota[window].used);
      gauges.retinue_quota_limit.inc({ specialist, window }, quota[window].limit);
    }
    for (const { currency: name, postedMicros, dayMicros, dayCapMicros } of money) {
      const labels = { specialist, currency: currencyOf(name) };
      gauges.retinue_money_spent.inc(labels, postedMicros / MICROS_PER_UNIT);
      gauges.retinue_money_spent_today.inc(labels, dayMicros / MICROS_PER_UNIT);
      if (dayCapMicros !== undefined) gauges.retinue_money_day_cap.inc(labels, dayCapMicros / MICROS_PER_UNIT);
    }
  }
}
