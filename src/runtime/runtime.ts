/** The whole: joins the stages and drives them, from what arrives to what is sent and what became of it. */
import type { KeyProvider } from "../client/auth.ts";
import type { Transport } from "../client/transport.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { messageOf, type Fatal } from "../core/errors.ts";
import { createAnnouncer, type Announcer } from "../core/events.ts";
import { asHandle, type Handle } from "../core/ids.ts";
import type { LogFields, Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import { Scrubber } from "../core/scrubber.ts";
import { SECOND } from "../core/units.ts";
import { floorsOf } from "../limits/lanes.ts";
import type { Pacer } from "../limits/pacing.ts";
import { ledgerTime, steadyClock } from "../limits/ledger-clock.ts";
import { WORK_KINDS, type WorkKind } from "../store/sources.ts";
import { createWakes, type Wakes } from "./wakes.ts";
import type { OperationRules } from "../specialist/operation-rules.ts";
import type { Caps, Specialist } from "../specialist/specialist.ts";
import type { Recovered, Store } from "../store/store.ts";
import { learnAccount, learnFrom, takesKey, wantsAccount } from "../gateway/own-account.ts";
import { doubtTiming } from "../outbox/follow-up.ts";
import { openGateway } from "./open-gateway.ts";
import { readAgain, takeDeliveries } from "../webhooks/process-deliveries.ts";
import { resolveInDoubt } from "../outbox/resolve-in-doubt.ts";
import { followWatches } from "../polling/poll-watches.ts";
import { handleEvents } from "../handlers/handle-events.ts";
import type { WorkerPool } from "../handlers/worker/worker-pool.ts";
import { createSemaphore } from "../gateway/semaphore.ts";
import { createKeyWatch, KEY_CHECK_MS, type KeyWatch } from "../gateway/keys.ts";
import { isStoreLost } from "../store/store-lost.ts";
import { ALL_WORK, bitOf, createMember, endWaits, freeLanes, isBusy, type Member } from "../gateway/member.ts";
import type { Dependencies } from "./dependencies.ts";
import { pollSources } from "../polling/poll-lists.ts";
import { readFor } from "../handlers/reads.ts";
import type { ReceiverSettings } from "../webhooks/receiver-settings.ts";
import { limitsOf, operationRules } from "../gateway/permissions.ts";
import { startSchedules } from "../schedule/fire.ts";
import { DEFAULT_RETENTION, keepPruned } from "./retention.ts";
import { createBreakers, loadBreakers } from "../gateway/breakers.ts";
import { createSharedLists } from "../polling/shared-lists.ts";
import { sendIntents } from "../outbox/send.ts";
import { startTimes } from "./staggered-start.ts";
import { refuseTwins } from "./unique-handles.ts";
import { warnLeftBehind, warnRestored } from "./startup-warnings.ts";
import { createWebhookCoverage } from "../polling/webhook-coverage.ts";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks.ts";
import type { Retention } from "../store/history.ts";

export interface RuntimeOptions {
  readonly specialists: readonly Specialist[];
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly store: Store;
  readonly transport: Transport;
  readonly keys: KeyProvider;
  readonly pacer: Pacer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Learns every secret, and cleans answers, deliveries and errors of them. Give it to the logger as well. Default: a new one. */
  readonly scrubber?: Scrubber;
  readonly announcer?: Announcer;
  /** Caps on what all specialists together may spend. */
  readonly guardianCaps?: Caps;
  readonly zone?: string;
  /** Handlers at once, over all specialists. Default 32. */
  readonly handlers?: number;
  /** How long rows are kept that nothing needs any more. Default: events and requests 30 days, intents 90. */
  readonly retention?: Retention;
  /** How long stopping waits for answers. Default 25 s. */
  readonly drainMs?: number;
  readonly fetch?: typeof globalThis.fetch;
  /**
   * `refuse` for a dry run: it reads, handles and decides as ever, and the door sends no write. Default `send`. What it decides is
   * stored as refused, so its store must not be the project's own: `launch` opens one in memory.
   */
  readonly writes?: "send" | "refuse";
  /** Does only what it is told: nothing is polled, handled or sent by itself. Default false. */
  readonly passive?: boolean;
  /** Runs what says `isolate: "worker"`. Its owner closes it. Default: everything runs in this thread, whatever it says. */
  readonly isolation?: WorkerPool;
  /** How webhooks are received. Default: they are not. */
  readonly receiver?: ReceiverSettings;
}

export interface Runtime {
  readonly announcer: Announcer;
  readonly parts: Dependencies;
  /** The receiver, where there is one. */
  readonly webhooks: Webhooks | undefined;
  /** `store_lost`: the store cannot be written any more, so nothing is sent. */
  readonly phase: "starting" | "working" | "stopping" | "store_lost";
  /** Recovers what a crash left, then begins. */
  start(): Promise<Recovered>;
  /** Begins nothing new, waits for what is under way (at most `drainMs`), writes everything down. Calls share one stop. */
  stop(): Promise<void>;
  members(): readonly Member[];
  member(handle: string): Member | undefined;
  /** Adds a specialist, or replaces its definition: what runs finishes on the old one. */
  put(specialist: Specialist): Promise<void>;
  /** It drains what it owes and begins nothing new. */
  retire(handle: Handle): void;
  /** The store cannot be written any more: nothing goes on, which is said once. */
  storeLost(error: Fatal): void;
}

export const DEFAULT_HANDLERS = 32;
const DEFAULT_DRAIN_MS = 25 * SECOND;
/** What is due but cannot go on (it waits for another row) is looked at again after this, unless something wakes it. */
const STUCK_LOOK_MS = 5 * SECOND;

type Pass = (parts: Dependencies, member: Member) => Promise<boolean>;

/** One pass over a part: answers whether there may be more right away. In the order of the flow. */
const PASSES: { readonly [part in WorkKind]: Pass } = {
  deliveries: takeDeliveries,
  sources: async (parts, member) => {
    await learnAccount(parts, member);
    const more = await pollSources(parts, member);
    return (await readAgain(parts, member, "sources")) || more;
  },
  watches: async (parts, member) => {
    const more = await followWatches(parts, member);
    return (await readAgain(parts, member, "watches")) || more;
  },
  schedules: startSchedules,
  events: (parts, member) => handleEvents(parts, member, (who, call, signal) => readFor(parts, who, call, signal)),
  intents: sendIntents,
  doubts: resolveInDoubt,
};

export function createRuntime(options: RuntimeOptions): Runtime {
  return new Engine(options);
}

/** The specialists at work, and when each has something to do. */
class Engine implements Runtime {
  readonly announcer: Announcer;
  readonly parts: Dependencies;
  readonly webhooks: Webhooks | undefined;
  readonly #options: RuntimeOptions;
  readonly #keys: KeyWatch;
  readonly #members = new Map<Handle, Member>();
  readonly #wakes: Wakes;
  readonly #stopping = new AbortController();
  readonly #ending = new AbortController();
  readonly #atWork = new Set<Promise<void>>();
  #stopped: Promise<void> | undefined;
  #phase: Runtime["phase"] = "starting";

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
    this.parts = {
      ...options,
      scrubber,
      clock,
      wall: options.clock,
      networkNow: () => ledger.networkNow(),
      announcer: this.announcer,
      breakers,
      zone: options.zone ?? "UTC",
      gateway: openGateway(options, {
        announcer: this.announcer,
        scrubber,
        breakers,
        keys: this.#keys,
        clock,
        wall: options.clock,
        ledger,
      }),
      handlers: createSemaphore(options.handlers ?? DEFAULT_HANDLERS),
      isolation: options.isolation,
      fetch: options.fetch ?? globalThis.fetch,
      stopping: this.#stopping.signal,
      ending: this.#ending.signal,
      shared: createSharedLists(options.random),
      members: () => this.members(),
      sharers: (member) => this.#keys.sharers(member),
      learn: (member, record) => this.#track(learnFrom(this.parts, member, record)),
      wake: (member, part) => this.#wake(member, part),
      coverage: createWebhookCoverage(clock),
    };
    const { receiver: settings } = options;
    this.webhooks = settings === undefined ? undefined : createWebhooks({ settings, parts: this.parts, members: this.#members });
  }

  async start(): Promise<Recovered> {
    const { specialists, store, clock, profile, log } = this.#options;
    refuseTwins(specialists);
    for (const specialist of specialists) this.#check(specialist);
    const recovered = await store.recover(clock.now(), doubtTiming(profile).firstCheckMs);
    if (recovered.restoredFrom !== undefined) warnRestored(log, recovered.restoredFrom, recovered.doubts);
    await loadBreakers(this.parts.breakers, store, profile, clock.now());
    if (this.#options.passive !== true) {
      await store.resumeAll(clock.now());
      await warnLeftBehind(log, store, new Set(specialists.map(({ handle }) => handle)));
    }
    const accounts = await store.accounts();
    for (const specialist of specialists) this.#enlist(specialist, accounts.get(specialist.handle));
    await this.webhooks?.start();
    for (const { member, at } of startTimes(this.members(), await store.firstDues(), clock.now()))
      if (at <= clock.now() || this.#options.passive === true) this.#begin(member);
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
    return [...this.#members.values()];
  }

  member(handle: string): Member | undefined {
    return this.#members.get(asHandle(handle));
  }

  async put(specialist: Specialist): Promise<void> {
    this.#check(specialist);
    const known = this.#members.get(specialist.handle);
    if (known !== undefined) {
      const { profile } = this.#options;
      known.specialist = specialist;
      known.rules = this.#rules(specialist);
      known.limits = limitsOf(specialist.tier, profile);
      known.floors = floorsOf(specialist.lanes);
      known.retired = false;
      known.keyId = undefined; // registered anew: tier and floors may have changed
      known.unchecked = ALL_WORK; // what is new in the definition has no rows yet
    }
    this.#begin(known ?? this.#enlist(specialist, (await this.#options.store.loadSpecialist(specialist.handle)).accountId));
  }

  retire(handle: Handle): void {
    const member = this.#members.get(handle);
    if (member === undefined) return;
    member.retired = true;
    if (this.webhooks !== undefined) this.#track(this.webhooks.forget(member));
  }

  #check(specialist: Specialist): void {
    if (specialist.isolate === "worker") this.#options.isolation?.check(specialist);
  }

  #rules(specialist: Specialist): OperationRules {
    const { profile, clock } = this.#options;
    const { scrubber, breakers } = this.parts;
    return operationRules(specialist, profile, clock, { trust: breakers.trust, scrubber });
  }

  #enlist(specialist: Specialist, accountId: string | undefined): Member {
    const { profile, clock } = this.#options;
    const member = createMember(specialist, this.#rules(specialist), limitsOf(specialist.tier, profile), clock.now());
    member.accountId ??= accountId;
    this.#members.set(specialist.handle, member);
    return member;
  }

  #begin(member: Member): void {
    member.begun = true;
    this.#track(this.#resume(member));
    if (this.webhooks !== undefined) this.#track(this.webhooks.look(member));
  }

  #wake(member: Member, part: WorkKind): void {
    if (this.#stopping.signal.aborted || this.#options.passive === true) return;
    if (!member.begun) return this.#begin(member);
    member.unchecked &= ~bitOf(part);
    if (isBusy(member, part)) member.again |= bitOf(part);
    else this.#track(this.#work(member, part));
  }

  /** Runs a part until it has nothing more to do now, then arms the timer for what comes next. */
  async #work(member: Member, part: WorkKind): Promise<void> {
    const bit = bitOf(part);
    member.busy |= bit;
    try {
      for (let more = true; more && !this.#stopping.signal.aborted;) {
        member.again &= ~bit;
        more = (await PASSES[part](this.parts, member)) || (member.again & bit) !== 0;
      }
    } catch (error) {
      member.unchecked |= bit;
      this.#failed(error, `the ${part} of a specialist could not be worked on`, { handle: member.specialist.handle });
    } finally {
      member.busy &= ~bit;
    }
    if (member.busy === 0 && !this.#stopping.signal.aborted) await this.#arm(member);
  }

  async #arm(member: Member): Promise<void> {
    const { store, clock } = this.#options;
    const { handle } = member.specialist;
    const now = clock.now();
    // Without a key nothing that is due can go on, so nothing but the next look at the key counts. It is not put off by what
    // is told meanwhile, which needs no key.
    if (member.keyTrouble !== undefined) return this.#wakes.set(handle, Math.max(member.checkedAt + KEY_CHECK_MS, now + 1));
    const next = await store.nextDue(handle, freeLanes(member));
    // What was due when all parts were asked cannot go on by itself; what came due since has not been asked for.
    const row = next === undefined ? Infinity : next > member.checkedAt ? next : member.checkedAt + STUCK_LOOK_MS;
    const failed = member.unchecked === 0 ? Infinity : now + STUCK_LOOK_MS;
    const waits = Math.min(Infinity, ...[...(member.waits?.values() ?? [])].map(({ until }) => until));
    const at = Math.min(row, failed, waits);
    if (at < Infinity && !this.#stopping.signal.aborted) this.#wakes.set(handle, Math.max(at, now + 1));
  }

  #due(handle: Handle): void {
    const member = this.#members.get(handle);
    if (member === undefined) return;
    if (member.begun) this.#track(this.#resume(member));
    else this.#begin(member);
  }

  /** Asks the parts that have something due. A specialist without a usable key does nothing but look whether it has one again. */
  async #resume(member: Member): Promise<void> {
    const { store, clock, passive = false } = this.#options;
    const now = clock.now();
    member.checkedAt = now;
    if (member.keyTrouble !== undefined && !(await this.#keyWorks(member))) return this.#arm(member);
    endWaits(member, ({ until }) => until <= now);
    const { unchecked } = member;
    const due = unchecked === ALL_WORK ? WORK_KINDS : await store.dueWork(member.specialist.handle, freeLanes(member), now);
    for (const part of WORK_KINDS) if (due.includes(part) || (unchecked & bitOf(part)) !== 0) this.#wake(member, part);
    if (wantsAccount(this.parts, member)) this.#wake(member, "sources");
    if (passive) return;
    // Where nothing is due any more, as after what waited was withdrawn, no pass sets the next timer. One that takes long must
    // not keep the other parts from what comes due meanwhile.
    if (member.busy === 0) await this.#arm(member);
    else this.#wakes.set(member.specialist.handle, now + STUCK_LOOK_MS);
  }

  /** There is another key, or the network takes the same one again. */
  async #keyWorks(member: Member): Promise<boolean> {
    return (await this.#keys.look(member)) || this.#keys.probe(member, () => takesKey(this.parts, member));
  }

  #track(job: Promise<void>): void {
    const tracked = job.catch((error: unknown) => this.#failed(error, "something went wrong")).finally(() => this.#atWork.delete(tracked));
    this.#atWork.add(tracked);
  }

  /** One thing that failed is said and tried again; without its store nothing goes on at all, which is said once. */
  #failed(error: unknown, what: string, about: LogFields = {}): void {
    const { log } = this.#options;
    if (isStoreLost(error)) this.storeLost(error);
    else log.error(what, { ...about, message: messageOf(error) });
  }

  storeLost(error: Fatal): void {
    if (this.#phase === "store_lost") return;
    this.#phase = "store_lost";
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
    const idle = (async () => {
      while (this.#atWork.size > 0) await Promise.all(this.#atWork);
      over.abort();
    })();
    await sleep(clock, drainMs, over.signal);
    this.#ending.abort();
    await sleep(clock, SECOND, over.signal);
    if (!over.signal.aborted) this.#options.log.warn("stopped before everything had come back", { open: this.#atWork.size });
    else await idle;
  }
}
