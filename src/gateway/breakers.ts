/** Circuit breakers of a network: operations it lacks, forbids or answers unreadably, and the time of each next probe. */
import type { Call, Outcome } from "../contract/call.ts";
import type { DriftEntry } from "./drift.ts";
import type { DriftPolicy, Observation, Pins } from "../contract/reading/pins.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { TrustTiers } from "../contract/profile/trust-tiers.ts";
import { longerMs } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { createAnnouncer, type Announcer } from "../core/events.ts";
import { SECOND } from "../core/units.ts";
import { createRefusalBreakers, PROBES, type StoredBreaker, type RefusalClass, type OpenBreaker } from "./classify-refusal.ts";
import { createDriftBreakers, type DriftBreakers } from "./drift-policy.ts";
import { createPinMemory } from "./pin-memory.ts";
import { createTrustBreakers, type TrustBreakers } from "./trust.ts";
import { readRows, STOP, stopName, stopRow, underProfile } from "./network-state-rows.ts";
import type { NetworkStateChange, NetworkStateRow, NetworkStateStore } from "../store/network-state.ts";

export interface Breakers {
  /** The open breaker that blocks a request now. */
  stop(handle: string, operation: string, isWrite: boolean): OpenBreaker | undefined;
  /** Claims the probe while a request asks for admission: until released, no other request passes a breaker whose probe is due. */
  claim(handle: string, operation: string, isWrite: boolean): () => void;
  /** Called as a request leaves through an open breaker: it is the probe. */
  leaving(handle: string, operation: string, isWrite: boolean): void;
  /** Applies an answer: it may open or close breakers. */
  heard(handle: string, call: Call, isWrite: boolean, outcome: Outcome): void;
  /** The pins of an operation's answers. */
  pins(operation: string): Pins;
  /** Records changes of shape that a client reports. */
  drifted(operation: string, observations: readonly Observation[]): void;
  /** All open breakers, those of drift included. */
  stops(): readonly OpenBreaker[];
  /** The network's trust in each specialist, and the operations it does not permit. */
  readonly trust: TrustBreakers;
  /** Worst first. */
  drift(): readonly DriftEntry[];
  /** Restores the state stored by an earlier run. */
  restore(rows: readonly NetworkStateRow[]): void;
  /**
   * Closes the breakers of an operation (for one specialist, with a handle) or of a specialist of that name, by a person's order. Returns
   * the rows to delete; undefined if there was none.
   */
  lift(name: string, handle?: string): NetworkStateChange | undefined;
}

export interface BreakerOptions {
  readonly clock: Clock;
  readonly announcer: Announcer;
  /** Reaction to a breaking change of shape. Default `note`. */
  readonly drift?: DriftPolicy;
  /** The profile's trust tiers; undefined without a profile, when stored rows are used. */
  readonly trust: TrustTiers | undefined;
  /** Consecutive unreadable answers to writes of one operation after which it stops. Default 3. */
  readonly quarantineAfter?: number;
  /** Returns true if an operation writes: drift in reads stops nothing. */
  readonly writes: (operation: string) => boolean;
  /** Stores changes that must survive a restart. */
  readonly keep: (change: NetworkStateChange) => void;
}

/** While one request claims the probe, others ask again after this. */
const CLAIMED_LOOK_MS = SECOND;

export function createBreakers(options: BreakerOptions): Breakers {
  const { clock, writes, keep } = options;
  const held = new Map<string, StoredBreaker>();
  const claimed = new Set<string>();
  const lessons = createRefusalBreakers();
  const hold = (lesson: RefusalClass): void => holdFor(lesson, held, options);
  const book = createPinMemory(keep);
  const trust = createTrustBreakers({ clock, tiers: options.trust, keep });
  const watch = watchDrift(options, (operation) => hold(unreadable(operation)));
  const standingIn = (handle: string, operation: string, isWrite: boolean): OpenBreaker | undefined =>
    applying(held, handle, operation) ?? (isWrite ? watch.stopOf(operation) : undefined);
  const forget = (names: readonly string[], operation: string | undefined): NetworkStateChange => {
    for (const name of names) held.delete(name);
    const drift = operation === undefined ? [] : watch.forget(operation);
    return { put: [], drop: [...names.map((name) => ({ kind: STOP, name })), ...drift] };
  };

  return {
    stop(handle, operation, isWrite) {
      // Its end is read from the account, so no request is let through as a probe.
      return trust.stop(handle, operation) ?? unlessDue(standingIn(handle, operation, isWrite), claimed, clock.now());
    },
    claim(handle, operation, isWrite) {
      const stop = standingIn(handle, operation, isWrite);
      if (stop === undefined) return () => undefined;
      const name = stopName(stop);
      claimed.add(name);
      return () => void claimed.delete(name);
    },
    leaving(handle, operation, isWrite) {
      const stop = applying(held, handle, operation);
      if (stop !== undefined) put(held, { ...stop, probeAt: clock.now() + stop.waitMs }, keep);
      if (isWrite) watch.left(operation);
    },
    heard(handle, call, isWrite, outcome) {
      const { operation } = call;
      const everyones = stopName({ handle: undefined, operation });
      if (isWrite) watch.wrote(operation, outcome);
      book.noticed(operation);
      if (outcome.class === "confirmed" || outcome.class === "pending") {
        lessons.forget(handle, operation);
        const ours = [operation, undefined].map((one) => stopName({ handle, operation: one })).filter((name) => held.has(name));
        if (held.has(everyones)) keep(forget([everyones, ...ours], operation));
        else if (ours.length > 0) keep(forget(ours, undefined));
        return;
      }
      const isUnreadable = outcome.class === "unknown" && outcome.unreadable === true && held.has(everyones);
      const lesson = lessons.learn(handle, call, outcome) ?? (isUnreadable ? unreadable(operation) : undefined);
      if (lesson !== undefined) hold(lesson);
    },
    pins: (operation) => book.of(operation),
    drifted: (operation, observations) => watch.note(operation, observations),
    stops: () => [...held.values(), ...trust.stops(), ...changedStops(watch, writes)],
    trust,
    drift: () => watch.entries(),
    restore(rows) {
      const known = readRows(rows);
      for (const stop of known.stops) held.set(stopName(stop), stop);
      watch.restore(known);
      trust.restore(rows);
      book.restore(rows);
    },
    lift(name, handle) {
      const stops = [...held.values()].filter((stop) => concerns(stop, name, handle));
      for (const stop of stops) if (stop.handle !== undefined) lessons.forget(stop.handle, name);
      const forgotten = forget(stops.map(stopName), name);
      const put = trust.lookNow(name, handle);
      if (forgotten.drop.length + put.length === 0) return undefined;
      // A person who has checked the change accepts it as it is now.
      return { put, drop: [...forgotten.drop, ...book.forget(name)] };
    },
  };
}

