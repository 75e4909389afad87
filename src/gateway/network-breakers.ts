/** Open breakers of a network: operations it lacks, forbids, answers in another shape or unreadably, and the trust it reports. */
import type { Call, Outcome } from "../contract/call.ts";
import type { DriftPolicy, Observation, Pins } from "../contract/reading/pinned-fields.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { TrustTiers } from "../contract/profile/trust-tiers.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { createAnnouncer, type Announcer } from "../core/events.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { NetworkStateChange, NetworkStateRow, NetworkStateStore } from "../store/network-state.ts";
import {
  BREAKERS,
  claimProbe,
  isClosedBy,
  isProbeDue,
  openCircuit,
  refuseProbe,
  releaseProbe,
  sendProbe,
  type OpenBreaker,
  type RefusalClass,
} from "./breaker.ts";
import { createRefusalClassifier } from "./classify-refusal.ts";
import { createDriftLog, type DriftEntry, type DriftLog } from "./drift.ts";
import {
  breakerName,
  DRIFT,
  driftName,
  driftRow,
  readRows,
  rowNameOf,
  rowOf,
  underProfile,
  type HeldBreaker,
} from "./network-state-rows.ts";
import { createPinMemory } from "./pin-memory.ts";
import { createTrustBreakers, type TrustBreakers } from "./trust.ts";

