/**
 * Several real processes on one real server, under kills, stops, cut connections, restarts and failovers of the server, and processes that
 * come and go; judged by the network's own record: every post is answered once by each specialist that it asks, every job is applied for
 * once, and the Guardian's cap is kept to the unit.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { startPostgres } from "../../harness/postgres.ts";
import { asking, textAt } from "../../harness/visitor.ts";
import type { PartReport } from "./parts.ts";
import { FAULTS, Fleet, SESSION_TIMEOUT_S, waited, type Fault, type Missing } from "./processes.ts";
import { writeProject } from "./write-project.ts";

export interface FleetCampaign {
  readonly processes: number;
  readonly specialists: number;
  readonly rounds: number;
  readonly seed: number;
  readonly major: 15 | 18;
  /** Shuffled and dealt, one a round, again and again. */
  readonly deck?: readonly Fault[];
  readonly onRound?: (round: number, fault: Fault) => void;
}

const CARDS: { readonly [fault in Fault]: number } = { kill: 7, stop: 2, freeze: 1, cut: 4, restart: 1, failover: 1, leave: 4, none: 0 };
const DECK: readonly Fault[] = FAULTS.flatMap((fault) => Array.from({ length: CARDS[fault] }, () => fault));

/** Specialists of one group answer the same posts; the first of them applies for jobs. */
const GROUP = 25;
const POSTS_A_ROUND = 2;
/** Votes of the cap beside those that are asked for: it is reached before half of the rounds, and so before any failover. */
const CAP_SHARE = 1 / 3;
const SPENT_MS = 60_000;
/** After so long without a further answer none will come. */
const PATIENCE_MS = 60_000;
/** Nor when all that is missing has a reason. */
const STILL_MS = 10_000;
/**
 * Faults begin once each specialist has acted, or after a while: as long as none of its actions was ever read back, whatever a failover puts in
 * doubt is left to a person.
 */
const GREETED_LOOKS = 480;
/** Between two of the posts for it: more at a time than a poll pages back through would be a gap. */
const GREETING_MS = 200;
const LOOK_MS = 250;
/** Between the network's time of a post and that by which a gap is dated. */
const CLOCKS_MS = 200;

const hand = (group: string): string => `watch: { feed: { from: "2026-01-01" }, jobs: { from: "2026-01-01" } },
  on: { ...answers, "job.listed": (job, act) => { if (job.title?.includes("${group}")) act.apply(job, { message: "for " + job.id }); },
    "job.assigned": (job, act) => { act.submit(job, { done: job.id }); } }`;

const definition = (i: number): string => {
  const group = `group ${Math.floor(i / GROUP)};`;
  return `const answers = { "post.created": (post, act) => {
    if (!(post.content ?? "").includes("${group}")) return;
    act.reply(post, "s${i} on " + post.id);
    if (!post.content.startsWith("hello")) act.vote(post, "up");
  } };
  export default { handle: "s${i}", tier: "pro", may: ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit"],
    brakes: { repliesPerAuthorPerHour: 1000, repliesPerHour: 10000 }, ${isHand(i) ? hand(group) : 'watch: { feed: { from: "2026-01-01" } }, on: answers'} };`;
};

const isHand = (i: number): boolean => i % GROUP === 0;

/** A post or job of a group. */
interface Asked {
  readonly operation: "posts.reply" | "jobs.apply";
  readonly group: number;
  /** By the network. */
  readonly at: number;
}

