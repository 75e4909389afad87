/**
 * One process among those that work on one server. It takes its fair share of the shards, each time as a store with a runtime of its own,
 * gives back what is above it, and takes over what others leave. A specialist runs where its shard is.
 */
import type { PostgresAddress } from "../config/postgres-address.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { isRetinueError, messageOf, type Fatal } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import { SECOND } from "../core/units.ts";
import type { Stop } from "../limits/verdict.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { Membership, type FleetProcess, type FleetView } from "../store/postgres/membership.ts";
import { SHARDS } from "../store/postgres/ownership.ts";
import { openShards, type HeldStore } from "../store/postgres/postgres-store.ts";
import type { ServerTime } from "../store/postgres/server-time.ts";
import type { Recovered } from "../store/store.ts";
import { chooseShards, chooseToGive, chooseToJoin, fairShare, neededBefore } from "./fair-share.ts";
import { FleetLog } from "./fleet-log.ts";
import { runtimeOptions, SALT_LENGTH, type CommonParts, type LaunchOptions, type LaunchPlan } from "./launch.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { SilentProcesses } from "./silent-processes.ts";
import { Takers } from "./takers.ts";
import { tellOfPast } from "./tell-of-past.ts";

/** Shards of this process, with the runtime of their specialists. */
export interface Part extends HeldStore {
  readonly runtime: Runtime;
  readonly startedAt: number;
  /** Processes that lost its shards. */
  readonly silent: SilentProcesses;
}

export interface FleetOptions {
  readonly planned: LaunchPlan;
  readonly options: LaunchOptions;
  /** The clock of the options follows it. */
  readonly time: ServerTime;
  /** The machine's own clock. */
  readonly wall: Clock;
  readonly address: PostgresAddress;
  readonly common: CommonParts;
  /** Options of the runtime of each part, beside those of the process. */
  readonly perRuntime: Partial<Parameters<typeof createRuntime>[0]>;
  readonly specialists: () => readonly Specialist[];
  /** Specialists that share a key: each group belongs to one process. */
  readonly sharers: () => readonly (readonly Handle[])[];
  /** Answers a request of another process. */
  readonly answer: (body: string) => Promise<string | undefined>;
  /** Called before a part begins. */
  readonly onPart: (part: Part) => Promise<void>;
}

/** Processes that begin or end together are one change. */
const SETTLE_MS = 1.5 * SECOND;
/** A process has few stores: each is a working copy and a connection. */
const MOST_PARTS = 4;
const AGAIN_MS = SECOND;
/** Between looks just after a process came, went or began to drain. */
const UNSETTLED_MS = SECOND / 4;
/** A look at all locks, although no session has come or gone. */
const LOOKED_ANYWAY_MS = 10 * SECOND;

/** A question that every running process answers. */
export const HELLO = JSON.stringify({ do: "hello" });

const NOTHING: Recovered = { events: 0, doubts: 0, attempts: 0 };

export class Fleet {
  readonly #with: FleetOptions;
  readonly #parts = new Set<Part>();
  readonly #ending = new Map<Part, Promise<void>>();
  readonly #stopping = new AbortController();
  #membership: Membership | undefined;
  #view: FleetView = { processes: [], free: [], serverNow: 0 };
  #wake = new AbortController();
  #members = "";
  #changedAt = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The last look found nothing to give or to take. */
  #isAtRest = false;
  readonly #takers = new Takers();
  readonly #log: FleetLog;
  #startedAt: number | undefined;
  #opening: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #isDraining = false;
  #isSessionLost = false;
  #apart: ReadonlySet<Handle> = new Set();
  /** Halts that a lost store could not keep. */
  #unkept: readonly Stop[] = [];

  constructor(options: FleetOptions) {
    this.#with = options;
    this.#log = new FleetLog(options.options.log, options.options.clock);
  }

