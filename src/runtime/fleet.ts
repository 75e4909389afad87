/**
 * One process among those that work on one server. It takes its fair share of the shards, each time as a store with a runtime of its own,
 * gives back what is above it, and takes over what others leave. A specialist runs where its shard is.
 */
import { sleep } from "../core/clock.ts";
import { isRetinueError, messageOf, type Fatal } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import { SECOND } from "../core/units.ts";
import type { FleetProcess, FleetView } from "../store/postgres/fleet-view.ts";
import { KnownStore } from "../store/postgres/known-store.ts";
import { Membership } from "../store/postgres/membership.ts";
import { sessionTimes } from "../store/postgres/session-settings.ts";
import type { Recovered } from "../store/store.ts";
import { chooseToGive, chooseToJoin } from "./fair-share.ts";
import { Differing } from "./differing.ts";
import { FirstProcess } from "./first-process.ts";
import { FleetLog, type Trouble } from "./fleet-log.ts";
import type { FleetOptions, Part } from "./fleet-options.ts";
import { Giving } from "./giving.ts";
import { SALT_LENGTH } from "./launch.ts";
import { hearSilent } from "./hello.ts";
import { makePart, openHeld } from "./make-part.ts";
import { OrdersMeanwhile } from "./orders-meanwhile.ts";
import { QuickLosses } from "./quick-losses.ts";
import { SharedKeys } from "./shared-keys.ts";
import { Settling } from "./settling.ts";
import { SharingOut } from "./sharing-out.ts";
import { tellOfPast } from "./tell-of-past.ts";

/** A process has few stores: each is a working copy and a connection. */
const MOST_PARTS = 4;
const AGAIN_MS = SECOND;
/** A look at all locks, although no session has come or gone. */
const LOOKED_ANYWAY_MS = 10 * SECOND;

export class Fleet {
  readonly #with: FleetOptions;
  readonly #parts = new Set<Part>();
  readonly #ending = new Map<Part, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #known = new KnownStore();
  #membership: Membership | undefined;
  #leaving: Membership | undefined;
  #view: FleetView = { processes: [], free: [], serverNow: 0 };
  #wake = new AbortController();
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The last look found nothing to give or to take. */
  #isAtRest = false;
  readonly orders = new OrdersMeanwhile();
  /** The part whose work begins now. */
  #beginning: Part | undefined;
  readonly #settling: Settling;
  readonly #sharing: SharingOut;
  readonly #first: FirstProcess;
  readonly #giving: Giving<Part>;
  readonly sharedKeys: SharedKeys;
  readonly #losses: QuickLosses;
  readonly #differing: Differing;
  readonly #log: FleetLog;
  #startedAt: number | undefined;
  #opening: Promise<unknown> | undefined;
  #loop: Promise<void> | undefined;
  isDraining = false;
  #isSessionLost = false;

  constructor(options: FleetOptions) {
    this.#with = options;
    const { wall, address, keyGroups } = options;
    const { clock, log } = options.options;
    this.#log = new FleetLog(log, clock);
    this.#settling = new Settling(clock);
    this.#sharing = new SharingOut(clock);
    this.#first = new FirstProcess(wall, sessionTimes(address.sessionTimeoutMs).currentMs);
    this.sharedKeys = new SharedKeys({ keyGroups, log, now: () => clock.now() });
    this.#losses = new QuickLosses(clock);
    this.#differing = new Differing(clock);
    this.#giving = new Giving(clock, (given) => this.#give(given));
  }

