/** Joins a network in an accent as a newcomer would, and lets the shipped cast work on it in virtual time. */
import { createClient, type Exchange } from "../../../src/client/client.ts";
import { createKeys } from "../../../src/client/auth.ts";
import { examine } from "../../../src/doctor/examine.ts";
import { applied } from "../../../src/doctor/draft-profile.ts";
import { examineDocument } from "../../../src/doctor/openapi/examine-document.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import type { Finding } from "../../../src/doctor/finding.ts";
import { pages } from "../../../src/client/paging.ts";
import type { Call } from "../../../src/contract/call.ts";
import type { EndpointSet } from "../../../src/contract/operations.ts";
import { resolveProfile, type Profile } from "../../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";
import { createAnnouncer, type Announcer } from "../../../src/core/events.ts";
import { createLogger } from "../../../src/core/log.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { Secret } from "../../../src/core/secret.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../../src/core/virtual-clock.ts";
import { virtualPacer } from "../../../src/limits/pacing.ts";
import { accent, type Accent } from "./wire/accent.ts";
import { documentIn } from "./wire/document.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { faultRates, type FaultChoice } from "../../../src/simulation/faults.ts";
import { createOracle } from "../../../src/simulation/oracle.ts";
import { createNetworkTransport } from "../../../src/simulation/network-transport.ts";
import { createSpecialist, type Specialist } from "../../../src/specialist/specialist.ts";
import type { SpecialistDefinition } from "../../../src/specialist/definition.ts";
import { createMirror } from "../../../src/simulation/mirror.ts";
import { MEMORY, openDatabase } from "../../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { ask, listIn } from "./speaker.ts";
import { countMarks, marksOf } from "./marks.ts";
import { plainLink } from "../../harness/plain-transport.ts";

export interface AccentRun {
  readonly seed: number;
  readonly set: EndpointSet;
  readonly marks: number;
  readonly doctorCalls: number;
  /** Posts read page by page right after joining, and how many there were. */
  readonly feed: { readonly read: number; readonly whole: number };
  readonly findings: readonly Finding[];
  /** What kept it from being a good run; empty for one. */
  readonly problems: readonly string[];
  readonly effects: Readonly<Record<string, number>>;
  /** Events handled, by kind. */
  readonly events: Readonly<Record<string, number>>;
  readonly jobs: ReturnType<LocalNetwork["summary"]>["jobs"];
}

export interface AccentRunOptions {
  readonly seed: number;
  readonly set: EndpointSet;
  readonly cast: readonly SpecialistDefinition[];
  /** How long the cast works, in virtual minutes. */
  readonly minutes: number;
  readonly faults?: FaultChoice;
  /** True if the network's OpenAPI document takes the place of a person's marks. */
  readonly documented?: boolean;
  /** What the network states of lateness; without, the profile's long default. */
  readonly timing?: ProfileSource["timing"];
}

/** Enough life that a doctor finds posts with answers, and jobs. */
const RESIDENTS = { perMinute: { post: 10, reply: 15, like: 6, offer: 8, work: 4 }, already: { post: 25, reply: 25, offer: 6 } };
const WARM_UP_MS = MINUTE;
/** What was decided has to be done by then. */
const SETTLING_MS = 3 * MINUTE;
const BASE = { a: "http://network.invalid", b: "http://network.invalid/v1" } as const;

export async function runAccent({
  seed,
  set,
  cast,
  minutes,
  faults = "none",
  timing,
  documented = false,
}: AccentRunOptions): Promise<AccentRun> {
  const clock = virtualClock();
  const random = seededRandom(`accent run ${seed}`);
  const spoken = accent(seed);
  const network = createLocalNetwork({ clock, random: random.fork("network"), ...spoken.network, residents: RESIDENTS });
  const specialists = cast.map((definition) => createSpecialist(definition));
  const keys = new Map(specialists.map(({ handle, tier }) => [handle as string, network.provision({ handle, tier, set }).key]));
  const guest = network.provision({ handle: "guest", tier: "pro", set });
  network.start();
  await clock.runUntil(() => false, WARM_UP_MS);

  const joined = await join({ clock, network, spoken, set, key: guest.key, documented });
  const feed = {
    read: await clock.run(readFeed(network, set, joined.profile, guest.key, clock)),
    whole: await clock.run(countFeed(network, spoken, set, guest.key)),
  };
  const profile =
    timing === undefined ? joined.profile : resolveProfile({ extends: set === "a" ? "set-a" : "set-b", timing }, joined.profile);
  const work = await letWork({ clock, network, set, specialists, keys, profile, minutes, faults, random });
  await clock.run(network.stop());
  return { seed, set, marks: joined.marks, doctorCalls: joined.calls, feed, findings: joined.findings, ...work };
}

