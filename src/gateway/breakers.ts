/** Where we stand with the network: what it lacks, forbids or no longer says readably, and when each is asked again. */
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
  /** What stands in a request's way now. */
  stop(handle: string, operation: string, isWrite: boolean): OpenBreaker | undefined;
  /** Somebody asks for admission now: while that is open, nobody else is let through a stop that is due for a look. */
  claim(handle: string, operation: string, isWrite: boolean): () => void;
  /** A request leaves although a stop holds: it is the probe. */
  leaving(handle: string, operation: string, isWrite: boolean): void;
  /** What an answer says of where we stand. */
  heard(handle: string, call: Call, isWrite: boolean, outcome: Outcome): void;
  /** What the answers to an operation have settled so far. */
  pins(operation: string): Pins;
  /** What a client reports of answers that changed their shape. */
  drifted(operation: string, observations: readonly Observation[]): void;
  /** Everything that holds now, with what drift stops. */
  stops(): readonly OpenBreaker[];
  /** What the network's trust in each specialist is, and is not enough for. */
  readonly trust: TrustBreakers;
  /** Worst first. */
  drift(): readonly DriftEntry[];
  /** Takes up what an earlier run learnt. */
  restore(rows: readonly NetworkStateRow[]): void;
  /**
   * A person has looked: what stops an operation (for one specialist, with a handle), or a specialist of that name, is
   * forgotten. Answers what to delete of the rows; undefined where nothing stood in the way.
   */
  lift(name: string, handle?: string): NetworkStateChange | undefined;
}

export interface BreakerOptions {
  readonly clock: Clock;
  readonly announcer: Announcer;
  /** What a breaking change of shape leads to. Default `note`. */
  readonly drift?: DriftPolicy;
  /** What the profile says of trust tiers; undefined where there is no profile at hand, and rows have to do. */
  readonly trust: TrustTiers | undefined;
  /** Unreadable answers to writes of one operation, in a row, after which it stops. Default 3. */
  readonly quarantineAfter?: number;
  /** Whether an operation writes: drift in what is only read stops nothing. */
  readonly writes: (operation: string) => boolean;
  /** Told of what a restart has to know. */
  readonly keep: (change: NetworkStateChange) => void;
}

/** While one asks whether it may be the probe, others ask again after this. */
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
      // Its end is read from the account, so that nothing is let through to try.
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
      // Whoever has looked at what changed takes it as it is now.
      return { put, drop: [...forgotten.drop, ...book.forget(name)] };
    },
  };
}

/** A stop that is due for a look lets one through, and holds those that come beside it. */
function unlessDue(stop: OpenBreaker | undefined, claimed: ReadonlySet<string>, now: number): OpenBreaker | undefined {
  if (stop?.probeAt === undefined || stop.probeAt > now) return stop;
  return claimed.has(stopName(stop)) ? { ...stop, probeAt: now + CLAIMED_LOOK_MS } : undefined;
}

/** Stops what a lesson says, or puts off the next look where the last one taught the same. */
function holdFor(lesson: RefusalClass, held: Map<string, StoredBreaker>, { clock, announcer, keep }: BreakerOptions): void {
  const known = held.get(stopName(lesson));
  const now = clock.now();
  // Nothing was let through yet to see whether it still holds: this one was under way before.
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

/** The widest stop that a request would meet. */
function applying(held: ReadonlyMap<string, StoredBreaker>, handle: string, operation: string): StoredBreaker | undefined {
  if (held.size === 0) return undefined; // asked three times for every request, and nearly always so
  return (
    held.get(stopName({ handle, operation: undefined })) ??
    held.get(stopName({ handle, operation })) ??
    held.get(stopName({ handle: undefined, operation }))
  );
}

/** Whether a person means this stop by the name of an operation (perhaps for one specialist) or of a specialist. */
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

/** Takes up at start what an earlier run learnt, save what another profile may have cured. */
export async function loadBreakers(standing: Breakers, store: NetworkStateStore, profile: Profile, now: number): Promise<void> {
  const rows = await store.networkState();
  const { row, void: cured } = underProfile(profile, rows);
  await store.saveNetworkState({ put: [row], drop: cured }, now);
  standing.restore(rows.filter((one) => !cured.includes(one)));
}

/** Where a runtime that is not at work now stood when it ended: to be looked at and lifted. */
export async function storedBreakers(store: NetworkStateStore, clock: Clock): Promise<Breakers> {
  const standing = createBreakers({ clock, announcer: createAnnouncer(), trust: undefined, writes: () => true, keep: () => undefined });
  standing.restore(await store.networkState());
  return standing;
}

function unreadable(operation: string): RefusalClass {
  return {
    rule: "drift",
    code: "unreadable",
    message: `the answers to ${operation} cannot be read, so nothing more is written by it; retinue doctor says what the profile lacks`,
    handle: undefined,
    operation,
  };
}