  /** Those that work. */
  get parts(): readonly Part[] {
    return [...this.#parts].filter((part) => !this.#ending.has(part));
  }

  get view(): FleetView {
    return this.#view;
  }

  get membership(): Membership | undefined {
    return this.#membership;
  }

  /** The reason why the last look at the server failed; undefined after one that succeeded. */
  get trouble(): string | undefined {
    return this.#log.trouble;
  }

  /** How far the clock of this machine is ahead of the server's. */
  get aheadOfServerMs(): number {
    return Math.round(this.#with.time.aheadMs);
  }

  /** This process, as last seen. */
  get own(): FleetProcess | undefined {
    return this.#view.processes.find(({ number }) => number === this.#membership?.number);
  }

  /** Halts that no store keeps yet. */
  get unkept(): readonly Stop[] {
    return this.#unkept;
  }

  /** The other living processes, as last seen. */
  others(): readonly FleetProcess[] {
    return this.#view.processes.filter(({ number }) => number !== this.#membership?.number);
  }

  partOf(handle: Handle): Part | undefined {
    return this.parts.find((part) => part.has(handle));
  }

  /** Resolves when no store is being opened: the parts of then have read every halt of before. */
  async settled(): Promise<void> {
    while (this.#opening !== undefined) await this.#opening.catch(() => undefined);
  }

  /** Is seen by the others from now on, and can ask them. Throws if the server cannot be used. */
  async join(): Promise<void> {
    if (this.#membership === undefined) await this.#join();
  }

  /** True for the first of those that work: it tells people what waits for them. */
  get isFirst(): boolean {
    return this.#view.processes.find(({ draining }) => !draining)?.number === this.#membership?.number && this.#membership !== undefined;
  }

  /** Takes what is free. Throws if the server cannot be used; later it is tried again. */
  async start(): Promise<Recovered> {
    await this.join();
    const recovered = await this.#lookAndTell();
    this.#loop = this.#keepLooking();
    return recovered ?? NOTHING;
  }

  /** Reads who lives, now. */
  async look(): Promise<FleetView> {
    const { membership } = this;
    if (membership !== undefined) this.#view = await membership.look();
    return this.#view;
  }

  /** Gives everything to the others and takes nothing more. `by` is the person who ordered it. */
  async drain(by: string): Promise<void> {
    this.#log.drained(by);
    this.#isDraining = true;
    await this.#membership?.drains();
    await this.settled();
    await Promise.all([...this.#parts].map((part) => this.#end(part)));
    await this.#membership?.notify();
  }

  /** Ends the work: the others take over at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.abort();
    await this.#loop;
    await this.settled();
    const membership = this.#membership;
    this.#membership = undefined;
    await membership?.drains().catch(() => undefined);
    await Promise.all([...this.#parts].map((part) => this.#end(part)));
    await membership?.notify().catch(() => undefined); // they look anyway
    await membership?.close();
  }

  async #join(): Promise<void> {
    const { address, options, time, specialists, answer } = this.#with;
    const { clock, random } = options;
    this.#membership = await Membership.open({
      address,
      clock,
      handles: specialists().map(({ handle }) => handle),
      startedAt: this.#startedAt,
      newSalt: () => random.word(SALT_LENGTH),
      onNotice: () => this.#wake.abort(),
      answer,
      onTime: (serverNow, askedAt) => time.note(serverNow, askedAt),
      onLost: () => {
        this.#isSessionLost = true;
        this.#wake.abort();
      },
    });
    this.#isSessionLost = false;
    this.#startedAt ??= clock.now();
    this.#log.clocksApart(time.aheadMs);
    await this.place();
  }

  /** Puts specialists that share a key together. Those that cannot be are not run, because their key's quota would be counted twice. */
  async place(): Promise<void> {
    const apart = (await this.#membership?.place(this.#with.sharers())) ?? [];
    for (const handle of apart) if (!this.#apart.has(handle)) this.#log.keyApart(handle);
    this.#apart = new Set(apart);
  }

  /** False for one that shares its key with a specialist elsewhere. */
  mayRun(handle: Handle): boolean {
    return !this.#apart.has(handle);
  }

  async #keepLooking(): Promise<void> {
    const { clock } = this.#with.options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const wake = this.#wake.signal;
      await sleep(clock, this.#isSettled() ? SECOND : UNSETTLED_MS, wake);
      const isTold = wake.aborted;
      this.#wake = new AbortController();
      if (signal.aborted) return;
      try {
        if (this.#isSessionLost) await this.#leave();
        if (this.#membership === undefined) await this.#join();
        if (isTold || !this.#isQuiet() || (await this.#membership?.hasChanged()) === true) await this.#lookAndTell();
      } catch (error) {
        this.#log.failed(messageOf(error), this.parts.length === 0);
        await sleep(clock, AGAIN_MS, signal);
      }
    }
  }

  /** Without its own session this process is seen by nobody: it gives up what it has, and joins again. */
  async #leave(): Promise<void> {
    const membership = this.#membership;
    this.#membership = undefined;
    await membership?.close();
    await Promise.all([...this.#parts].map((part) => this.#end(part)));
  }

  async #lookAndTell(): Promise<Recovered | undefined> {
    const recovered = await this.#look();
    this.#log.works();
    if (this.#ending.size === 0) this.#log.specialists(this.parts.map(({ runtime }) => runtime));
    return recovered;
  }

  async #look(): Promise<Recovered | undefined> {
    const membership = this.#membership;
    if (membership === undefined) return undefined;
    this.#lookedAt = this.#with.options.clock.monotonic();
    this.#isAtRest = false;
    this.#view = await membership.look();
    const { processes, free } = this.#view;
    this.#noteMembers(processes);
    this.#log.members(processes, membership.number);
    for (const part of this.#parts) this.#hear(membership, part);
    const now = this.#with.options.clock.monotonic();
    const takers = this.#takers.among(processes, free.length, membership.number, now);
    for (const number of this.#takers.toAsk(now)) this.#ask(membership, number, () => this.#takers.answered(number));
    const share = this.#isDraining ? 0 : fairShare(takers, membership.number, SHARDS);
    const owned = [...this.#parts].reduce((sum, { shards }) => sum + shards.length, 0);
    if (owned < share && free.length > 0) return this.#take(membership, share - owned, neededBefore(takers, membership.number, SHARDS));
    if (this.#ending.size > 0 || !this.#isSettled()) return undefined;
    const given = owned > share ? chooseToGive(this.parts, owned - share) : chooseToJoin(this.parts, MOST_PARTS);
    this.#isAtRest = given.length === 0;
    for (const part of given) void this.#end(part).then(() => membership.notify().catch(() => undefined));
    return undefined;
  }

  /** Every shard has its place, and nobody is waited for. */
  #isQuiet(): boolean {
    const isRecent = this.#with.options.clock.monotonic() - this.#lookedAt < LOOKED_ANYWAY_MS;
    const isEven = this.#isAtRest && this.#view.free.length === 0 && this.#ending.size === 0 && this.trouble === undefined;
    return isRecent && isEven && [...this.#parts].every(({ silent }) => silent.numbers.length === 0);
  }

  /** A process that is gone, or answers, sends nothing more of what it has lost. */
  #hear(membership: Membership, { silent }: Part): void {
    for (const number of silent.numbers)
      if (!this.#view.processes.some((one) => one.number === number)) silent.heard(number);
      else this.#ask(membership, number, () => silent.heard(number));
  }

  /** Asks a process if it works. One that does not answer is asked again at a later look. */
  #ask(membership: Membership, number: number, answered: () => void): void {
    const process = this.#view.processes.find((one) => one.number === number);
    if (process !== undefined) membership.ask(process, HELLO, SECOND).then(answered, () => undefined);
  }

  #noteMembers(processes: readonly FleetProcess[]): void {
    const members = processes.map(({ number, draining }) => `${number}${draining ? "-" : ""}`).join(" ");
    if (members !== this.#members) this.#changedAt = this.#with.options.clock.monotonic();
    this.#members = members;
  }

  #isSettled(): boolean {
    return this.#with.options.clock.monotonic() - this.#changedAt >= SETTLE_MS;
  }

  async #take(membership: Membership, count: number, before: number): Promise<Recovered | undefined> {
    const { free } = this.#view;
    const foreign = await membership.foreignShards();
    const usable = free.filter((shard) => !foreign.has(shard));
    const shards = chooseShards(usable, count, before);
    if (shards.length === 0) return undefined;
    const opening = this.#open(membership, shards);
    this.#opening = opening.then(() => undefined);
    try {
      return await opening;
    } finally {
      this.#opening = undefined;
    }
  }

  async #open(membership: Membership, shards: readonly number[]): Promise<Recovered | undefined> {
    const { planned, options, wall, address, common, perRuntime, specialists, onPart } = this.#with;
    const { clock, random } = options;
    for (const { scope, reason, since } of this.#unkept) await membership.keepStop("halt", scope, reason, since);
    this.#unkept = [];
    let lost: Fatal | undefined;
    let part: Part | undefined;
    const held = await openShards({
      address,
      shards,
      process: membership.number,
      clock,
      wall,
      random,
      zone: () => planned.config.guardian.zone,
      lateLandingMs: planned.profile.timing.lateLandingMs,
      readsBeside: true,
      onLost: (error) => {
        lost = error;
        if (part === undefined) return;
        part.runtime.storeLost(error);
        void this.#end(part);
      },
    });
    if (held === undefined) return undefined;
    try {
      const silent = new SilentProcesses(clock, held.lostBy, membership.number);
      const runtime = createRuntime({
        ...(await runtimeOptions(planned, options, common, held.store)),
        ...perRuntime,
        log: this.#log.ofStore(),
        sentElsewhereUntil: () => silent.maySendUntil,
        specialists: specialists().filter(({ handle }) => held.has(handle) && this.mayRun(handle)),
      });
      part = { ...held, runtime, startedAt: clock.now(), silent };
      await onPart(part);
      const recovered = await runtime.start();
      if (lost !== undefined) throw lost;
      this.#parts.add(part);
      void tellOfPast(held.past, clock, options.log);
      return recovered;
    } catch (error) {
      await part?.runtime.stop();
      await held.store.close().catch(() => undefined); // the first error is the one to report
      throw error;
    }
  }

  /** Ends the work on a part and frees its shards. */
  #end(part: Part): Promise<void> {
    const ending = this.#ending.get(part) ?? this.#close(part);
    this.#ending.set(part, ending);
    return ending;
  }

  async #close(part: Part): Promise<void> {
    const { log } = this.#with.options;
    try {
      await part.runtime.stop();
      await part.store.close();
    } catch (error) {
      if (!isRetinueError(error)) log.error("a store could not be closed", { message: messageOf(error) });
    } finally {
      this.#unkept = [...this.#unkept, ...part.runtime.parts.unkeptHalts.all()];
      this.#parts.delete(part);
      this.#ending.delete(part);
      this.#wake.abort();
    }
  }
}
