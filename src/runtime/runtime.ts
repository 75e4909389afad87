/** Composes the runtime and drives its work: from arriving events to sent actions and their results. */
import PQueue from "p-queue";
import { sleep } from "../core/clock.ts";
import { messageOf, type Fatal } from "../core/errors.ts";
import { createAnnouncer, type Announcer } from "../core/events.ts";
import { asHandle, type Handle } from "../core/ids.ts";
import type { LogFields } from "../core/log.ts";
import { Scrubber } from "../core/scrubber.ts";
import { SECOND } from "../core/units.ts";
import { ledgerTime, steadyClock } from "../limits/ledger-clock.ts";
import { WORK_KINDS, type WorkKind } from "../store/sources.ts";
import { createWakes, type Wakes } from "./wakes.ts";
import type { OperationRules } from "../specialist/operation-rules.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { Recovered } from "../store/store.ts";
import { learnFrom, takesKey, wantsAccount } from "../gateway/own-account.ts";
import { completeLeftPending } from "../outbox/complete-pending.ts";
import { doubtTiming } from "../outbox/follow-up.ts";
import { cappedIn, openGateway } from "./open-gateway.ts";
import { openModels } from "./open-models.ts";
import { createActs } from "../polling/action-counts.ts";
import { noticeCalls } from "../polling/job-cadence.ts";
import { createJobTimings } from "../polling/job-timings.ts";
import { noteDelivery } from "../polling/job-news.ts";
import { createKeyWatch, KEY_CHECK_MS, type KeyWatch } from "../gateway/keys.ts";
import { isStoreLost, type LostStore } from "../store/store-lost.ts";
import { createMember, endPastWaits, freeLanes, redefine, type Member } from "../gateway/member.ts";
import { createOutboxMemory } from "../outbox/outbox-memory.ts";
import { createWebhookMemory } from "../webhooks/webhook-memory.ts";
import { Flow } from "./flow.ts";
import { ALL_WORK, bitOf, createWork, isBusy, whenHere, type Work } from "./work.ts";
import type { Dependencies } from "./dependencies.ts";
import type { RuntimeOptions } from "./runtime-options.ts";
import { limitsOf, operationRules } from "../gateway/permissions.ts";
import { DEFAULT_RETENTION, keepPruned } from "./retention.ts";
import { createBreakers, loadBreakers } from "../gateway/network-breakers.ts";
import { createUnkeptHalts } from "../gateway/unkept-halts.ts";
import { createSharedLists } from "../polling/shared-lists.ts";
import { startTimes } from "./staggered-start.ts";
import { refuseTwins } from "./unique-handles.ts";
import { warnLeftBehind, warnRestored } from "./startup-warnings.ts";
import { createWebhookCoverage } from "../polling/webhook-coverage.ts";
import { pollWithoutReceiver } from "../webhooks/hints.ts";
import { reportListed } from "../webhooks/process-deliveries.ts";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks.ts";

export interface Runtime {
  readonly announcer: Announcer;
  readonly parts: Dependencies;
  /** The receiver, if there is one. */
  readonly webhooks: Webhooks | undefined;
  /** `store_lost`: the store can no longer be written, so nothing is sent. */
  readonly phase: "starting" | "working" | "stopping" | "store_lost";
  /** Recovers from a crash, then begins. */
  start(): Promise<Recovered>;
  /** Begins no new work, waits for running work (at most `drainMs`), and stores everything. Calls share one stop. */
  stop(): Promise<void>;
  members(): readonly Member[];
  member(handle: string): Member | undefined;
  /** Adds a specialist, or replaces its definition: running handlers finish on the old one. */
  put(specialist: Specialist): Promise<void>;
  /** Lets the specialist finish its obligations and begin no new work. */
  retire(handle: Handle): void;
  /** Ends all work because the store can no longer be written. Reported once. */
  storeLost(error: Fatal): void;
}

export const DEFAULT_HANDLERS = 32;
const DEFAULT_DRAIN_MS = 25 * SECOND;
/** Due work that cannot proceed (it waits for another row) is checked again after this, unless something wakes it. */
const STUCK_CHECK_MS = 5 * SECOND;