export interface Breakers {
  /** The open breaker that blocks a request now. */
  stop(handle: string, operation: string, isWrite: boolean): OpenBreaker | undefined;
  /**
   * Claims the probe while a request asks for admission: until released, no other request passes a breaker whose probe is due. Undefined if
   * it meets no breaker.
   */
  claim(handle: string, operation: string, isWrite: boolean): (() => void) | undefined;
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
const CLAIMED_RECHECK_MS = SECOND;
/** For this time, only a read may probe a stopped account. */
const READS_FIRST_MS = 30 * MINUTE;
/** Interval at which the count of a drift is stored. */
const DRIFT_KEPT_EVERY_MS = MINUTE;

export function createBreakers(options: BreakerOptions): Breakers {
  const { clock, writes, keep } = options;
  const held = createHeldBreakers(options);
  const refusals = createRefusalClassifier();
  const book = createPinMemory(keep);
  const trust = createTrustBreakers({ clock, tiers: options.trust, keep });
  const log = createStoredDriftLog(options, (operation) => held.refuse(unreadable(operation)));
  /** Opens the breaker of a changed operation, if the policy has one. */
  const openForDrift = (operation: string, lastWriteAt?: number): void => {
    const { reason, advice, sinceMs = clock.now() } = log.verdict(operation);
    if (reason === "drift") held.openForDrift(operation, { isSlow: advice === "slow", since: sinceMs, lastWriteAt });
  };
  const forgetDrift = (operation: string): NetworkStateChange["drop"] => [
    ...log.clear(operation).map((entry) => ({ kind: DRIFT, name: driftName(entry) })),
    ...held.close(held.all().filter((one) => one.kind === "drift" && one.operation === operation)),
  ];

  return {
    stop(handle, operation, isWrite) {
      // Its end is read from the account, so no request is let through as a probe.
      const lacking = trust.stop(handle, operation);
      if (lacking !== undefined) return lacking;
      const met = held.met(handle, operation, isWrite);
      return met.length === 0 ? undefined : blockedBy(met, isWrite, clock.now());
    },
    claim: (handle, operation, isWrite) => held.claim(held.met(handle, operation, isWrite)),
    leaving(handle, operation, isWrite) {
      for (const breaker of held.met(handle, operation, isWrite)) held.store(sendProbe(breaker.kind, breaker, clock.now()));
    },
    heard(handle, call, isWrite, outcome) {
      const { operation } = call;
      if (isWrite) log.wrote(operation, outcome);
      book.noticed(operation);
      const met = held.met(handle, operation, isWrite);
      if (met.length === 0 && isClosedBy("refusal", outcome.class)) return refusals.forget(handle, operation);
      const closed = met.filter(({ kind }) => isClosedBy(kind, outcome.class));
      const drop = [...held.close(closed), ...(closed.some((one) => one.handle === undefined) ? forgetDrift(operation) : [])];
      if (drop.length > 0) keep({ put: [], drop });
      if (isClosedBy("refusal", outcome.class)) return refusals.forget(handle, operation);
      const isStillUnreadable = outcome.class === "unknown" && outcome.unreadable === true && met.some(({ code }) => code === "unreadable");
      const refusal = refusals.learn(handle, call, outcome) ?? (isStillUnreadable ? unreadable(operation) : undefined);
      if (refusal !== undefined) held.refuse(refusal);
    },
    pins: (operation) => book.of(operation),
    drifted(operation, observations) {
      log.note(operation, observations);
      openForDrift(operation);
    },
    stops() {
      const effective = held.all().filter(({ kind, operation }) => kind !== "drift" || writes(operation ?? ""));
      return [...effective.map((breaker) => shown(breaker, clock.now())), ...trust.stops()];
    },
    trust,
    drift: () => log.entries(),
    restore(rows) {
      const known = readRows(rows);
      for (const breaker of known.stops) held.set(breaker);
      log.restore(known.drift);
      const slowed = new Map(known.slowed);
      for (const { operation } of known.drift) openForDrift(operation, slowed.get(operation));
      trust.restore(rows);
      book.restore(rows);
    },
    lift(name, handle) {
      const concerned = held.all().filter((stop) => stop.kind === "refusal" && concerns(stop, name, handle));
      for (const stop of concerned) if (stop.handle !== undefined) refusals.forget(stop.handle, name);
      const drop = [...held.close(concerned), ...forgetDrift(name)];
      const put = trust.lookNow(name, handle);
      if (drop.length + put.length === 0) return undefined;
      // A person who has checked the change accepts it as it is now.
      return { put, drop: [...drop, ...book.forget(name)] };
    },
  };
}

const NONE: readonly HeldBreaker[] = [];

/** The breaker that no request passes now. A write that waits for a read to close it asks again soon. */
function blockedBy(met: readonly HeldBreaker[], isWrite: boolean, now: number): OpenBreaker | undefined {
  const blocking = met.find((breaker) => !mayProbe(breaker, isWrite, now));
  if (blocking === undefined) return undefined;
  return { ...shown(blocking, now), ...(isProbeDue(blocking, now) ? { probeAt: now + MINUTE } : {}) };
}

/** A stopped account is probed by a read, since some networks stop it for longer with each write; without any read, by a write in the end. */
function mayProbe(breaker: HeldBreaker, isWrite: boolean, now: number): boolean {
  return isProbeDue(breaker, isWrite && breaker.operation === undefined ? now - READS_FIRST_MS : now);
}

/** The open breakers that requests probe, in memory and as rows. */
function createHeldBreakers({ clock, announcer, keep }: BreakerOptions) {
  const held = new Map<string, HeldBreaker>();
  const set = (breaker: HeldBreaker): void => void held.set(breakerName(breaker), breaker);
  const store = (breaker: HeldBreaker): void => {
    set(breaker);
    keep({ put: [rowOf(breaker, clock.now())], drop: [] });
  };
  return {
    set,
    store,
    all: (): readonly HeldBreaker[] => [...held.values()],
    /** The breakers that a request meets, widest first. It passes if the probe of each is due. */
    met(handle: string, operation: string, isWrite: boolean): readonly HeldBreaker[] {
      if (held.size === 0) return NONE; // asked three times for every request, and nearly always empty
      const names = [
        breakerName({ kind: "refusal", handle, operation: undefined }),
        breakerName({ kind: "refusal", handle, operation }),
        breakerName({ kind: "refusal", handle: undefined, operation }),
        ...(isWrite ? [breakerName({ kind: "drift", handle: undefined, operation })] : []),
      ];
      return names.flatMap((name) => held.get(name) ?? []);
    },
    claim(met: readonly HeldBreaker[]): (() => void) | undefined {
      if (met.length === 0) return undefined;
      const claimed = met.map(claimProbe);
      for (const breaker of claimed) set(breaker);
      return () => {
        for (const breaker of claimed) if (held.get(breakerName(breaker)) === breaker) set(releaseProbe(breaker));
      };
    },
    refuse(refusal: RefusalClass): void {
      const now = clock.now();
      const known = held.get(breakerName({ kind: "refusal", ...refusal }));
      const next = known === undefined ? openCircuit("refusal", now) : refuseProbe("refusal", known, now);
      if (next === known) return;
      store({ ...next, kind: "refusal", ...refusal });
      const { handle = "", code, message } = refusal;
      if (known === undefined) announcer.emit("parked", { at: now, handle, code, message });
    },
    openForDrift(
      operation: string,
      change: { readonly isSlow: boolean; readonly since: number; readonly lastWriteAt: number | undefined },
    ) {
      const { isSlow, since, lastWriteAt } = change;
      const breaker = { kind: "drift" as const, ...shapeChange(operation, isSlow) };
      if (held.has(breakerName(breaker))) return;
      const waitMs = BREAKERS.drift.delays.firstMs;
      const dueAt = lastWriteAt === undefined ? since : lastWriteAt + waitMs;
      set({ ...breaker, since, waitMs, probeAt: isSlow ? dueAt : undefined });
    },
    /** Returns the rows to delete. */
    close(closed: readonly HeldBreaker[]): NetworkStateChange["drop"] {
      for (const breaker of closed) held.delete(breakerName(breaker));
      return closed.map(rowNameOf);
    },
  };
}

function shown({ kind: _kind, probe, ...breaker }: HeldBreaker, now: number): OpenBreaker {
  return probe === "claimed" ? { ...breaker, probeAt: now + CLAIMED_RECHECK_MS } : breaker;
}

/** True if a person means this breaker by the name of an operation (for one specialist, with a handle) or of a specialist. */
function concerns(stop: OpenBreaker, name: string, handle: string | undefined): boolean {
  if (stop.operation === undefined) return stop.handle === name;
  return stop.operation === name && (handle === undefined || stop.handle === undefined || stop.handle === handle);
}

/** A drift log whose entries are announced once, and stored now and then. */
function createStoredDriftLog(options: BreakerOptions, onQuarantine: (operation: string) => void): DriftLog {
  const { clock, announcer, drift: policy = "note", quarantineAfter, keep } = options;
  const keptAt = new Map<string, number>();
  return createDriftLog({
    clock,
    policy,
    ...defined({ quarantineAfter }),
    onQuarantine,
    onSeen(entry) {
      const { operation, path, kind, count, lastSeenMs: at } = entry;
      const name = driftName(entry);
      if (count === 1) announcer.emit("drift", { at, handle: "", operation, path, kind });
      else if (at - (keptAt.get(name) ?? -Infinity) < DRIFT_KEPT_EVERY_MS) return;
      keptAt.set(name, at);
      keep({ put: [driftRow(entry)], drop: [] });
    },
  });
}

/** Loads the state stored by an earlier run, without the parts that a changed profile may have cured. */
export async function loadBreakers(breakers: Breakers, store: NetworkStateStore, profile: Profile, now: number): Promise<void> {
  const rows = await store.networkState();
  const { row, void: cured } = underProfile(profile, rows);
  await store.saveNetworkState({ put: [row], drop: cured }, now);
  breakers.restore(rows.filter((one) => !cured.includes(one)));
}

/** The stored state of a runtime that is not running: to be shown and lifted. */
export async function storedBreakers(store: NetworkStateStore, clock: Clock): Promise<Breakers> {
  const breakers = createBreakers({ clock, announcer: createAnnouncer(), trust: undefined, writes: () => true, keep: () => undefined });
  breakers.restore(await store.networkState());
  return breakers;
}

function unreadable(operation: string): RefusalClass {
  return {
    rule: "drift",
    code: "unreadable",
    message: `the answers to ${operation} cannot be read, so it sends no more writes: state where its record is (singles), or answer: any if a bare 2xx is enough`,
    handle: undefined,
    operation,
  };
}

function shapeChange(operation: string, isSlow: boolean): RefusalClass {
  const what = isSlow ? "its writes are sent minutes apart" : "it sends no more writes";
  return {
    rule: "drift",
    code: isSlow ? "shape_slowed" : "shape_changed",
    message: `${operation} answers in another shape than before, so ${what}; see retinue doctor --diff, then: retinue retry ${operation}`,
    handle: undefined,
    operation,
  };
}