export async function fleetCampaign(options: FleetCampaign): Promise<PartReport> {
  const beganAt = performance.now();
  const { processes, specialists, rounds, seed, deck = DECK, onRound } = options;
  const random = seededRandom(`fleet ${seed}`);
  const server = await startPostgres({ major: options.major });
  const folder = mkdtempSync(join(tmpdir(), "retinue-fleet-"));
  const network = createLocalNetwork({
    clock: systemClock(),
    random: seededRandom(seed),
    residents: false,
    scale: 0.05,
    keep: { effects: 1_000_000 },
  });
  const listening = await network.listen({ set: "b" });
  network.start();
  const cap = Math.ceil(rounds * 2 * POSTS_A_ROUND * Math.min(GROUP, specialists) * CAP_SHARE);
  const env = writeProject(folder, {
    profile: { operations: { "posts.vote": { price: { currency: "credits", micros: 1_000_000 } } } },
    config: { guardian: { spend: { total: cap } } },
    specialists: Array.from({ length: specialists }, (_, i) => ({
      handle: `s${i}`,
      definition: definition(i),
      key: network.provision({ handle: `s${i}`, tier: "pro", set: "b" }).key,
    })),
  });
  const store = `${await server.database()}?session_timeout=${SESSION_TIMEOUT_S}`;
  const fleet = new Fleet(processes, seed, { server, store, baseUrl: listening.baseUrls.b ?? "", env, folder });
  const clear = (): void => {
    for (const { child } of fleet.running) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", clear);
  const asked = new Map<string, Asked>();
  const faults = new Map<Fault, number>();
  const groups = Math.ceil(specialists / GROUP);
  const { greet, ask } = asker(network, { asked, groups, random });
  const votes = () => network.truth.effects({ operation: "posts.vote" });
  const dealt = faultsOf(rounds, deck, random);
  try {
    fleet.fill();
    await greet();
    for (let looks = 0; looks < GREETED_LOOKS && doneOf(network).size < specialists; looks++) await waited(LOOK_MS);
    for (let round = 1; round <= rounds; round++) {
      await ask();
      await waited(500 + random.next() * 1_500);
      const fault = dealt[round - 1] ?? "none";
      for (let looks = 0; fault === "failover" && votes().length < cap && looks < SPENT_MS / LOOK_MS; looks++) await waited(LOOK_MS);
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      await fleet.strike(fault, random, ask);
      await ask();
      await waited(random.next() * 1_500);
      fleet.fill();
      await fleet.joined();
      onRound?.(round, fault);
    }
    fleet.thaw();
    const undone = await settled(network, asked, specialists, fleet);
    const missing = undone.filter(({ why }) => why === undefined);
    await fleet.settle();
    const overCap = Math.max(0, votes().length - cap);
    if (missing.length > 0) for (const { said } of fleet.running) process.stderr.write(`${said.slice(-3_000)}\n`);
    return {
      rounds,
      faults: Object.fromEntries(faults),
      asked: owedOf(asked, specialists).length,
      answered: doneOf(network).size,
      passedOver: undone.filter(({ why }) => why === "gap").length,
      leftToPeople: undone.filter(({ why }) => why === "parked").length,
      lost: missing.map(({ handle, item }) => `${handle} on ${item}`),
      explained: await Promise.all(missing.slice(0, 20).map((one) => fleet.explain(one))),
      doubled: network.truth
        .duplicates()
        .filter(([one]) => one?.agent !== POSTER)
        .map(([one, ...more]) => `${one?.operation} of ${one?.agent} on ${one?.target}: ${more.length + 1}`),
      overQuota: network.truth.overLimit().length,
      spent: votes().length,
      cap,
      overCap,
      overspent: overCap > 0 ? [await fleet.explainSpending(votes())] : [],
      unfinished: fleet.unfinished,
      opened: await fleet.opened(),
      seconds: (performance.now() - beganAt) / 1_000,
      takeoversMs: Object.fromEntries(fleet.takeovers),
    };
  } finally {
    await fleet.end();
    process.off("exit", clear);
    await listening.close();
    await network.stop();
    await server.stop();
    clear();
  }
}

/**
 * One fault for each round, by turns all of the deck. Failovers of the first half change places with others of the second: after one of them the
 * Guardian's account is frozen, and the cap is to be reached before.
 */
function faultsOf(rounds: number, deck: readonly Fault[], random: Random): readonly Fault[] {
  const dealt: Fault[] = [];
  while (dealt.length < rounds) dealt.push(...shuffled(deck, random));
  dealt.length = rounds;
  const half = Math.ceil(rounds / 2);
  for (let early = 0; early < half; early++) {
    if (dealt[early] !== "failover") continue;
    const late = dealt.findIndex((fault, place) => place >= half && fault !== "failover");
    const other = dealt[late];
    if (other !== undefined) [dealt[early], dealt[late]] = [other, "failover"];
  }
  return dealt;
}

function shuffled(deck: readonly Fault[], random: Random): Fault[] {
  const drawn = deck.map((card) => ({ card, place: random.next() }));
  return drawn.toSorted((a, b) => a.place - b.place).map(({ card }) => card);
}

const POSTER = "quill";

/** `greet` posts for every group: each specialist acts once. `ask` posts for some groups, and a job for one. */
function asker(
  network: LocalNetwork,
  { asked, groups, random }: { readonly asked: Map<string, Asked>; readonly groups: number; readonly random: Random },
): { readonly greet: () => Promise<void>; readonly ask: () => Promise<void> } {
  const post = asking(network, "b", network.provision({ handle: POSTER, tier: "pro", set: "b" }).key);
  const one = async (operation: Asked["operation"], group: number, path: string, body: JsonObject): Promise<void> => {
    const { json } = await post("POST", path, { body });
    asked.set(textAt(json, "id"), { operation, group, at: Date.parse(textAt(json, "created_at")) });
  };
  const anyGroup = (): number => Math.floor(random.next() * groups);
  return {
    async greet() {
      for (let group = 0; group < groups; group++) {
        await one("posts.reply", group, "/v1/posts", { content: `hello group ${group};` });
        await waited(GREETING_MS);
      }
    },
    async ask() {
      for (let i = 0; i < POSTS_A_ROUND; i++) {
        const group = anyGroup();
        await one("posts.reply", group, "/v1/posts", { content: `for group ${group}; no ${asked.size}` });
      }
      const group = anyGroup();
      const title = `for group ${group}; no ${asked.size}`;
      await one("jobs.apply", group, "/v1/jobs", { title, description: "do it", reward: 3, skills: [] });
    },
  };
}

type Owed = Missing & Pick<Asked, "operation">;

/** Everything that a specialist has to do. */
function owedOf(asked: ReadonlyMap<string, Asked>, specialists: number): readonly Owed[] {
  return [...asked].flatMap(([item, { operation, group, at }]) => {
    const most = operation === "jobs.apply" ? 1 : GROUP;
    const count = Math.min(most, specialists - group * GROUP);
    return Array.from({ length: count }, (_, i) => ({ operation, handle: `s${group * GROUP + i}`, item, at }));
  });
}

const keyOf = (operation: string, handle: string, item: string): string => `${operation} ${handle} ${item}`;

/** Everything that specialists did and that was asked for. */
function doneOf(network: LocalNetwork): ReadonlySet<string> {
  const effects = (["posts.reply", "jobs.apply"] as const).flatMap((operation) => network.truth.effects({ operation }));
  return new Set(effects.map(({ operation, agent, target }) => keyOf(operation, agent, target)));
}

type Undone = Owed & { readonly why: "gap" | "parked" | undefined };

/** Waits until everything is done or has a reason not to be, or nothing more is done. Returns what is not. */
async function settled(
  network: LocalNetwork,
  asked: ReadonlyMap<string, Asked>,
  specialists: number,
  fleet: Fleet,
): Promise<readonly Undone[]> {
  const owed = owedOf(asked, specialists);
  let [before, changedAt] = [0, performance.now()];
  for (;;) {
    const known = doneOf(network);
    const missing = owed.filter(({ operation, handle, item }) => !known.has(keyOf(operation, handle, item)));
    if (missing.length === 0) return [];
    if (known.size !== before) [before, changedAt] = [known.size, performance.now()];
    const stillMs = performance.now() - changedAt;
    if (stillMs > STILL_MS) {
      const undone = await explained(missing, fleet);
      if (stillMs > PATIENCE_MS || undone.every(({ why }) => why !== undefined)) return undone;
    }
    await waited(LOOK_MS);
  }
}

async function explained(missing: readonly Owed[], fleet: Fleet): Promise<readonly Undone[]> {
  const [gaps, parked] = [await fleet.gaps(), await fleet.parked()];
  return missing.map((one) => {
    const { operation, handle, item, at } = one;
    const isPassed = gaps.some((gap) => gap.handle === handle && at >= gap.since - CLOCKS_MS && at <= gap.until + CLOCKS_MS);
    const isParked = parked.has(keyOf(operation, handle, item));
    return { ...one, why: isPassed ? "gap" : isParked ? "parked" : undefined };
  });
}
