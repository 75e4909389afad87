/**
 * Simulates the machines that runtimes run on: a process boots, dies, freezes and has a wall clock that may be wrong; disks stay. Of several
 * processes each has some of the specialists, and the others take over what one leaves, as on a store that is a server.
 */
import type { Clock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import { ConnectionLost } from "../local-network/server/exchange.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { isStoreLost } from "../store/store-lost.ts";
import { sessionTimes } from "../store/postgres/session-settings.ts";
import type { Store } from "../store/store.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import type { CrashPointOptions } from "./crash-points.ts";
import { downtimeMs } from "./faults.ts";
import { AIMS, createHost, isReady, latenessOf, maySendUntil, type Held, type Host } from "./simulated-host.ts";
import { startWork, type SimulatedPart, type WorkOptions } from "./simulated-work.ts";
import { beginSession } from "./store-session.ts";

export interface MachineOptions extends CrashPointOptions, WorkOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  readonly parts: readonly SimulatedPart[];
  /** Default 1. */
  readonly processes?: number | undefined;
  readonly onDeath: (point: string, downMs: number) => void;
  /** Due work may be late until then. */
  readonly onDisturbed: (until: number) => void;
  /** A part goes to another process. */
  readonly onTakeover?: () => void;
}

export interface Machine {
  boot(): void;
  /** Ends a process at once, like `kill -9`. It restarts after a while. */
  kill(): void;
  /** Freezes a process for this time. */
  freezeFor(ms: number): void;
  /** Resumes frozen processes. */
  resume(): void;
  /** Moves the wall clock of a process; timers are not affected. */
  jump(ms: number): void;
  /** Corrects the wall clocks. */
  setClockRight(): void;
  /** Ends the sessions that a process has on the server of the store. A process alone has none. */
  disconnect(): void;
  /** Ends a process in order. It restarts after a while. A process alone stays. */
  leave(): void;
  /** True for several processes on one store. */
  readonly isFleet: boolean;
  /** Hands a webhook delivery to the receiver and returns its status. Rejects if no process listens; stays pending if the process dies. */
  deliver(handle: string, delivery: RawDelivery): Promise<number>;
  /** The stores of running processes, through which the Guardian acts. */
  stores(): readonly Store[];
  /** The runtimes of running processes. */
  runtimes(): readonly Runtime[];
  /** Stops all processes gracefully, without a restart. */
  stop(): Promise<void>;
  /** Runtimes that were started. */
  readonly lives: number;
  /**
   * Boundaries so far: the points before and after each call to store or network and each turn of the event loop, where the process may
   * die.
   */
  readonly boundaries: number;
}

/** Most by which a process starts with its clock ahead: schedules that such a clock deferred stay deferred as long. */
const MOST_AHEAD_MS = 12 * HOUR;
/** Share of stops between the admission of a request and its last byte: there a process that wakes too late does the most harm. */
const AIMED_SHARE = 0.5;
/** From the end of a session until another process has noticed. */
const NOTICED_MS = { least: 20, most: SECOND };
/** A part that is free is open elsewhere by then. */
const TAKEN_OVER_MS = MINUTE;

export function createMachine(options: MachineOptions): Machine {
  return new Machines(options);
}

