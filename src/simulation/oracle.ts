/** Judges a simulated run by the network's own record and by the rows on disk, never by the runtime's own reports. */
import type { WireRequest } from "../client/transport.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import type { Announcements } from "../core/events.ts";
import { CREDITS } from "../core/units.ts";
import type { TrafficPost } from "./background-traffic.ts";
import type { Clock } from "../core/clock.ts";
import type { NetworkReply } from "../local-network/server/exchange.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import type { Effect } from "../local-network/ground-truth.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";
import type { Disk } from "./disk.ts";
import { createBacklog, type Backlog, type Waiting } from "./backlog.ts";
import { createQuotaOracle } from "./oracle-quota.ts";
import { createFeedOracle } from "./oracle-feed.ts";
import { createWebhookOracle } from "./oracle-webhooks.ts";
import { installInvariants, moneyCounted, type Breach, type Promised } from "./invariants.ts";

/** A promise that did not hold. */
export interface Violation {
  readonly promise: Promised;
  /** Milliseconds since the epoch, by the network's clock. */
  readonly at: number;
  readonly what: string;
}

/** The database, and a check for which rows a power cut would spare. */
export type ExaminedDisk = Pick<Disk, "db" | "holds">;

export interface OracleOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  readonly disk: ExaminedDisk;
  readonly network: LocalNetwork;
  readonly specialists: readonly Specialist[];
  /** The header that names the intent a request is for. */
  readonly intentHeader: string;
}

export interface Oracle {
  /** Called after every committed step. */
  step(): void;
  /** Called before a request leaves: its row must allow it. */
  sends(request: WireRequest): void;
  /** Lets a request arrive and records its effects. `beyondBound`: it arrives later than the network states. */
  arrives(request: WireRequest, arrive: () => Promise<NetworkReply>, beyondBound: boolean): Promise<NetworkReply>;
  /** Called when the receiver answers a delivery with 2xx. */
  acknowledges(handle: string, delivery: RawDelivery): void;
  /** Called when due work is late although no fault prevents it. */
  isLate(what: string): void;
  /** Called when the store's memory differs from its rows. */
  hasDrifted(what: string): void;
  /** Called when the runtime reports a gap in a list: the items in it are known to be missing. */
  recordGap(gap: Announcements["gap"]): void;
  /** Called when the runtime has polled a list, with the number of items it skipped as too old. */
  recordPoll(poll: Announcements["poll"]): void;
  /** Returns work accepted before `since` that is neither done nor given to a person, once everything works again. */
  unfinished(since: number): readonly string[];
  /** Returns actions that wait behind a spending cap that is used up. */
  backlog(): readonly Waiting[];
  /** Runs the final checks, once all is quiet. `posts` are those of other accounts, oldest first. */
  close(since: number, posts: readonly TrafficPost[]): void;
  readonly violations: readonly Violation[];
  /** Number of effects that the specialists' writes had. */
  readonly effects: number;
}

/** Further violations of a broken run add nothing. */
const MAX_VIOLATIONS = 50;
/** Operations that may be repeated without harm. */
const REPEATABLE = new Set(["communities.join", "communities.leave", "agents.update"]);
/** Operations that change nothing if the state is reached already. */
const MAY_CHANGE_NOTHING = new Set([...REPEATABLE, "posts.vote"]);