export function createRuntime(options: RuntimeOptions): Runtime {
  return new Engine(options);
}

/** The working specialists, and the time of each one's next work. */
class Engine implements Runtime {
  readonly announcer: Announcer;
  readonly parts: Dependencies;
  readonly webhooks: Webhooks | undefined;
  readonly #options: RuntimeOptions;
  readonly #keys: KeyWatch;
  readonly #work = new Map<Handle, Work>();
  readonly #wakes: Wakes;
  readonly #stopping = new AbortController();
  readonly #ending = new AbortController();
  readonly #flow: Flow;
  #stopped: Promise<void> | undefined;
  #phase: Runtime["phase"] = "starting";
  #lost: LostStore | undefined;

  constructor(options: RuntimeOptions) {
    const { scrubber = new Scrubber() } = options;
    const ledger = ledgerTime(options.clock);
    const clock = steadyClock(options.clock, ledger);
    this.#options = { ...options, clock };
    this.announcer = options.announcer ?? createAnnouncer();
    this.#wakes = createWakes({ clock, run: (handle) => this.#due(asHandle(handle)) });
    this.#keys = createKeyWatch({ ...options, clock, ledger, announcer: this.announcer });
    const breakers = createBreakers({
      clock,
      announcer: this.announcer,
      drift: options.profile.drift,
      trust: options.profile.trust,
      writes: (operation) => options.profile.operations.get(operation)?.effect !== "read",
      keep: (change) => this.#track(options.store.saveNetworkState(change, clock.now())),
    });
    const unkeptHalts = createUnkeptHalts();
    const timings = createJobTimings(clock, (change) => this.#track(options.store.saveNetworkState(change, clock.now())));
    this.parts = {
      ...options,
      unkeptHalts,
      storeLost: () => this.#lost,
      scrubber,
      clock,
      wall: options.clock,
      networkNow: () => ledger.networkNow(),
      announcer: this.announcer,
      breakers,
      zone: options.zone ?? "UTC",
      gateway: openGateway(
        options,
        { announcer: this.announcer, scrubber, breakers, unkeptHalts, keys: this.#keys, clock, wall: options.clock, ledger },
        () => noticeCalls(timings.of("given")),
      ),
      track: (work) => this.#track(work),
      handlers: options.handlerQueue ?? new PQueue({ concurrency: options.handlers ?? DEFAULT_HANDLERS }),
      isolation: options.isolation,
      fetch: options.fetch ?? globalThis.fetch,
      models: openModels({ ...options, clock, scrubber, halt: (handle) => unkeptHalts.of(handle) }),
      stopping: this.#stopping.signal,
      ending: this.#ending.signal,
      shared: options.sharedLists ?? createSharedLists(options.random),
      told: new Map(),
      members: () => this.members(),
      sharers: (member) => this.#keys.sharers(member),
      acts: createActs(),
      timings,
      delivered: (member, job, record) => this.#track(noteDelivery(this.parts, member, job, record)),
      learn: (member, record) => {
        const learning = learnFrom(this.parts, member, record);
        if (learning !== undefined) this.#track(learning);
      },
      report: (member, notifications) => reportListed(this.parts, member, notifications),
      wake: (member, part) => this.#wake(member, part),
      coverage: createWebhookCoverage(clock),
      outbox: createOutboxMemory(),
      deliveries: createWebhookMemory(),
      isBusy: (member, kind) => isBusy(this.#workOf(member), kind),
    };
    this.#flow = new Flow({
      parts: this.parts,
      arm: (work) => this.#arm(work),
      failed: (error, what, about) => this.#failed(error, what, about),
    });
    const { receiver: settings } = options;
    this.webhooks =
      settings === undefined
        ? undefined
        : createWebhooks({ settings, parts: this.parts, members: { all: () => this.members(), find: (handle) => this.member(handle) } });
  }

  async start(): Promise<Recovered> {
    const { specialists, store, clock, profile, log } = this.#options;
    refuseTwins(specialists);
    for (const specialist of specialists) this.#check(specialist);
    const recovered = await store.recover(clock.now(), doubtTiming(profile).firstCheckMs, cappedIn(this.#options));
    if (recovered.restoredFrom !== undefined) warnRestored(log, recovered.restoredFrom, recovered.doubts);
    await loadBreakers(this.parts.breakers, store, profile, clock.now());
    this.parts.timings.restore(await store.networkState());
    if (this.#options.passive !== true) {
      await store.resumeAll(clock.now());
      await store.retryFailed(undefined, "untimed", clock.now());
      await warnLeftBehind(
        log,
        store,
        new Set([...specialists.map(({ handle }) => handle), ...(this.parts.keptOut?.().keys() ?? [])]),
        clock.now(),
      );
    }
    const accounts = await store.accounts();
    for (const specialist of specialists) this.#enlist(specialist, accounts.get(specialist.handle));
    if (this.webhooks !== undefined) await this.webhooks.start();
    else if (this.#options.passive !== true) await pollWithoutReceiver(this.parts, this.members());
    for (const { member, at } of startTimes(this.members(), await store.firstDues(), clock.now()))
      if (at <= clock.now() || this.#options.passive === true) this.#begin(this.#workOf(member));
      else this.#wakes.set(member.specialist.handle, at);
    const retention = this.#options.retention ?? DEFAULT_RETENTION;
    this.#track(keepPruned({ store, clock, profile, members: () => this.members(), retention }, this.#stopping.signal));
    if (this.#phase === "starting") this.#phase = "working";
    return recovered;
  }

  get phase(): Runtime["phase"] {
    return this.#phase;
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#drain());
  }

  members(): readonly Member[] {
    return [...this.#work.values()].map(({ member }) => member);
  }

  member(handle: string): Member | undefined {
    return this.#work.get(asHandle(handle))?.member;
  }

  async put(specialist: Specialist): Promise<void> {
    this.#check(specialist);
    const known = this.#work.get(specialist.handle);
    if (known !== undefined) {
      const { clock, profile } = this.#options;
      redefine(known.member, specialist, this.#rules(specialist), limitsOf(specialist.tier, profile), clock.now());
      for (const { members } of this.parts.told.values()) members.delete(known.member);
      known.unchecked = ALL_WORK; // what is new in the definition has no rows yet
      await this.#options.store.retryFailed(specialist.handle, "waiting", this.#options.clock.now());
    }
    this.#begin(known ?? this.#enlist(specialist, (await this.#options.store.loadSpecialist(specialist.handle)).accountId));
  }

  retire(handle: Handle): void {
    const member = this.#work.get(handle)?.member;
    if (member === undefined) return;
    member.retired = true;
    if (this.webhooks !== undefined) this.#track(this.webhooks.forget(member));
  }

  #check(specialist: Specialist): void {
    if (specialist.isolate === "worker") this.#options.isolation?.use(specialist);
  }

  #rules(specialist: Specialist): OperationRules {
    const { profile, clock, scrubber, breakers } = this.parts;
    return operationRules(specialist, profile, clock, { trust: breakers.trust, scrubber });
  }

  #enlist(specialist: Specialist, accountId: string | undefined): Work {
    const { profile, clock } = this.#options;
    const member = createMember(specialist, this.#rules(specialist), limitsOf(specialist.tier, profile), clock.now());
    member.accountId ??= accountId;
    this.#work.set(specialist.handle, createWork(member));
    return this.#workOf(member);
  }

  #workOf({ specialist }: Member): Work {
    const work = this.#work.get(specialist.handle);
    if (work === undefined) throw new TypeError(`expected ${specialist.handle} to be at work here`);
    return work;
  }

  #begin(work: Work): void {
    const past = work.begun ? undefined : this.#options.store.pastOf(work.member.specialist.handle);
    const failed = (error: unknown): void => this.#failed(error, "a specialist could not begin");
    if (past !== undefined) return whenHere(work, past, { stopping: this.#stopping.signal, begin: () => this.#begin(work), failed });
    work.begun = true;
    this.#track(this.#resume(work));
    if (this.webhooks !== undefined) this.#track(this.webhooks.look(work.member));
  }

  #wake(member: Member, part: WorkKind): void {
    if (this.#stopping.signal.aborted || this.#options.passive === true) return;
    const work = this.#workOf(member);
    if (!work.begun) return this.#begin(work);
    this.#flow.begin(work, part);
  }

  /** Sets the timer for the next work of a specialist that waits for a time. */
  #arm(work: Work): void {
    const { member } = work;
    const { store, clock } = this.#options;
    const { handle } = member.specialist;
    const now = clock.now();
    // Without a key no due work can proceed, so only the next check of the key counts. Deliveries do not delay it, since they need no key.
    if (member.keyTrouble !== undefined) return this.#wakes.set(handle, Math.max(work.checkedAt + KEY_CHECK_MS, now + 1));
    const next = store.nextDue(handle, freeLanes(member));
    // Work that was due at the last check cannot proceed on its own; work that became due since was not checked yet.
    const row = next === undefined ? Infinity : next > work.checkedAt ? next : work.checkedAt + STUCK_CHECK_MS;
    const failed = work.unchecked === 0 ? Infinity : now + STUCK_CHECK_MS;
    let waits = Infinity;
    for (const { until } of member.waits?.values() ?? []) waits = Math.min(waits, until);
    const at = Math.min(row, failed, waits);
    if (at < Infinity && !this.#stopping.signal.aborted) this.#wakes.set(handle, Math.max(at, now + 1));
  }

  #due(handle: Handle): void {
    const work = this.#work.get(handle);
    if (work?.begun === true) this.#track(this.#resume(work));
    else if (work !== undefined) this.#begin(work);
  }

  /** Starts the kinds of work that are due. A specialist without a usable key only checks for one. */
  async #resume(work: Work): Promise<void> {
    const { member } = work;
    const { store, clock, passive = false } = this.#options;
    if (work.checkedAt === 0 && !passive) await completeLeftPending(this.parts, member);
    const now = clock.now();
    work.checkedAt = now;
    if (member.keyTrouble !== undefined && !(await this.#keyWorks(member))) return this.#arm(work);
    endPastWaits(member, now);
    const { unchecked } = work;
    const due = unchecked === ALL_WORK ? WORK_KINDS : store.dueWork(member.specialist.handle, freeLanes(member), now);
    for (const part of WORK_KINDS) if (due.includes(part) || (unchecked & bitOf(part)) !== 0) this.#wake(member, part);
    if (wantsAccount(this.parts, member)) this.#wake(member, "sources");
    if (passive) return;
    // If nothing is due now (waiting work was withdrawn), no pass sets the next timer. A long pass must not delay other kinds of work that
    // become due meanwhile.
    if (work.busy === 0) this.#arm(work);
    else this.#wakes.set(member.specialist.handle, now + STUCK_CHECK_MS);
  }

  /** Called when the key has changed, or the network accepts the same one again. */
  async #keyWorks(member: Member): Promise<boolean> {
    return (await this.#keys.look(member)) || this.#keys.probe(member, () => takesKey(this.parts, member));
  }

  readonly #track = (job: Promise<void>): void => this.#flow.track(job);

  /** Logs a failure, after which the work is retried. A lost store ends all work, and is reported once. */
  #failed(error: unknown, what: string, about: LogFields = {}): void {
    const { log } = this.#options;
    if (isStoreLost(error)) this.storeLost(error);
    else log.error(what, { ...about, message: messageOf(error) });
  }

  storeLost(error: Fatal): void {
    if (this.#phase === "store_lost") return;
    this.#phase = "store_lost";
    this.#lost = { error, since: this.parts.clock.now() };
    this.#options.log.error(error.message, { code: error.code, hint: error.details.hint });
    this.#stopping.abort();
    this.#wakes.stop();
  }

  async #drain(): Promise<void> {
    const { clock, drainMs = DEFAULT_DRAIN_MS } = this.#options;
    if (this.#phase !== "store_lost") this.#phase = "stopping";
    this.#stopping.abort();
    this.#wakes.stop();
    if (this.webhooks !== undefined) this.#track(this.webhooks.close());
    const over = new AbortController();
    const idle = this.#flow.idle().then(() => over.abort());
    await sleep(clock, drainMs, over.signal);
    this.#ending.abort();
    await sleep(clock, SECOND, over.signal);
    if (!over.signal.aborted) this.#options.log.warn("stopped before all answers had come", { open: this.#flow.open });
    else await idle;
    await this.parts.models?.close();
  }
}