class Machines implements Machine {
  readonly #options: MachineOptions;
  readonly #hosts: readonly Host[];
  readonly #held = new Map<SimulatedPart, Held>();
  /** The process that had a part before. */
  readonly #before = new Map<SimulatedPart, Host>();
  /** Processes that lost a part while they were frozen: what they had begun to send leaves only if nobody stops it. */
  readonly #lostBy = new Map<SimulatedPart, Set<Host>>();
  readonly #times = sessionTimes();
  #stopped = false;
  lives = 0;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#hosts = Array.from({ length: options.processes ?? 1 }, (_, i) =>
      createHost({ ...options, crashAt: i === 0 ? options.crashAt : undefined }),
    );
  }

  get boundaries(): number {
    return this.#hosts.reduce((sum, { crashPoints }) => sum + crashPoints.boundaries, 0);
  }

  get isFleet(): boolean {
    return this.#hosts.length > 1;
  }

  boot(): void {
    for (const host of this.#hosts) this.#boot(host);
    this.#shareOut();
  }

  kill(): void {
    const host = this.#any(({ isUp }) => isUp);
    if (host !== undefined) this.#die(host, "kill");
  }

  freezeFor(ms: number): void {
    const host = this.#any(({ isUp, frozenAt }) => isUp && (!this.isFleet || frozenAt === undefined));
    const { random } = this.#options;
    if (host !== undefined && this.isFleet && random.next() < AIMED_SHARE) host.freezesAt = { point: random.pick(AIMS), ms };
    else this.#freeze(host, ms);
  }

  #freeze(host: Host | undefined, ms: number): void {
    const { clock } = this.#options;
    this.#disturbed(host, ms);
    if (host === undefined) return;
    const at = clock.monotonic();
    const works = [...host.works];
    for (const { life } of works) life.freeze();
    host.frozenAt = at;
    host.thaws = Promise.withResolvers();
    clock.after(ms, () => this.#thaw(host, works, at));
    if (this.isFleet && ms > this.#times.timeoutMs)
      clock.after(this.#times.timeoutMs, () => {
        if (host.frozenAt === at) this.#lose(host, "the server ended a session that was silent");
      });
  }

  resume(): void {
    for (const host of this.#hosts) this.#thaw(host, [...host.works], host.frozenAt);
  }

  jump(ms: number): void {
    const host = this.#any(() => true);
    if (host !== undefined) host.skewMs += ms;
  }

  setClockRight(): void {
    for (const host of this.#hosts) host.skewMs = 0;
  }

  disconnect(): void {
    if (!this.isFleet) return;
    const host = this.#any(({ works }) => works.size > 0);
    if (host !== undefined) this.#lose(host, "the connection was reset");
  }

  leave(): void {
    if (!this.isFleet) return;
    const { clock, random } = this.#options;
    const host = this.#any(isReady);
    if (host === undefined) return;
    host.isLeaving = true;
    for (const held of host.works) void this.#give(held);
    const awayMs = downtimeMs(random);
    this.#disturbed(host, awayMs);
    clock.after(awayMs, () => {
      host.isLeaving = false;
      this.#shareOut();
    });
  }

  async deliver(handle: string, delivery: RawDelivery): Promise<number> {
    const held = [...this.#held.values()].find(({ part }) => part.specialists.some((one) => one.handle === handle));
    const webhooks = held?.runtime.phase === "working" ? held.runtime.webhooks : undefined;
    if (held === undefined || webhooks === undefined) throw new ConnectionLost("nobody listens");
    const { status } = await held.life.into("delivery", () => webhooks.accept(handle, delivery));
    return status;
  }

  stores(): readonly Store[] {
    return [...this.#held.values()].map(({ store }) => store);
  }

  runtimes(): readonly Runtime[] {
    return [...this.#held.values()].map(({ runtime }) => runtime);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { crashPoints } of this.#hosts) crashPoints.disarm();
    const all = [...this.#held.values()];
    for (const { runtime, compare, store, life } of all) {
      await runtime.stop();
      compare();
      await store.close();
      life.leave();
    }
  }

  /** Draws nothing if there is one process. */
  #any(isMeant: (host: Host) => boolean): Host | undefined {
    const meant = this.#hosts.filter(isMeant);
    return meant.length < 2 ? meant[0] : this.#options.random.pick(meant);
  }

  #boot(host: Host): void {
    if (host.isUp || this.#stopped) return;
    host.isUp = true;
    host.skewMs = Math.min(host.skewMs, MOST_AHEAD_MS);
    host.crashPoints.arm();
  }

  #die(host: Host, point: string): void {
    const { clock, random, onDeath } = this.#options;
    for (const held of host.works) {
      held.life.leave();
      if (this.#held.get(held.part) === held) {
        held.compare(); // with all writes, committed or not
        this.#free(held);
      }
    }
    host.works.clear();
    host.isUp = false;
    host.isLeaving = false;
    host.frozenAt = undefined;
    host.thaws = undefined; // what it was about to send does not leave
    if (this.#stopped) return;
    const downMs = downtimeMs(random);
    onDeath(point, downMs);
    this.#disturbed(host, downMs);
    clock.after(downMs, () => {
      this.#boot(host);
      this.#shareOut();
    });
    this.#noticeSoon();
  }

  /** `at` is the time at which it was frozen: it may have died since, and be frozen again. */
  #thaw(host: Host, works: readonly Held[], at: number | undefined): void {
    if (at !== undefined && host.frozenAt === at) {
      const isTooLong = this.#options.clock.monotonic() - at > this.#times.currentMs;
      if (this.isFleet && isTooLong) this.#lose(host, "the server heard nothing of this process");
      host.frozenAt = undefined;
      host.thawedAt = this.#options.clock.monotonic();
      host.thaws?.resolve();
      host.thaws = undefined;
    }
    for (const { life } of works) life.resume();
  }

  /** Ends the sessions of a process: its stores fail, and its parts are free. It notices as soon as it runs. */
  #lose(host: Host, message: string): void {
    for (const held of host.works) {
      const { part, session, life, runtime } = held;
      if (session === undefined || session.lost !== undefined) continue;
      const lost = session.end(message);
      if (host.frozenAt !== undefined) this.#lostBy.set(part, (this.#lostBy.get(part) ?? new Set()).add(host));
      this.#free(held);
      const noticed = life.into("loss of the store", async () => {
        runtime.storeLost(lost);
        await runtime.stop();
      });
      void noticed.then(() => this.#drop(held));
    }
    this.#disturbed(host, 0);
    this.#noticeSoon();
  }

  /** Nobody has the part now. */
  #free({ part, host }: Held): void {
    this.#held.delete(part);
    this.#before.set(part, host);
    rollBack(part);
  }

  #drop(held: Held): void {
    held.life.leave();
    held.host.works.delete(held);
  }

  /** Ends the work on a part in order. */
  async #give(held: Held): Promise<void> {
    if (held.isEnding) return;
    held.isEnding = true;
    try {
      await held.runtime.stop();
      if (this.#held.get(held.part) !== held) return; // it has lost the part meanwhile
      held.compare();
      await held.store.close();
    } catch (error) {
      if (!isStoreLost(error)) throw error;
      return;
    }
    this.#free(held);
    this.#drop(held);
    this.#noticeSoon();
  }

  #noticeSoon(): void {
    const { clock, random } = this.#options;
    if (this.isFleet) clock.after(NOTICED_MS.least + random.int(NOTICED_MS.most), () => this.#shareOut());
  }

  /** Gives each part that nobody has to the process with the fewest, and takes one from a process that has too many. */
  #shareOut(): void {
    const { parts } = this.#options;
    const ready = (): readonly Host[] =>
      this.#hosts.filter((host) => (this.isFleet ? isReady(host) : host.isUp)).toSorted((a, b) => a.works.size - b.works.size);
    for (const part of parts) {
      const [host] = ready();
      if (host === undefined || this.#stopped) return;
      if (!this.#held.has(part)) this.#start(part, host);
    }
    const hosts = ready();
    const [least, most] = [hosts[0], hosts.at(-1)];
    const surplus = least === undefined || most === undefined ? 0 : most.works.size - least.works.size;
    const [given] = surplus > 1 ? [...(most?.works ?? [])].filter(({ session }) => session?.lost === undefined) : [];
    if (given !== undefined) void this.#give(given);
  }

  #start(part: SimulatedPart, host: Host): void {
    const { clock, random, log, onTakeover } = this.#options;
    rollBack(part); // a call that its process did not live to see may have begun one
    const before = this.#before.get(part);
    if (before !== undefined && before !== host) onTakeover?.();
    this.lives++;
    const chance = random.fork(`life ${this.lives}`);
    const session = this.isFleet ? beginSession() : undefined;
    const work = startWork(this.#options, part, {
      chance,
      session,
      process: {
        clock,
        skewMs: () => host.skewMs,
        latenessMs: latenessOf(chance.fork("timers")),
        dies: (point) => this.#passes(host, point),
        onDeath: (point) => this.#die(host, point),
      },
      departs: () => host.thaws?.promise,
      sentElsewhereUntil: () => maySendUntil(this.#lostBy.get(part) ?? []),
    });
    const held: Held = { ...work, part, host, session, isEnding: false };
    host.works.add(held);
    this.#held.set(part, held);
    part.onBoot();
    work.runtime.start().catch((error: unknown) => {
      if (session?.lost === undefined) log.error("the runtime could not start", { message: messageOf(error) });
    });
  }

  /** True if the process dies there. */
  #passes(host: Host, point: string): boolean {
    const { freezesAt } = host;
    if (freezesAt?.point === point) {
      host.freezesAt = undefined;
      this.#freeze(host, freezesAt.ms);
    }
    return host.crashPoints.diesAt(point);
  }

  /** Work is late for as long as it takes another process to take over, or this one to come back if there is none. */
  #disturbed(host: Host | undefined, ms: number): void {
    const { clock, onDisturbed } = this.#options;
    const hasOthers = this.#hosts.some((one) => one !== host && isReady(one));
    onDisturbed(clock.now() + (hasOthers ? Math.min(ms, TAKEN_OVER_MS) : ms));
  }
}

/** SQLite rolls back a half-written transaction when it opens the file, and a server at the end of a session. */
function rollBack({ disk: { db } }: SimulatedPart): void {
  if (db.isTransaction) db.exec("ROLLBACK");
}