async function readFeed(network: LocalNetwork, set: EndpointSet, profile: Profile, key: string, clock: VirtualClock): Promise<number> {
  const client = createClient({ profile, baseUrl: BASE[set], clock, transport: plainLink(network, set) });
  const seen = new Set<string>();
  const send = (call: Call): ReturnType<typeof client.send> => client.send(call, { key: new Secret(key) });
  for await (const { items } of pages(send, { operation: "posts.list", input: { limit: 10 } }))
    for (const item of items) if (item.kind === "post") seen.add(item.id);
  return seen.size;
}

/** By the network's own documentation, in one page. */
async function countFeed(network: LocalNetwork, { voice, documented }: Accent, set: EndpointSet, key: string): Promise<number> {
  const spoken = documented[set]["posts.list"];
  if (spoken === undefined) throw new TypeError("expected every set to list posts");
  const heard = await ask({ network, set, voice, key }, spoken, { query: { [voice.paging.limit]: "100" } });
  return listIn(heard.body).length;
}

export interface JoinOptions {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  readonly spoken: Accent;
  readonly set: EndpointSet;
  readonly key: string;
  readonly documented: boolean;
}

export interface Joined {
  readonly profile: Profile;
  readonly findings: readonly Finding[];
  readonly marks: number;
  readonly calls: number;
}

/** Marks (or the document) first, then the doctor's reads; what comes out is what `doctor --write` writes. */
export async function join({ clock, network, spoken, set, key, documented }: JoinOptions): Promise<Joined> {
  const source = documented ? ({ extends: set === "a" ? "set-a" : "set-b" } as const) : marksOf(spoken, set);
  const start = resolveProfile(source);
  let calls = 0;
  const transport = plainLink(network, set, () => calls++);
  const connect = (profile: Profile): ((call: Call) => Promise<Exchange>) => {
    const client = createClient({ profile, baseUrl: BASE[set], clock, transport });
    return (call) => client.exchange(call, { key: new Secret(key) });
  };
  const findings: Finding[] = [];
  const examined = (async () => {
    const text = JSON.stringify(documentIn(spoken.voice, set));
    if (documented)
      findings.push(...(await examineDocument({ document: openDocument(text, "accent"), profile: start, baseUrl: BASE[set], clock })));
    for await (const found of examine({ profile: start, connect, known: [...findings] })) findings.push(found);
  })();
  await clock.run(examined);
  return { profile: applied(start, findings).profile, findings, marks: countMarks(source), calls };
}

interface WorkOptions {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  readonly set: EndpointSet;
  readonly specialists: readonly Specialist[];
  readonly keys: ReadonlyMap<string, string>;
  readonly profile: Profile;
  readonly minutes: number;
  readonly faults: FaultChoice;
  readonly random: ReturnType<typeof seededRandom>;
}