  /** Those that work. */
  get parts(): readonly Part[] {
    return [...this.#parts].filter((part) => !this.#ending.has(part));
  }

  /** The parts that work, begin or end: an order that stops work concerns all of them. */
  get allParts(): readonly Part[] {
    return [...this.#parts, ...(this.#beginning === undefined ? [] : [this.#beginning])];
  }

  get view(): FleetView {
    return this.#view;
  }

  get membership(): Membership | undefined {
    return this.#membership;
  }

  /** The session of this process on the server, also while it ends. */
  get session(): Membership | undefined {
    return this.#membership ?? this.#leaving;
  }

  /** The reason why the last look at the server failed; undefined after one that succeeded. */
  get trouble(): Trouble | undefined {
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

  /** The other living processes, as last seen. */
  others(): readonly FleetProcess[] {
    return this.#view.processes.filter(({ number }) => number !== this.#membership?.number);
  }

  partOf(handle: Handle): Part | undefined {
    return this.parts.find((part) => part.has(handle));
  }

  /** True for a specialist that another process has a definition of, and this one has not. */
  isElsewhere(handle: Handle): boolean {
    return this.#sharing.isElsewhere(handle);
  }

  /** Resolves when no store is being opened: the parts of then have read every halt of before. */
  async settled(): Promise<void> {
    while (this.#opening !== undefined) await this.#opening;
  }

  /** Is seen by the others from now on, and can ask them. Throws if the server cannot be used. */
  async join(): Promise<void> {
    if (this.#isSessionLost) await this.#leave();
    if (this.#membership === undefined) await this.#join();
  }

  /** The term in which this process tells people what waits for them; undefined while another does. */
  get tellingTerm(): number | undefined {
    return this.isDraining && this.trouble === undefined ? undefined : this.#first.term(this.#log.troubleMs);
  }

  /** Takes what is free. Throws if the server cannot be used; later it is tried again. */
  async start(): Promise<Recovered> {
    await this.join();
    const recovered = await this.#lookAndTell();
    this.#loop = this.#keepLooking();
    return recovered ?? { events: 0, doubts: 0, attempts: 0 };
  }

  /** Reads who lives, now. */
  async look(): Promise<FleetView> {
    const { membership } = this;
    if (membership === undefined) return this.#view;
    this.#view = await this.#first.hears(() => membership.look());
    this.#first.saw(this.#view.processes, membership.number);
    await this.orders.store(membership, this.#view);
    return this.#view;
  }

  /** Gives everything to the others and takes nothing more. `by` is the person who ordered it. Never rejects. */
  async drain(by: string): Promise<void> {
    this.#log.drained(by);
    this.isDraining = true;
    this.#giving.want([]);
    await this.#membership?.drains().catch((error: unknown) => this.#log.drainUntold(error)); // a look tells it again
    await this.settled();
    await this.#endAll();
    await this.#membership?.notify().catch(() => undefined); // they look anyway
  }

  /** Ends the work: the others take over at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.isDraining = true;
    this.#giving.want([]);
    this.#wake.abort();
    await this.#membership?.drains().catch(() => undefined);
    await this.orders.storeAtEnd(this.#membership, this.#view, this.allParts); // before others take the shards
    const ended = this.#endAll(); // without waiting for a store that is just being opened
    await this.#loop;
    await this.settled();
    const membership = this.#membership;
    [this.#membership, this.#leaving] = [undefined, membership];
    await Promise.all([ended, this.#endAll()]);
    await this.orders.storeAtEnd(membership, this.#view); // a store that was being opened may have held some
    await membership?.notify().catch(() => undefined); // they look anyway
    this.#leaving = undefined;
    await membership?.close();
  }

  async #join(): Promise<void> {
    const { address, options, time, specialists, answer, admit } = this.#with;
    const { clock, random } = options;
    this.#isSessionLost = false;
    this.#membership = await Membership.open({
      address,
      clock,
      handles: specialists().map(({ handle }) => handle),
      startedAt: this.#startedAt,
      newSalt: () => random.word(SALT_LENGTH),
      admit,
      known: this.#known,
      onNotice: () => this.#wake.abort(),
      answer,
      onTime: (serverNow, askedAt) => time.note(serverNow, askedAt),
      onLost: () => this.#loseSession(),
    });
    this.#startedAt ??= clock.now();
    await this.place();
  }

  /** Others may end this process's sessions, and ask it no longer. */
  #loseSession(): undefined {
    this.#isSessionLost = true;
    for (const part of this.#parts) part.lose("no session shows this process");
    this.#wake.abort();
  }

  /** Puts specialists that share a key together. Those that cannot be are not run, because their key's quota would be counted twice. */
  async place(): Promise<void> {
    const membership = this.#membership;
    if (membership === undefined) return;
    const freed = new Set(await this.sharedKeys.place(membership, [...this.#parts]));
    for (const specialist of this.#with.specialists())
      if (freed.has(specialist.handle)) await this.partOf(specialist.handle)?.runtime.put(specialist);
    if (this.parts.some((part) => this.sharedKeys.isMixed(part))) this.#wake.abort();
  }

  async #keepLooking(): Promise<void> {
    const { clock } = this.#with.options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const wake = this.#wake.signal;
      this.#log.woke(await this.#settling.pause(this.#sharing.areTakersAwaited, wake));
      const isTold = wake.aborted;
      this.#wake = new AbortController();
      if (signal.aborted) return;
      try {
        await this.join();
        if (this.sharedKeys.isDue) await this.place();
        if (isTold || !this.#isQuiet() || (await this.#first.hears(async () => this.#membership?.hasChanged())) === true)
          await this.#lookAndTell();
      } catch (error) {
        this.#log.failed(error, this.parts.length === 0);
        await sleep(clock, AGAIN_MS, signal);
      }
    }
  }

  /** Without its own session this process is seen by nobody: it gives up what it has, and joins again. */
  async #leave(): Promise<void> {
    const membership = this.#membership;
    this.#membership = undefined;
    this.#giving.want([]);
    await membership?.close();
    await this.#endAll();
  }

  async #lookAndTell(): Promise<Recovered | undefined> {
    const recovered = await this.#look();
    const isAll = this.parts.length === 0;
    if (!isAll || this.isDraining) this.#losses.suffices();
    if (!isAll || this.#ending.size === 0) this.#log.looked(this.#losses.reason, isAll); // one that drains keeps its shards from the next
    if (this.#ending.size === 0) this.#log.specialists(this.parts.map(({ runtime }) => runtime));
    return recovered;
  }

  async #look(): Promise<Recovered | undefined> {
    const membership = this.#membership;
    if (membership === undefined) return undefined;
    this.#lookedAt = this.#with.options.clock.monotonic();
    this.#isAtRest = false;
    const { processes, free } = await this.look();
    this.#settling.note(processes);
    this.#log.members(processes, membership.number);
    if (free.length === 0) this.#log.bereft(processes, membership.number);
    this.#log.clocksApart(this.#with.time.aheadMs);
    if (this.own?.present !== true) return this.#loseSession(); // it ended before anybody heard of it
    if (this.isDraining && this.own?.draining === false) await membership.drains(); // it has joined anew since
    for (const { silent } of this.#parts) hearSilent(membership, processes, silent);
    const { take, excess, foreign } = await this.#sharing.aim({
      membership,
      view: this.#view,
      owned: () => [...this.#parts].flatMap(({ shards }) => shards), // a part may have ended since the look
      isSettled: this.#settling.isOver,
    });
    if (take.length > 0 && !this.isDraining) return this.#losses.mayOpen ? this.#take(membership, take) : undefined;
    if (this.#ending.size > 0 || !this.#settling.isOver) return undefined;
    this.#differing.note(foreign);
    const must = this.parts.filter((part) => this.#differing.isLasting(part) || this.sharedKeys.isMixed(part));
    const given = excess > 0 || must.length > 0 ? chooseToGive(this.parts, excess, must) : chooseToJoin(this.parts, MOST_PARTS);
    this.#isAtRest = given.length === 0 && !this.parts.some(({ shards }) => shards.some((shard) => foreign.has(shard)));
    this.#giving.want(given);
    return undefined;
  }

  /** Gives the shards of these parts to the others, and takes again what it should have of them. */
  #give(given: readonly Part[]): void {
    const membership = this.#membership;
    for (const part of given.filter((one) => this.parts.includes(one)))
      void this.#end(part).then(() => membership?.notify().catch(() => undefined)); // they look anyway
  }

  /** Every shard has its place, and nobody is waited for. */
  #isQuiet(): boolean {
    const isRecent = this.#with.options.clock.monotonic() - this.#lookedAt < LOOKED_ANYWAY_MS;
    const isEven = this.#isAtRest && this.#view.free.length === 0 && this.#ending.size === 0 && this.trouble === undefined;
    return isRecent && isEven && [...this.#parts].every(({ silent }) => silent.numbers.length === 0);
  }

  async #take(membership: Membership, shards: readonly number[]): Promise<Recovered | undefined> {
    await this.place(); // a store that is opened reads its keys anew
    const opening = this.#losses.noting(this.#open(membership, shards)).finally(() => {
      this.#opening = undefined;
      this.orders.end();
    });
    this.#opening = Promise.allSettled([opening]); // whoever opens it hears of a failure
    return opening;
  }

  async #open(membership: Membership, shards: readonly number[]): Promise<Recovered | undefined> {
    const { options, specialists, onPart } = this.#with;
    const { clock } = options;
    let lost: Fatal | undefined;
    let part: Part | undefined;
    await this.orders.begin(membership, this.#view);
    const openedAt = clock.monotonic();
    const held = await openHeld(this.#with, membership, {
      shards,
      onLost: (error) => {
        lost = error;
        this.#losses.lost(openedAt, error);
        if (part === undefined) return;
        part.runtime.storeLost(error);
        void this.#end(part);
        // Told here, since the next look may come when the server is back; of one loss after another, the looks tell.
        if (this.parts.length === 0 && this.#losses.isFirst) this.#log.failed(error, true);
      },
    });
    if (held === undefined) return undefined;
    this.sharedKeys.applyTo(held);
    try {
      part = await makePart(held, this.#with, {
        process: membership.number,
        specialists: specialists().filter(({ handle }) => held.has(handle) && this.sharedKeys.mayRun(handle)),
        log: this.#log.ofStore(),
        keptOut: () => this.sharedKeys.keptOut,
        onKeyReplaced: () => {
          this.sharedKeys.keyReplaced();
          this.#wake.abort();
        },
      });
      await onPart(part);
      this.#beginning = part;
      await this.orders.applyTo(held.store);
      const recovered = await part.runtime.start();
      if (lost !== undefined) throw lost;
      this.#parts.add(part);
      void tellOfPast(held.past, clock, options.log);
      return recovered;
    } catch (error) {
      await part?.runtime.stop();
      await held.store.close().catch(() => undefined); // the first error is the one to report
      throw lost ?? error; // what fails in a lost store fails because of that
    } finally {
      this.#beginning = undefined;
    }
  }

  async #endAll(): Promise<void> {
    await Promise.all([...this.#parts].map((part) => this.#end(part)));
  }

  /** Ends the work on a part and frees its shards. */
  #end(part: Part): Promise<void> {
    const ending = this.#ending.get(part) ?? this.#close(part);
    this.#ending.set(part, ending);
    return ending;
  }

  async #close(part: Part): Promise<void> {
    try {
      await part.runtime.stop();
      await part.store.close();
    } catch (error) {
      if (!isRetinueError(error)) this.#with.options.log.error("a store could not be closed", { message: messageOf(error) });
    } finally {
      this.orders.hold(...part.runtime.parts.unkeptHalts.all());
      this.#parts.delete(part);
      this.#ending.delete(part);
      this.#wake.abort();
    }
  }
}
