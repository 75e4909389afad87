/**
 * Tells people of what waits for them, outside the program: each matter once, those of one moment together, stored, so that an alert
 * survives a restart and is tried until a target takes it. A target that hangs holds up nothing but its own next alert.
 */
import type { AlertTarget } from "../config/alert-settings.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import type { Timer } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import { subscribe, type Announcer } from "../core/events.ts";
import { asJson, isObject, numberIn, sha256, textIn, type JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { Snapshot } from "../guardian/status.ts";
import type { NetworkStateStore } from "../store/network-state.ts";
import { alertOf } from "./alert.ts";
import { mattersOf } from "./alert-matters.ts";
import { sendAlert, targetName, type AlertSender } from "./alert-targets.ts";

export interface AlertOptions extends Omit<AlertSender, "signal"> {
  readonly to: readonly AlertTarget[];
  readonly link: string | undefined;
  readonly status: () => Promise<Snapshot>;
  readonly store: NetworkStateStore;
  readonly announcer: Announcer;
  readonly log: Logger;
  readonly newId: () => string;
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
/** A matter that is gone for this long, and comes again, is a new one. */
const FORGET_MS = 10 * MINUTE;
const RETRY: Backoff = { firstMs: 30 * SECOND, longestMs: HOUR };
/** An alert that no try delivered within this time is dropped, with an error in the log. */
const GIVEN_UP_MS = DAY;
/** Matters known and alerts waiting at once. The status lists at most 100 of a kind. */
const MAX_KNOWN = 3_000;
const MAX_WAITING = 100;
const ROW = { kind: "alerts", name: "state" } as const;

/** Tries of one alert at one target. */
interface Tries {
  readonly failures: number;
  readonly nextAt: number;
}

interface Waiting {
  /** As it is sent. */
  readonly alert: JsonObject;
  readonly at: number;
  /** Targets that have not taken it, by their identity. */
  readonly targets: Map<string, Tries>;
}

/** Starts to look. Reads the stored state first. */
export async function openAlerts(options: AlertOptions): Promise<Alerts> {
  const row = (await options.store.networkState()).find(({ kind, name }) => kind === ROW.kind && name === ROW.name);
  const keeper = new AlertKeeper(options, row?.data);
  keeper.start();
  return keeper;
}

class AlertKeeper implements Alerts {
  readonly #options: AlertOptions;
  readonly #targets: ReadonlyMap<string, AlertTarget>;
  /** Matters that were alerted, with the time since which each is gone. */
  readonly #known = new Map<string, number | undefined>();
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  readonly #sending = new Map<string, Promise<void>>();
  #stops: readonly (() => void)[] = [];
  #timer: Timer | undefined;
  #lookAt = 0;
  #lastAlertAt = 0;
  /** The cost of the last look allows no other before. */
  #notBefore = 0;
  #looking: Promise<void> = Promise.resolve();
  #saved: Promise<void> = Promise.resolve();

  constructor(options: AlertOptions, stored: JsonObject | undefined) {
    this.#options = options;
    this.#targets = new Map(options.to.map((target) => [sha256(asJson(target)).slice(0, 12), target]));
    this.#restore(stored);
  }

  start(): void {
    const soon = (): void => this.#lookBy(this.#options.clock.now() + GATHER_MS);
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

  /** Looks at that time, unless it looks before. */
  #lookBy(wanted: number): void {
    const { clock } = this.#options;
    const at = Math.max(wanted, this.#notBefore);
    if (this.#closing.signal.aborted || (this.#timer !== undefined && this.#lookAt <= at)) return;
    this.#timer?.cancel();
    this.#lookAt = at;
    this.#timer = clock.after(Math.max(0, at - clock.now()), () => {
      this.#timer = undefined;
      this.#looking = this.#looking.then(() => this.#look());
    });
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#options;
    const began = clock.monotonic();
    try {
      this.#compare(await this.#options.status());
    } catch (error) {
      log.warn("what waits for you could not be read, so no alert is sent", { message: messageOf(error) });
    }
    this.#deliver();
    const now = clock.now();
    this.#notBefore = now + (clock.monotonic() - began) / LOOKING_SHARE;
    const due = this.#waiting.flatMap(({ targets }) =>
      [...targets].flatMap(([name, { nextAt }]) => (this.#sending.has(name) ? [] : nextAt)),
    );
    this.#lookBy(Math.max(now + SECOND, Math.min(now + LOOK_MS, ...due)));
  }

  /** Makes one alert of all matters that are new. */
  #compare(status: Snapshot): void {
    const { clock, newId, link } = this.#options;
    const now = clock.now();
    const matters = mattersOf(status);
    const present = new Set(matters.map(({ key }) => key));
    let isChanged = false;
    for (const [key, goneAt] of this.#known) {
      if (present.has(key) === (goneAt === undefined)) {
        if (goneAt === undefined || now - goneAt < FORGET_MS) continue;
        this.#known.delete(key);
      } else this.#known.set(key, present.has(key) ? undefined : now);
      isChanged = true;
    }
    const fresh = matters.filter(({ key }) => !this.#known.has(key));
    const isUrgent = fresh.some(({ kind }) => kind === "store_lost");
    const isTooSoon = !isUrgent && now - this.#lastAlertAt < APART_MS;
    if (fresh.length > 0 && !isTooSoon) {
      for (const { key } of fresh) this.#known.set(key, undefined);
      this.#lastAlertAt = now;
      const targets = new Map([...this.#targets.keys()].map((name) => [name, { failures: 0, nextAt: now }]));
      this.#waiting.push({ alert: asJson(alertOf(fresh, { id: newId(), at: now, link })), at: now, targets });
      isChanged = true;
    }
    for (const key of [...this.#known.keys()].slice(0, Math.max(0, this.#known.size - MAX_KNOWN))) this.#known.delete(key);
    while (this.#waiting.length > MAX_WAITING) this.#giveUp(this.#waiting[0], "too many alerts wait");
    if (isChanged) this.#save();
  }

  /** Begins what is due, one alert at a time for each target, and awaits none. */
  #deliver(): void {
    const now = this.#options.clock.now();
    for (const waiting of this.#waiting.slice()) {
      if (now - waiting.at > GIVEN_UP_MS) this.#giveUp(waiting, "no try delivered it within a day");
      for (const [name, { nextAt }] of waiting.targets) {
        const target = this.#targets.get(name);
        if (target === undefined || nextAt > now || this.#sending.has(name)) continue;
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
    this.#lookBy(clock.now() + GATHER_MS);
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

  /** A store that takes no writes is no reason to tell nobody: the state is then in memory only. */
  #save(): void {
    const { store, clock, scrubber, log } = this.#options;
    const state = {
      known: Object.fromEntries([...this.#known].map(([key, goneAt]) => [key, goneAt ?? null])),
      waiting: this.#waiting.map(({ alert, targets }) => ({ alert, targets: Object.fromEntries(targets) })),
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
    const { known, waiting } = stored;
    if (isObject(known))
      for (const [key, goneAt] of Object.entries(known)) this.#known.set(key, typeof goneAt === "number" ? goneAt : undefined);
    for (const one of Array.isArray(waiting) ? waiting : []) {
      if (!isObject(one) || !isObject(one["targets"]) || !isObject(one["alert"])) continue;
      const tries = Object.entries(one["targets"]).filter(([name]) => this.#targets.has(name));
      // Tried at once: a restart may have mended what kept it.
      const targets = new Map(
        tries.map(([name, value]) => [name, { failures: isObject(value) ? (numberIn(value, "failures") ?? 0) : 0, nextAt: 0 }]),
      );
      if (targets.size > 0) this.#waiting.push({ alert: one["alert"], at: numberIn(one["alert"], "at") ?? 0, targets });
    }
  }
}
