/**
 * Tells people of what waits for them, outside the program: each matter once, those of one moment together, stored, so that an alert
 * survives a restart and is tried until a target takes it. A target that hangs holds up nothing but its own next alert.
 */
import type { AlertTarget } from "../config/alert-settings.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import type { Timer } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import { subscribe, type Announcer } from "../core/events.ts";
import { asJson, isObject, numberIn, sha256, textIn, type Json, type JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { Snapshot } from "../guardian/status.ts";
import type { NetworkStateStore } from "../store/network-state.ts";
import { alertOf } from "./alert.ts";
import { mattersOf, newMatters, type MatterKind, type Matters } from "./alert-matters.ts";
import { sendAlert, targetName, type AlertSender } from "./alert-targets.ts";

export interface AlertOptions extends Omit<AlertSender, "signal"> {
  readonly to: readonly AlertTarget[];
  readonly link: string | undefined;
  readonly status: () => Promise<Snapshot>;
  readonly store: NetworkStateStore;
  readonly announcer: Announcer;
  readonly log: Logger;
  readonly newId: () => string;
  /** The term in which this process tells people; undefined while another of the fleet does. Default: it always does. */
  readonly term?: (() => number | undefined) | undefined;
}

export interface Alerts {
  /** Looks once more if the store was lost, since nothing else would tell; waits for what is being sent, within its deadline. */
  close(options: { readonly isLost: boolean }): Promise<void>;
}

/** The state of the store may change without an announcement, as by a halt. */
const LOOK_MS = MINUTE;
/** The time in which matters of one cause are gathered. */
export const GATHER_MS = 5 * SECOND;
/** The least distance of two alerts: matters that come meanwhile are gathered. */
const APART_MS = MINUTE;
/** A status of many specialists takes time: at most one part in so many. */
const LOOKING_SHARE = 0.02;
/** The longest rest for that reason. A look that needs a longer one mostly waits for a silent process, which is no work of the processor. */
const MAX_REST_MS = 30 * SECOND;
/** A matter that is gone for this long, and comes again, is a new one. */
const FORGET_MS = 10 * MINUTE;
const RETRY: Backoff = { firstMs: 30 * SECOND, longestMs: HOUR };
/** An alert is dropped after so many tries, some 24 hours, with an error in the log. A number of tries means the same on every clock. */
const MAX_TRIES = 30;
/** Matters known at once, of which those that are gone are forgotten first; each kind lists at most 100. */
const MAX_KNOWN = 5_000;
const MAX_WAITING = 100;
/** The term of a process that no other shares the telling with. */
const ALONE = 0;
const ROW = { kind: "alerts", name: "state" } as const;

/** Tries of one alert at one target. */
interface Tries {
  readonly failures: number;
  readonly nextAt: number;
}

interface Waiting {
  /** As it is sent. */
  readonly alert: JsonObject;
  /** Targets that have not taken it, by their identity. */
  readonly targets: Map<string, Tries>;
  /** It is of a process without a term, while no store answered: it is in memory only, and nobody else delivers it. */
  readonly isOutOfTurn: boolean;
}

/** Starts to look. Reads the stored state first. */
export async function openAlerts(options: AlertOptions): Promise<Alerts> {
  const keeper = new AlertKeeper(options, await storedState(options.store));
  keeper.start();
  return keeper;
}

async function storedState(store: NetworkStateStore): Promise<JsonObject | undefined> {
  return (await store.networkState()).find(({ kind, name }) => kind === ROW.kind && name === ROW.name)?.data;
}

class AlertKeeper implements Alerts {
  readonly #options: AlertOptions;
  readonly #targets: ReadonlyMap<string, AlertTarget>;
  /** Matters that were alerted, with the time since which each is gone. */
  readonly #known = new Map<string, number | undefined>();
  /** Matters beyond the listed ones are known by their number alone. */
  #counts: Matters["counts"] = new Map();
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  readonly #sending = new Map<string, Promise<void>>();
  #stops: readonly (() => void)[] = [];
  #timer: Timer | undefined;
  /** Monotonic times. */
  #lookAt = 0;
  /** The cost of the last look allows no other before. */
  #notBefore = 0;
  #lastAlertAt = 0;
  #term: number | undefined;
  #looking: Promise<void> = Promise.resolve();
  #saved: Promise<void> = Promise.resolve();

  constructor(options: AlertOptions, stored: JsonObject | undefined) {
    this.#options = options;
    this.#targets = new Map(options.to.map((target) => [sha256(asJson(target)).slice(0, 12), target]));
    if (options.term === undefined) this.#term = ALONE;
    this.#restore(stored);
  }

  start(): void {
    const soon = (): void => this.#lookIn(GATHER_MS);
    const { announcer } = this.#options;
    this.#stops = [
      subscribe(announcer, "parked", soon),
      subscribe(announcer, "drift", soon),
      subscribe(announcer, "order", soon),
      subscribe(announcer, "intent", ({ state }) => {
        if (state === "proposed" || state === "parked") soon();
      }),
      subscribe(announcer, "run", ({ result }) => {
        if (result === "parked") soon();
      }),
    ];
    soon();
  }

  async close({ isLost }: { readonly isLost: boolean }): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#quiet();
    await this.#looking;
    if (isLost) await this.#look();
    else this.#closing.abort();
    await Promise.all(this.#sending.values());
    this.#closing.abort();
    this.#quiet();
    await this.#saved;
  }

  #quiet(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Looks after that time, unless it looks before. */
  #lookIn(delayMs: number): void {
    const { clock } = this.#options;
    const now = clock.monotonic();
    const at = Math.max(now + delayMs, this.#notBefore);
    if (this.#closing.signal.aborted || (this.#timer !== undefined && this.#lookAt <= at)) return;
    this.#timer?.cancel();
    this.#lookAt = at;
    this.#timer = clock.after(at - now, () => {
      this.#timer = undefined;
      this.#looking = this.#looking.then(() => this.#look());
    });
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#options;
    const began = clock.monotonic();
    let tells = false;
    try {
      tells = await this.#isToTell();
      if (tells) this.#compare(await this.#options.status());
    } catch (error) {
      log.warn("what waits for you could not be read, so no alert is sent", { message: messageOf(error) });
    }
    const mayLeave = this.#waiting.filter(({ isOutOfTurn }) => tells || isOutOfTurn);
    this.#deliver(mayLeave);
    const ended = clock.monotonic();
    this.#notBefore = ended + Math.min((ended - began) / LOOKING_SHARE, MAX_REST_MS);
    const now = clock.now();
    const due = mayLeave.flatMap(({ targets }) =>
      [...targets].flatMap(([name, { nextAt }]) => (this.#sending.has(name) ? [] : leftMs(nextAt, now))),
    );
    this.#lookIn(Math.max(SECOND, Math.min(LOOK_MS, ...due)));
  }

  /** A process that begins to tell knows what those before it have told. */
  async #isToTell(): Promise<boolean> {
    const { term = () => ALONE, store, status } = this.#options;
    const now = term();
    if (now !== undefined && now !== this.#term)
      try {
        this.#restore(await storedState(store));
      } catch (error) {
        if ((await status()).storeLost === undefined) throw error;
        return true; // nobody can have told of a lost store; the state is read once it is back
      }
    this.#term = now;
    if (now === undefined) this.#noteGone(new Set()); // another tells people of what there is now
    return now !== undefined;
  }

  /** Makes one alert of all matters that are new. */
  #compare(status: Snapshot): void {
    const { clock, newId, link } = this.#options;
    const now = clock.now();
    const present = mattersOf(status);
    const { matters, counts } = present;
    const keys = new Set(matters.map(({ key }) => key));
    let isChanged = this.#noteGone(keys);
    const fresh = newMatters(present, { isKnown: (key) => this.#known.has(key), counts: this.#counts }, now);
    const isUrgent = fresh.some(({ kind }) => kind === "store_lost");
    const isTooSoon = !isUrgent && elapsedMs(this.#lastAlertAt, now) < APART_MS;
    if (fresh.length === 0 || !isTooSoon) {
      const isCounted = [...counts].every(([kind, { total }]) => this.#counts.get(kind)?.total === total);
      isChanged ||= !isCounted || matters.some(({ key }) => !this.#known.has(key));
      this.#counts = counts;
      for (const { key } of matters) this.#known.set(key, undefined);
    }
    if (fresh.length > 0 && !isTooSoon) {
      this.#lastAlertAt = now;
      const targets = new Map([...this.#targets.keys()].map((name) => [name, { failures: 0, nextAt: now }]));
      const isOutOfTurn = this.#term === undefined;
      this.#waiting.push({ alert: asJson(alertOf(fresh, { id: newId(), at: now, link })), targets, isOutOfTurn });
      isChanged = true;
    }
    const gone = [...this.#known].filter(([, goneAt]) => goneAt !== undefined);
    for (const [key] of gone.slice(0, Math.max(0, this.#known.size - MAX_KNOWN))) this.#known.delete(key);
    while (this.#waiting.length > MAX_WAITING) this.#giveUp(this.#waiting[0], "too many alerts wait");
    if (isChanged) this.#save();
  }

  /** Notes which of the known matters are gone, and since when. Returns true if any of it is news. */
  #noteGone(present: ReadonlySet<string>): boolean {
    const now = this.#options.clock.now();
    let isChanged = false;
    for (const [key, goneAt] of this.#known) {
      if (present.has(key) === (goneAt === undefined)) {
        if (goneAt === undefined || elapsedMs(goneAt, now) < FORGET_MS) continue;
        this.#known.delete(key);
      } else this.#known.set(key, present.has(key) ? undefined : now);
      isChanged = true;
    }
    return isChanged;
  }

  /** Begins what is due, one alert at a time for each target, and awaits none. */
  #deliver(all: readonly Waiting[]): void {
    const now = this.#options.clock.now();
    for (const waiting of all) {
      if ([...waiting.targets.values()].every(({ failures }) => failures >= MAX_TRIES))
        this.#giveUp(waiting, `none of ${MAX_TRIES} tries delivered it`);
      for (const [name, { nextAt }] of waiting.targets) {
        const target = this.#targets.get(name);
        if (target === undefined || leftMs(nextAt, now) > 0 || this.#sending.has(name)) continue;
        this.#sending.set(
          name,
          this.#try(waiting, name, target).finally(() => this.#sending.delete(name)),
        );
      }
    }
  }

  async #try(waiting: Waiting, name: string, target: AlertTarget): Promise<void> {
    const { clock, log } = this.#options;
    const failure = await sendAlert({ ...this.#options, signal: this.#closing.signal }, target, waiting.alert);
    if (failure === undefined) waiting.targets.delete(name);
    else if (!this.#closing.signal.aborted) {
      const failures = (waiting.targets.get(name)?.failures ?? 0) + 1;
      const nextAt = clock.now() + backoffMs(RETRY, failures);
      waiting.targets.set(name, { failures, nextAt });
      log.warn("an alert was not delivered, and is tried again", { target: targetName(target), message: failure, tries: failures });
    }
    if (waiting.targets.size === 0) this.#forget(waiting);
    this.#save();
    this.#lookIn(GATHER_MS);
  }

  #giveUp(waiting: Waiting | undefined, why: string): void {
    if (waiting === undefined) return;
    const targets = [...waiting.targets.keys()].flatMap((name) => this.#targets.get(name) ?? []).map(targetName);
    this.#options.log.error("an alert is dropped", { why, targets, text: textIn(waiting.alert, "text") });
    waiting.targets.clear();
    this.#forget(waiting);
  }

  #forget(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** A store that takes no writes is no reason to tell nobody: the state is then in memory only. That of an earlier term is out of date. */
  #save(): void {
    const { store, clock, scrubber, log, term = () => ALONE } = this.#options;
    if (this.#term === undefined || term() !== this.#term) return;
    const stored = this.#waiting.filter(({ isOutOfTurn }) => !isOutOfTurn);
    const state = {
      known: Object.fromEntries([...this.#known].map(([key, goneAt]) => [key, goneAt ?? null])),
      waiting: stored.map(({ alert, targets }) => ({ alert, targets: Object.fromEntries(targets) })),
      counts: [...this.#counts].map(([kind, { total, unlisted }]) => [kind, total, unlisted]),
      lastAlertAt: this.#lastAlertAt,
    };
    const data = asJson(JSON.parse(scrubber.cleanJson(JSON.stringify(state))));
    this.#saved = this.#saved
      .then(() => store.saveNetworkState({ put: [{ ...ROW, data }], drop: [] }, clock.now()))
      .catch((error: unknown) => log.warn("the state of the alerts could not be stored", { message: messageOf(error) }));
  }

  #restore(stored: JsonObject | undefined): void {
    if (stored === undefined) return;
    this.#lastAlertAt = numberIn(stored, "lastAlertAt") ?? 0;
    const { known, waiting, counts } = stored;
    this.#counts = countsOf(counts);
    this.#known.clear();
    const before = this.#waiting.splice(0);
    this.#waiting.push(...before.filter(({ isOutOfTurn }) => isOutOfTurn));
    if (isObject(known))
      for (const [key, goneAt] of Object.entries(known)) this.#known.set(key, typeof goneAt === "number" ? goneAt : undefined);
    for (const one of Array.isArray(waiting) ? waiting : []) {
      if (!isObject(one) || !isObject(one["targets"]) || !isObject(one["alert"])) continue;
      const tries = Object.entries(one["targets"]).filter(([name]) => this.#targets.has(name));
      // Tried at once: a restart may have mended what kept it.
      const targets = new Map(
        tries.map(([name, value]) => [name, { failures: isObject(value) ? (numberIn(value, "failures") ?? 0) : 0, nextAt: 0 }]),
      );
      const id = one["alert"]["id"];
      // One that is being sent is not begun again.
      const same = before.find(({ alert }) => alert["id"] === id);
      if (targets.size > 0) this.#waiting.push(same ?? { alert: one["alert"], targets, isOutOfTurn: false });
    }
  }
}

/** The clock may have been set back since: a time that is still to come was long ago. */
function elapsedMs(since: number, now: number): number {
  return since > now ? Infinity : now - since;
}

/** The same for a pause that ends then. */
function leftMs(until: number, now: number): number {
  return until - now > RETRY.longestMs ? 0 : Math.max(0, until - now);
}

function countsOf(stored: Json | undefined): Matters["counts"] {
  const rows = Array.isArray(stored) ? stored : [];
  return new Map(
    rows.flatMap((row) => {
      const [kind, total, unlisted] = Array.isArray(row) ? row : [];
      return typeof kind === "string" && typeof total === "number" && typeof unlisted === "number"
        ? [[kind as MatterKind, { total, unlisted }]]
        : [];
    }),
  );
}
