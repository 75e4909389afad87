/** Many real processes that all want the last credit of a cap, and the last requests of keys that go from process to process: exactly the limit. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { READ_BACK_CALLS } from "../../../src/limits/lanes.ts";
import { TIER_LIMITS } from "../../../src/contract/tiers.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { startPostgres } from "../../harness/postgres.ts";
import { Fleet, SESSION_TIMEOUT_S, waited } from "./processes.ts";
import { writeProject } from "./write-project.ts";

export interface LastUnits {
  readonly cap: number;
  /** Posts at a credit each, by the network's record: of processes that are left alone, and of some that are ended. */
  readonly spent: Ends<number>;
  /** Requests of a key in an hour: of them all, and without those that only reading back may take. */
  readonly perHour: number;
  readonly forPosts: number;
  /** Requests of each key, by the network's record. One that a killed process had admitted and not sent is missing. */
  readonly requests: Ends<readonly number[]>;
  /** Processes that were ended before their run had used up what it could. */
  readonly endedMeanwhile: number;
  readonly ends: number;
  /** Requests beyond a limit, and those that the network refused for it. */
  readonly overQuota: number;
  readonly doubled: number;
}

interface Ends<Value> {
  readonly alone: Value;
  readonly ended: Value;
}

/** True if each limit was used up to the last unit, nothing exceeded one, and most processes were ended before that. */
export function isExact({ cap, spent, perHour, forPosts, requests, endedMeanwhile, ends, overQuota, doubled }: LastUnits): boolean {
  const areSpent = [spent.alone, spent.ended].every((one) => one === cap);
  const areUsed = requests.alone.every((one) => one === forPosts);
  const kills = Math.ceil(ends / 2);
  const arePermitted = requests.ended.every((one) => one >= forPosts - kills && one <= perHour);
  return areSpent && areUsed && arePermitted && endedMeanwhile >= ends / 2 && overQuota + doubled === 0;
}

const KEYS = 4;
const SPECIALISTS = 32;
/** No further request for so long: everything waits for money or the next hour. */
const QUIET_MS = 15_000;
const LOOK_MS = 100;
/** Slowly enough that processes end and begin meanwhile. */
const POST_EVERY_S = 4;
const LONGEST_MS = 300_000;

/** In two of the four runs as many processes are ended as there are, every other one by `kill -9`. */
export async function lastUnits(options: { readonly processes: number; readonly seed: number }): Promise<LastUnits> {
  const cap = SPECIALISTS * 5 + 3;
  const { perHour } = TIER_LIMITS.free;
  const forPosts = perHour - READ_BACK_CALLS;
  const money: Setting = {
    tier: "pro",
    keys: SPECIALISTS,
    profile: { operations: { "posts.create": { price: { currency: "credits", micros: 1_000_000 } } } },
    guardian: { spend: { total: cap } },
    most: cap,
  };
  const quota: Setting = { tier: "free", keys: KEYS, profile: {}, guardian: {}, most: KEYS * forPosts };
  const spent = ({ truth }: LocalNetwork): number => truth.effects({ operation: "posts.create" }).length;
  const requests = ({ truth }: LocalNetwork, agents: readonly string[]): readonly number[] =>
    agents.map((agent) => truth.requests({ agent }).filter(({ counted }) => counted).length);
  const [alone, ended] = [
    { ...options, ends: 0 },
    { ...options, ends: options.processes },
  ];
  const runs = [
    await run(alone, money, spent),
    await run(ended, money, spent),
    await run(alone, quota, requests),
    await run(ended, quota, requests),
  ] as const;
  const [spentAlone, spentEnded, requestsAlone, requestsEnded] = runs;
  const sum = (of: (one: (typeof runs)[number]) => number): number => runs.reduce((before, one) => before + of(one), 0);
  return {
    cap,
    spent: { alone: spentAlone.seen, ended: spentEnded.seen },
    perHour,
    forPosts,
    requests: { alone: requestsAlone.seen, ended: requestsEnded.seen },
    endedMeanwhile: sum(({ endedMeanwhile }) => endedMeanwhile),
    ends: 2 * options.processes,
    overQuota: sum(({ overQuota }) => overQuota),
    doubled: sum(({ doubled }) => doubled),
  };
}

interface Setting {
  readonly tier: "pro" | "free";
  readonly keys: number;
  readonly profile: object;
  readonly guardian: object;
  /** Posts that all of them together can make. */
  readonly most: number;
}

async function run<Seen>(
  { processes, ends, seed }: { readonly processes: number; readonly ends: number; readonly seed: number },
  { tier, keys, profile, guardian, most }: Setting,
  look: (network: LocalNetwork, agents: readonly string[]) => Seen,
) {
  const random = seededRandom(`last ${seed}`);
  const server = await startPostgres({ major: 18 });
  const folder = mkdtempSync(join(tmpdir(), "retinue-last-"));
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(seed), residents: false, keep: { effects: 100_000 } });
  const listening = await network.listen({ set: "b" });
  network.start();
  const agents = Array.from({ length: keys }, (_, i) => `a${i}`);
  const accounts = agents.map((handle) => network.provision({ handle, tier, set: "b" }));
  const env = writeProject(folder, {
    profile,
    config: { spacing: 0, guardian },
    specialists: Array.from({ length: SPECIALISTS }, (_, i) => ({
      handle: `s${i}`,
      definition: definition(i, tier),
      key: accounts[i % keys]?.key ?? "",
    })),
  });
  const store = `${await server.database()}?session_timeout=${SESSION_TIMEOUT_S}`;
  const fleet = new Fleet(processes, seed, { server, store, baseUrl: listening.baseUrls.b ?? "", env, folder });
  try {
    fleet.fill();
    const beganAt = performance.now();
    const posts = (): number => network.truth.effects({ operation: "posts.create" }).length;
    const goesOn = (now: number): boolean => (before === 0 || now - changedAt < QUIET_MS) && now - beganAt < LONGEST_MS;
    let [before, changedAt, done, endedMeanwhile] = [0, beganAt, 0, 0];
    const leaving: Promise<void>[] = [];
    for (; goesOn(performance.now()); await waited(LOOK_MS)) {
      fleet.fill();
      const count = posts();
      if (count !== before) [before, changedAt] = [count, performance.now()];
      if (done === ends || count < ((done + 1) * most) / (ends + 1)) continue;
      if (count < most) endedMeanwhile++;
      leaving.push(fleet.strike(done++ % 2 === 0 ? "kill" : "leave", random, () => Promise.resolve()));
    }
    await Promise.all(leaving);
    return {
      seen: look(network, agents),
      endedMeanwhile,
      overQuota: network.truth.overLimit().length + network.truth.requests().filter(({ status }) => status === 429).length,
      doubled: network.truth.duplicates().length,
    };
  } finally {
    await fleet.end();
    await listening.close();
    await network.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const definition = (
  i: number,
  tier: string,
): string => `export default { handle: "s${i}", tier: "${tier}", may: ["posts.create"], lanes: { act: 100 },
  schedules: { more: { every: "${POST_EVERY_S}s", run: (act) => { act.post("s${i} " + act.random()); } } } };`;