export function createOracle(options: OracleOptions): Oracle {
  const { clock, disk, network, specialists, intentHeader } = options;
  const { db } = disk;
  const violations: Violation[] = [];
  const byIntent = new Map<string, Effect[]>();
  const handles = new Set<string>(specialists.map(({ handle }) => handle));
  const invariants = installInvariants(db, specialists);
  const gaps: Announcements["gap"][] = [];
  const checkRequest = createGate(disk, intentHeader);
  const quotaOracle = createQuotaOracle(network, clock, handles);
  const webhookOracle = createWebhookOracle(disk, network, specialists);
  const feedOracle = createFeedOracle(db, clock, specialists);
  const backlog = createBacklog(db, clock, specialists);
  let seenEffects = 0;
  let effects = 0;

  const violate = collector(violations, clock);
  const takeEffect = (intent: string | undefined, effect: Effect): void => {
    effects++;
    if (intent === undefined) return violate("P4", `${effect.operation} took effect for ${effect.agent} without an intent`);
    const known = byIntent.get(intent);
    if (known === undefined) return void byIntent.set(intent, [effect]);
    known.push(effect);
    if (!REPEATABLE.has(effect.operation))
      violate("P4", `intent ${intent}: ${effect.operation} on ${effect.target} took effect ${known.length} times`);
  };
  const readTruth = (intent: string | undefined): void => {
    for (const effect of network.truth.effects({ afterSeq: seenEffects })) {
      seenEffects = effect.seq;
      if (handles.has(effect.agent) && !effect.operation.startsWith("webhooks.")) takeEffect(intent, effect);
    }
    for (const what of quotaOracle.read()) violate("P1", what);
  };

  return {
    violations,
    acknowledges(handle, delivery) {
      if (!webhookOracle.isKept(handle, delivery)) violate("P3", `a delivery to ${handle} was answered for before it was on disk`);
    },
    isLate: (what) => violate("P3", what),
    recordGap: (gap) => void gaps.push(gap),
    recordPoll: (poll) => feedOracle.recordPoll(poll),
    hasDrifted: (what) => violate("P3", `memory and rows differ: ${what}`),
    get effects() {
      return effects;
    },
    step() {
      for (const { promise, what } of invariants.read()) violate(promise, what);
      feedOracle.note();
    },
    sends(request) {
      const broken = checkRequest(request);
      if (broken !== undefined) violate(broken.promise, broken.what);
    },
    async arrives(request, arrive, beyondBound) {
      const reply = arrive(); // the effect is complete before anything else can happen
      if (beyondBound) quotaOracle.strays();
      readTruth(request.headers[intentHeader]);
      return reply;
    },
    unfinished: (since) => unfinished(db, since, backlog),
    backlog: () => backlog.read(Number.MAX_SAFE_INTEGER),
    close(since, posts) {
      for (const what of [...unfinished(db, since, backlog), ...webhookOracle.unhandled(clock.now())]) violate("P3", what);
      for (const what of duplicateEvents(db)) violate("P4", what);
      for (const { handle, post } of feedOracle.missed(posts, gaps)) violate("P3", `${handle} never saw post ${post}`);
      for (const what of wronglyResolved(db, byIntent)) violate("P4", what);
      for (const what of overspent(db, network, specialists)) violate("P2", what);
    },
  };
}

function collector(violations: Violation[], clock: Clock): (promise: Promised, what: string) => void {
  return (promise, what) => {
    if (violations.length < MAX_VIOLATIONS) violations.push({ promise, at: clock.now(), what });
  };
}

/** Checks a request that leaves now: its row must be on disk and must allow it. */
function createGate({ db, holds }: ExaminedDisk, intentHeader: string): (request: WireRequest) => Breach | undefined {
  const intentOf = db.prepare("SELECT seq, state FROM intent WHERE id = ?");
  const openAttempt = db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM attempt WHERE intent_seq = ? AND ended_at IS NULL");
  const openRead = db.prepare("SELECT min(seq) AS seq FROM attempt WHERE intent_seq IS NULL AND ended_at IS NULL");
  return ({ method, path, headers }) => {
    const intent = headers[intentHeader];
    if (intent !== undefined) {
      const row = intentOf.get(intent);
      const state = String(row?.["state"]);
      if (state !== "sending") return { promise: "P4", what: `intent ${intent} left while its row said ${state}` };
      const attempt = Number(openAttempt.get(Number(row?.["seq"]))?.["seq"]);
      return holds("attempt", attempt)
        ? undefined
        : { promise: "P4", what: `intent ${intent} left before the row of its attempt was on disk` };
    }
    if (method !== "GET" && !/^\/v1\/(?:search|webhooks)(?:\/|$)/.test(path))
      return { promise: "P5", what: `${method} ${path} left without an intent` };
    const read = openRead.get()?.["seq"];
    return typeof read === "number" && holds("attempt", read)
      ? undefined
      : { promise: "P1", what: `${method} ${path} left without an open attempt on disk` };
  };
}

