/** The whole: joins the stages and drives them, from what arrives to what is sent and what became of it. */
import PQueue from "p-queue";
import { createClient } from "../client/client.ts";
import type { KeyProvider } from "../client/auth.ts";
import type { Transport } from "../client/transport.ts";
import { LANES } from "../contract/operations.ts";
import type { Profile } from "../contract/profile.ts";
import { tierLimits } from "../contract/tiers.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { messageOf, Misconfigured } from "../core/errors.ts";
import { createAnnouncer, type Announcer } from "../core/events.ts";
import { asHandle, type Handle } from "../core/ids.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import { DAY, MINUTE, SECOND } from "../core/units.ts";
import type { Pacer } from "../limits/pacing.ts";
import { GUARDIAN, scopeOf, type Cap } from "../limits/spending.ts";
import { ledgerTime } from "../limits/time.ts";
import { createWakes } from "../schedule/wakes.ts";
import { brake } from "../specialist/brakes.ts";
import type { Caps, Specialist } from "../specialist/specialist.ts";
import type { Recovered, Store } from "../store/store.ts";
import { learnAccount, learnFrom } from "./account.ts";
import { concludeOutcome, doubtTiming } from "./concluding.ts";
import { createDoor, KEY_LOOK_MS } from "./door.ts";
import { settleDoubts } from "./doubting.ts";
import { followWatches } from "./following.ts";
import { handleEvents } from "./handling.ts";
import { createMember, type Member, type Part } from "./member.ts";
import type { Parts } from "./parts.ts";
import { pollSources } from "./polling.ts";
import { readFor } from "./reading.ts";
import { operationRules } from "./rules.ts";
import { startSchedules } from "./schedules.ts";
import { sendIntents } from "./sending.ts";

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
  readonly announcer?: Announcer;
  /** Caps on what all specialists together may spend. */
  readonly guardianCaps?: Caps;
  readonly zone?: string;
  /** Handlers at once, over all specialists. Default 32. */
  readonly handlers?: number;
  /** How long stopping waits for answers. Default 25 s. */
  readonly drainMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

export interface Runtime {
  readonly announcer: Announcer;
  readonly parts: Parts;
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
}

const DEFAULT_HANDLERS = 32;
const DEFAULT_DRAIN_MS = 25 * SECOND;
/** What is due but cannot go on (it waits for another row) is looked at again after this, unless something wakes it. */
const STUCK_LOOK_MS = 5 * SECOND;
const PRUNE_EVERY_MS = 10 * MINUTE;
/** Money held for an action nobody could settle counts as spent after this. */
const HOLD_MS = 7 * DAY;
const ALL_PARTS: readonly Part[] = ["events", "intents", "doubts", "schedules", "sources", "watches"];

type Pass = (parts: Parts, member: Member) => Promise<boolean>;

/** One pass over a part: answers whether there may be more right away. In the order of the flow. */
const PASSES: { readonly [part in Part]: Pass } = {
  sources: async (parts, member) => {
    await learnAccount(parts, member);
    return pollSources(parts, member);
  },
  watches: followWatches,
  schedules: startSchedules,
  events: (parts, member) => handleEvents(parts, member, (who, call, signal) => readFor(parts, who, call, signal)),
  intents: sendIntents,
  doubts: settleDoubts,
};

