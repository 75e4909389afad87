/** Many real processes that all want the last credit of a cap, and the last requests of keys that go from process to process: exactly the limit. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

export interface LastUnits {
  readonly cap: number;
  /** Posts at a credit each, by the network's record: of processes that are left alone, and of some that are ended. */
  readonly spent: Ends<number>;
  /** Requests of a key in an hour: of them all, and without those that only reading back may take. */
  readonly perHour: number;
  readonly forPosts: number;
  /** Requests of each key, by the network's record. One that a killed process had admitted and not sent is missing. */
  readonly requests: Ends<readonly number[]>;
  /** Requests beyond a limit, and those that the network refused for it. */
  readonly overQuota: number;
  readonly doubled: number;
}

interface Ends<Value> {
  readonly alone: Value;
  readonly ended: Value;
}

/** True if each limit was used up to the last unit, and nothing exceeded one. */
export function isExact({ cap, spent, perHour, forPosts, requests, overQuota, doubled }: LastUnits): boolean {
  const areExact = [spent.alone, spent.ended].every((one) => one === cap) && requests.alone.every((one) => one === forPosts);
  return areExact && requests.ended.every((one) => one <= perHour) && overQuota + doubled === 0;
}

const KEYS = 4;
const SPECIALISTS = 32;
/** No further request for so long: everything waits for money or the next hour. */
const QUIET_MS = 15_000;
const LONGEST_MS = 300_000;

/** Where some are ended, as many as there are processes are while they work, every other one by `kill -9`. */
export async function lastUnits(options: { readonly processes: number; readonly seed: number }): Promise<LastUnits> {
  const cap = SPECIALISTS * 5 + 3;
  const money = {
    tier: "pro",
    keys: SPECIALISTS,
    profile: { operations: { "posts.create": { price: { currency: "credits", micros: 1_000_000 } } } },
    guardian: { spend: { total: cap } },
  } as const;
  const quota = { tier: "free", keys: KEYS, profile: {}, guardian: {} } as const;
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
  const { perHour } = TIER_LIMITS.free;
  const [spentAlone, spentEnded, requestsAlone, requestsEnded] = runs;
  return {
    cap,
    spent: { alone: spentAlone.seen, ended: spentEnded.seen },
    perHour,
    forPosts: perHour - READ_BACK_CALLS,
    requests: { alone: requestsAlone.seen, ended: requestsEnded.seen },
    overQuota: runs.reduce((sum, { overQuota }) => sum + overQuota, 0),
    doubled: runs.reduce((sum, { doubled }) => sum + doubled, 0),
  };
}

interface Setting {
  readonly tier: "pro" | "free";
  readonly keys: number;
  readonly profile: object;
  readonly guardian: object;
}

async function run<Seen>(
  { processes, ends, seed }: { readonly processes: number; readonly ends: number; readonly seed: number },
  { tier, keys, profile, guardian }: Setting,
  look: (network: LocalNetwork, agents: readonly string[]) => Seen,
) {
  const random = seededRandom(`last ${seed}`);
  const server = await startPostgres({ major: 18 });
  const folder = mkdtempSync(join(tmpdir(), "retinue-last-"));
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(seed), residents: false, keep: { effects: 100_000 } });
  const listening = await network.listen({ set: "b" });
  network.start();
  mkdirSync(join(folder, "agents"));
  writeFileSync(join(folder, "quick.json"), JSON.stringify({ extends: "set-b", timing: { quietMs: 200 }, ...profile }));
  writeFileSync(join(folder, "retinue.config.json"), JSON.stringify({ spacing: 0, guardian }));
  const agents = Array.from({ length: keys }, (_, i) => `a${i}`);
  const accounts = agents.map((handle) => network.provision({ handle, tier, set: "b" }));
  const env: Record<string, string> = {};
  for (let i = 0; i < SPECIALISTS; i++) {
    writeFileSync(join(folder, "agents", `s${i}.ts`), definition(i, tier));
    env[`RETINUE_KEY_S${i}`] = accounts[i % keys]?.key ?? "";
  }
  const store = `${await server.database()}?session_timeout=${SESSION_TIMEOUT_S}`;
  const fleet = new Fleet(processes, seed, { server, store, baseUrl: listening.baseUrls.b ?? "", env, folder });
  try {
    fleet.fill();
    const beganAt = performance.now();
    let [before, changedAt] = [0, beganAt];
    const goesOn = (now: number): boolean => now - changedAt < QUIET_MS && now - beganAt < LONGEST_MS;
    for (let left = ends; goesOn(performance.now()); await waited(250)) {
      const count = network.truth.requests().at(-1)?.seq ?? 0;
      if (count !== before) [before, changedAt] = [count, performance.now()];
      if (left > 0 && count > 0 && random.next() < 0.1) {
        await fleet.strike(left-- % 2 === 0 ? "kill" : "leave", random, () => Promise.resolve());
        fleet.fill();
      }
    }
    return {
      seen: look(network, agents),
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
  schedules: { more: { every: "1s", run: (act) => { act.post("s${i} " + act.random()); } } } };`;