function unfinished(db: OpenDatabase["db"], since: number, backlog: Backlog): readonly string[] {
  const waiting = new Set(backlog.read(since).map(({ id }) => id));
  // An intent that depends on one that only a person can resolve waits with it.
  const intents = db
    .prepare(
      `WITH RECURSIVE waiting (id) AS (
         SELECT id FROM intent WHERE state = 'parked'
         UNION SELECT intent.id FROM intent JOIN waiting ON intent.target_intent = waiting.id WHERE intent.target IS NULL)
       SELECT id, operation, state, code FROM intent WHERE created_at < ? AND state IN ('proposed', 'ready', 'sending', 'in_doubt', 'pending')
         AND id NOT IN waiting`,
    )
    .all(since)
    .filter((row) => !waiting.has(String(row["id"])))
    .map((row) => `intent ${String(row["id"])} (${String(row["operation"])}) is still ${String(row["state"])}: ${String(row["code"])}`);
  const events = db
    .prepare("SELECT id, state, note FROM event WHERE created_at < ? AND state IN ('ready', 'running')")
    .all(since)
    .map((row) => `event ${String(row["id"])} is still ${String(row["state"])}: ${String(row["note"])}`);
  const deliveries = db
    .prepare("SELECT specialist, id, note FROM delivery WHERE received_at < ? AND state = 'ready'")
    .all(since)
    .map((row) => `delivery ${String(row["id"])} to ${String(row["specialist"])} still waits: ${String(row["note"])}`);
  return [...intents, ...events, ...deliveries];
}

/** Finds one happening stored as two events: a post, a job or a follower is one event for a specialist, whatever the source. */
function duplicateEvents(db: OpenDatabase["db"]): readonly string[] {
  return db
    .prepare(
      `SELECT specialist, min(id) AS id, count(*) AS n FROM event
       WHERE kind IN ('post.created', 'reply.created', 'mention.created', 'job.listed', 'follower.new')
       GROUP BY specialist, iif(kind IN ('job.listed', 'follower.new'), kind, 'post'), payload ->> '$.id' HAVING n > 1 LIMIT 20`,
    )
    .all()
    .map((row) => `event ${String(row["id"])} of ${String(row["specialist"])} is there ${String(row["n"])} times`);
}

/** Finds specialists who spent more on the network than their ledgers count. */
function overspent(db: OpenDatabase["db"], network: LocalNetwork, specialists: readonly Specialist[]): readonly string[] {
  return specialists.flatMap(({ handle }) => {
    const account = network.find(handle);
    const offered = network.jobs().reduce((sum, job) => (job.posterId === account?.id ? sum + job.reward : sum), 0);
    const paid = Math.max(offered, account?.spent.credits ?? 0); // `spent.credits` covers the present month only
    const counted = moneyCounted(db, handle, CREDITS);
    return paid > counted ? [`${handle} spent ${paid} credits on the network, and the ledger counts ${counted}`] : [];
  });
}

/** Finds intents whose final state contradicts the network's record. */
function wronglyResolved(db: OpenDatabase["db"], byIntent: ReadonlyMap<string, readonly Effect[]>): readonly string[] {
  const wrong: string[] = [];
  for (const row of db.prepare("SELECT id, operation, state, code FROM intent WHERE attempt > 0").iterate()) {
    const [id, operation, state] = [String(row["id"]), String(row["operation"]), String(row["state"])];
    const happened = byIntent.has(id);
    if (state === "confirmed" && !happened && !MAY_CHANGE_NOTHING.has(operation))
      wrong.push(`intent ${id} (${operation}) is confirmed and never happened`);
    // A repeatable operation is resolved by its last answer; one that is never resent has only one answer.
    if (happened && (state === "cancelled" || (state === "refused" && !REPEATABLE.has(operation))))
      wrong.push(`intent ${id} (${operation}) is ${state} (${String(row["code"])}) and happened`);
  }
  return wrong;
}