export function createRuntime(options: RuntimeOptions): Runtime {
  const { store, clock, profile, log } = options;
  const announcer = options.announcer ?? createAnnouncer();
  const members = new Map<Handle, Member>();
  const stopping = new AbortController();
  const ending = new AbortController();
  const atWork = new Set<Promise<void>>();
  const wakes = createWakes({ clock, run: (handle) => due(asHandle(handle)) });

  const ledger = ledgerTime(clock);
  const client = createClient({
    profile,
    baseUrl: options.baseUrl,
    transport: options.transport,
    clock,
    onDrift: (operation, observations) =>
      observations.forEach(({ path, kind }) => announcer.emit("drift", { at: clock.now(), handle: "", operation, path, kind })),
  });
  const door = createDoor({
    client,
    store,
    pacer: options.pacer,
    keys: options.keys,
    clock,
    ledger,
    announcer,
    caps: (member) => [...capsOf(member.specialist.spend, scopeOf(member.specialist.handle)), ...capsOf(options.guardianCaps, GUARDIAN)],
    holdMs: HOLD_MS,
    conclude: (member, intent, outcome) => concludeOutcome(member, intent, outcome, profile, clock.now()),
  });
  const parts: Parts = {
    clock,
    random: options.random,
    log,
    announcer,
    store,
    profile,
    zone: options.zone ?? "UTC",
    door,
    handlers: new PQueue({ concurrency: options.handlers ?? DEFAULT_HANDLERS }),
    fetch: options.fetch ?? globalThis.fetch,
    brake: (draft, words, specialist) => brake(draft, words, specialist.brakes),
    stopping: stopping.signal,
    ending: ending.signal,
    learn: (member, record) => track(learnFrom(parts, member, record)),
    wake,
  };

  function wake(member: Member, part: Part): void {
    if (stopping.signal.aborted) return;
    if (member.busy.has(part)) member.again.add(part);
    else track(work(member, part));
  }

  /** Runs a part until it has nothing more to do now, then arms the timer for what comes next. */
  async function work(member: Member, part: Part): Promise<void> {
    member.busy.add(part);
    try {
      for (let more = true; more && !stopping.signal.aborted;) {
        member.again.delete(part);
        more = (await PASSES[part](parts, member)) || member.again.has(part);
      }
    } catch (error) {
      log.error(`the ${part} of a specialist could not be worked on`, { handle: member.specialist.handle, message: messageOf(error) });
    } finally {
      member.busy.delete(part);
    }
    if (!stopping.signal.aborted) await arm(member);
  }

  async function arm(member: Member): Promise<void> {
    const { handle } = member.specialist;
    const now = clock.now();
    const lanes = LANES.filter((lane) => !member.waits.has(lane));
    const next = await store.nextDue(handle, lanes);
    // What is past due after a pass cannot go on by itself.
    const row = next === undefined ? Infinity : next > now ? next : now + STUCK_LOOK_MS;
    const waits = Math.min(Infinity, ...[...member.waits.values()].map(({ until }) => until));
    const key = member.keyTrouble === undefined ? Infinity : now + KEY_LOOK_MS;
    const at = Math.min(row, waits, key);
    if (at < Infinity && !stopping.signal.aborted) wakes.set(handle, Math.max(at, now + 1));
  }

  function due(handle: Handle): void {
    const member = members.get(handle);
    if (member === undefined) return;
    track(resume(member));
  }

  /** A specialist without a usable key does nothing but look whether it has one again. */
  async function resume(member: Member): Promise<void> {
    if (member.keyTrouble !== undefined && !(await door.rereadKey(member))) return arm(member);
    for (const part of ALL_PARTS) wake(member, part);
  }

  function track(job: Promise<void>): void {
    const tracked = job
      .catch((error: unknown) => log.error("something went wrong", { message: messageOf(error) }))
      .finally(() => atWork.delete(tracked));
    atWork.add(tracked);
  }

  async function enlist(specialist: Specialist): Promise<Member> {
    const rules = operationRules(specialist, profile, () => clock.now());
    const member = createMember(specialist, rules, tierLimits(specialist.tier, profile.set));
    const row = await store.loadSpecialist(specialist.handle);
    member.accountId ??= row.accountId;
    member.keyId = await store.keyOf(specialist.handle);
    members.set(specialist.handle, member);
    return member;
  }

  async function prune(): Promise<void> {
    while (!stopping.signal.aborted) {
      await store.prune(clock.now());
      await sleep(clock, PRUNE_EVERY_MS, stopping.signal);
    }
  }

  let stopped: Promise<void> | undefined;
  async function drain(): Promise<void> {
    stopping.abort();
    wakes.stop();
    const over = sleep(clock, options.drainMs ?? DEFAULT_DRAIN_MS, ending.signal);
    const idle = (async () => {
      while (atWork.size > 0) await Promise.all(atWork);
    })();
    await Promise.race([idle, over]);
    ending.abort();
    await Promise.race([idle, sleep(clock, SECOND)]);
  }

  return {
    announcer,
    parts,
    async start() {
      const handles = options.specialists.map(({ handle }) => handle.toLowerCase());
      const twice = handles.find((handle, i) => handles.indexOf(handle) !== i);
      if (twice !== undefined) throw new Misconfigured("handle_twice", `two specialists have the handle "${twice}"`);
      const recovered = await store.recover(clock.now(), doubtTiming(profile).firstCheckMs);
      for (const specialist of options.specialists) await enlist(specialist);
      for (const member of members.values()) {
        member.keyId = undefined; // registered anew, since tier and floors may have changed
        track(resume(member));
      }
      track(prune());
      return recovered;
    },
    stop: () => (stopped ??= drain()),
    members: () => [...members.values()],
    member: (handle) => members.get(asHandle(handle)),
    async put(specialist) {
      const known = members.get(specialist.handle);
      if (known === undefined) {
        track(resume(await enlist(specialist)));
        return;
      }
      known.specialist = specialist;
      known.rules = operationRules(specialist, profile, () => clock.now());
      known.limits = tierLimits(specialist.tier, profile.set);
      known.retired = false;
      known.keyId = undefined;
      track(resume(known));
    },
    retire(handle) {
      const member = members.get(handle);
      if (member !== undefined) member.retired = true;
    },
  };
}

/** A definition's caps as the ledger's. Rolling ones go along, since calendar caps allow twice as much around midnight. */
function capsOf(caps: Caps | undefined, scope: Cap["scope"]): readonly Cap[] {
  if (caps === undefined) return [];
  const windows = [
    ["action", caps.perAction],
    ["hour", caps.perHour],
    ["rolling-hour", caps.perHour],
    ["day", caps.perDay],
    ["rolling-day", caps.perDay],
    ["month", caps.perMonth],
    ["total", caps.total],
  ] as const;
  return windows.flatMap(([window, amounts]) => amounts.map((money): Cap => ({ scope, window, money })));
}