/** Lets one request through a breaker whose probe is due, and blocks concurrent ones. */
function unlessDue(stop: OpenBreaker | undefined, claimed: ReadonlySet<string>, now: number): OpenBreaker | undefined {
  if (stop?.probeAt === undefined || stop.probeAt > now) return stop;
  return claimed.has(stopName(stop)) ? { ...stop, probeAt: now + CLAIMED_LOOK_MS } : undefined;
}

/** Opens a breaker for a refusal, or delays the next probe if the last one was refused alike. */
function holdFor(lesson: RefusalClass, held: Map<string, StoredBreaker>, { clock, announcer, keep }: BreakerOptions): void {
  const known = held.get(stopName(lesson));
  const now = clock.now();
  // No probe has left yet: this request was in flight before.
  if (known !== undefined && now < known.since + PROBES.firstMs) return;
  const waitMs = longerMs(PROBES, known?.waitMs);
  put(held, { ...lesson, since: known?.since ?? now, waitMs, probeAt: now + waitMs }, keep);
  const { handle = "", code, message } = lesson;
  if (known === undefined) announcer.emit("parked", { at: now, handle, code, message });
}

function changedStops(watch: DriftBreakers, writes: BreakerOptions["writes"]): readonly OpenBreaker[] {
  const operations = new Set(watch.entries().map(({ operation }) => operation));
  return [...operations].filter(writes).flatMap((operation) => watch.stopOf(operation) ?? []);
}

function put(held: Map<string, StoredBreaker>, stop: StoredBreaker, keep: BreakerOptions["keep"]): void {
  held.set(stopName(stop), stop);
  keep({ put: [stopRow(stop)], drop: [] });
}

/** The widest breaker that a request meets. */
function applying(held: ReadonlyMap<string, StoredBreaker>, handle: string, operation: string): StoredBreaker | undefined {
  if (held.size === 0) return undefined; // asked three times for every request, and nearly always empty
  return (
    held.get(stopName({ handle, operation: undefined })) ??
    held.get(stopName({ handle, operation })) ??
    held.get(stopName({ handle: undefined, operation }))
  );
}

/** True if a person means this breaker by the name of an operation (for one specialist, with a handle) or of a specialist. */
function concerns(stop: OpenBreaker, name: string, handle: string | undefined): boolean {
  if (stop.operation === undefined) return stop.handle === name;
  return stop.operation === name && (handle === undefined || stop.handle === undefined || stop.handle === handle);
}

function watchDrift(options: BreakerOptions, onQuarantine: (operation: string) => void): DriftBreakers {
  const { clock, announcer, drift = "note", quarantineAfter, keep } = options;
  return createDriftBreakers({
    clock,
    announcer,
    policy: drift,
    ...(quarantineAfter === undefined ? {} : { quarantineAfter }),
    keep: (row) => keep({ put: [row], drop: [] }),
    onQuarantine,
  });
}

/** Loads the state stored by an earlier run, without the parts that a changed profile may have cured. */
export async function loadBreakers(standing: Breakers, store: NetworkStateStore, profile: Profile, now: number): Promise<void> {
  const rows = await store.networkState();
  const { row, void: cured } = underProfile(profile, rows);
  await store.saveNetworkState({ put: [row], drop: cured }, now);
  standing.restore(rows.filter((one) => !cured.includes(one)));
}

/** The stored state of a runtime that is not running: to be shown and lifted. */
export async function storedBreakers(store: NetworkStateStore, clock: Clock): Promise<Breakers> {
  const standing = createBreakers({ clock, announcer: createAnnouncer(), trust: undefined, writes: () => true, keep: () => undefined });
  standing.restore(await store.networkState());
  return standing;
}

function unreadable(operation: string): RefusalClass {
  return {
    rule: "drift",
    code: "unreadable",
    message: `the answers to ${operation} cannot be read, so it sends no more writes; retinue doctor shows what the profile lacks`,
    handle: undefined,
    operation,
  };
}