async function letWork(options: WorkOptions): Promise<Pick<AccentRun, "problems" | "effects" | "events" | "jobs">> {
  const { clock, network, set, specialists, keys, profile, random } = options;
  const problems = new Set<string>();
  const disk = openDatabase(MEMORY);
  const observe = createMirror(disk.db);
  const judge = createOracle({
    clock,
    disk: { db: disk.db, holds: () => true },
    network,
    specialists,
    intentHeader: profile.idempotencyHeader ?? "idempotency-key",
  });
  let rates = faultRates(options.faults, random.fork("faults"));
  const store = openSqliteStore({
    path: "",
    database: disk,
    clock,
    random: random.fork("store"),
    lateLandingMs: profile.timing.lateLandingMs,
    observe,
  });
  const transport = createNetworkTransport({
    clock,
    random: random.fork("link"),
    network,
    set,
    rates: () => rates,
    down: () => false,
    lateLandingMs: profile.timing.lateLandingMs,
    onSend: (request) => judge.sends(request),
    aroundArrival: (request, arrive, { beyondBound }) => judge.arrives(request, arrive, beyondBound),
    onAnswer: () => judge.step(),
  });
  const runtime = createRuntime({
    specialists,
    profile,
    baseUrl: BASE[set],
    store,
    transport,
    keys: createKeys({ read: (handle) => keys.get(handle), salt: new Secret("accents") }),
    pacer: virtualPacer(clock),
    clock,
    random: random.fork("runtime"),
    log: createLogger({
      level: "error",
      now: () => clock.now(),
      sink: ({ message, fields }) => void problems.add(`logged: ${message}: ${String(fields["message"])}`),
    }),
    announcer: listening(problems, options.faults === "none"),
  });
  await clock.run(runtime.start());
  await clock.runUntil(() => false, options.minutes * MINUTE);
  rates = faultRates("none", random);
  const healedAt = clock.now();
  await clock.runUntil(() => judge.unfinished(healedAt).length === 0, SETTLING_MS);
  await clock.run(runtime.stop(), 5 * MINUTE);
  judge.step();
  judge.close(healedAt, []);
  const events = Object.fromEntries(
    disk.db
      .prepare("SELECT kind, count(*) AS n FROM event WHERE state = 'done' GROUP BY kind")
      .all()
      .map((row) => [String(row["kind"]), Number(row["n"])]),
  );
  await clock.run(store.close());
  disk.close();
  for (const { promise, what } of judge.violations) problems.add(`${promise}: ${what}`);
  const effects: Record<string, number> = {};
  const ours = new Set<string>(specialists.map(({ handle }) => handle));
  for (const { agent, operation } of network.truth.effects()) if (ours.has(agent)) effects[operation] = (effects[operation] ?? 0) + 1;
  return { problems: [...problems], effects, events, jobs: network.summary([...ours]).jobs };
}

/** Answers that were not understood, and drift that breaks reading, are problems even where every promise holds. */
function listening(problems: Set<string>, isCalm: boolean): Announcer {
  const announcer = createAnnouncer();
  const misspoken = [400, 404, 405, 415, 422];
  announcer.on("request", ({ operation, outcome, status }) => {
    if (outcome === "unknown" && isCalm) problems.add(`${operation}: the answer was not understood (${status})`);
    if (outcome === "unauthorized") problems.add(`${operation}: the key was refused`);
    if (outcome === "refused" && status !== undefined && misspoken.includes(status))
      problems.add(`${operation} was refused with ${status}`);
  });
  announcer.on("drift", ({ operation, path, kind }) => {
    if (kind !== "new-field") problems.add(`${operation}: ${kind} of ${path}`);
  });
  return announcer;
}

/** What a run must have shown beside holding every promise: that everything the cast does was done, and was read. */
export function shortcomings({ problems, effects, events, jobs, feed }: AccentRun): readonly string[] {
  const missing = MUST_HAPPEN.filter((operation) => (effects[operation] ?? 0) === 0).map((operation) => `${operation} never took effect`);
  const unseen = MUST_BE_SEEN.filter((kind) => (events[kind] ?? 0) === 0).map((kind) => `${kind} was never seen`);
  const unpaid = jobs.accepted === 0 || jobs.rejected > 0 ? [`${jobs.accepted} jobs accepted, ${jobs.rejected} rejected`] : [];
  const unread = feed.read === feed.whole ? [] : [`${feed.read} of ${feed.whole} posts were read page by page`];
  return [...problems, ...missing, ...unseen, ...unpaid, ...unread];
}

const MUST_HAPPEN = ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit", "communities.join", "jobs.create", "posts.create"];
const MUST_BE_SEEN = ["post.created", "reply.created", "job.listed", "job.assigned"];
