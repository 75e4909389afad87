/** Many real processes that all want the last credit of a cap, and the last requests of keys that go from process to process: exactly the limit. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { TIER_LIMITS } from "../../../src/contract/tiers.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { startPostgres } from "../../harness/postgres.ts";
import { Fleet, SESSION_TIMEOUT_S, waited } from "./processes.ts";

export interface LastUnits {
  /** Posts at a credit each, by the network's record. */
  readonly spent: number;
  readonly cap: number;
  /** Requests of each key in the hour, by the network's record. */
  readonly requests: readonly number[];
  readonly perHour: number;
  /** Requests beyond a limit, and those that the network refused for it. */
  readonly overQuota: number;
  readonly doubled: number;
}

const KEYS = 4;
const SPECIALISTS = 32;
/** No further request for so long: everything waits for money or the next hour. */
const QUIET_MS = 15_000;
const LONGEST_MS = 300_000;

/** `ends` processes are ended while they work, every other one by `kill -9`. */
export async function lastUnits({
  processes,
  ends,
  seed,
}: {
  readonly processes: number;
  readonly ends: number;
  readonly seed: number;
}): Promise<LastUnits> {
  const cap = SPECIALISTS * 5 + 3;
  const money = await run(
    { processes, ends: 0, seed },
    {
      tier: "pro",
      keys: SPECIALISTS,
      profile: { operations: { "posts.create": { price: { currency: "credits", micros: 1_000_000 } } } },
      guardian: { spend: { total: cap } },
    },
    ({ truth }) => truth.effects({ operation: "posts.create" }).length,
  );
  const quota = await run({ processes, ends, seed }, { tier: "free", keys: KEYS, profile: {}, guardian: {} }, ({ truth }, agents) =>
    agents.map((agent) => truth.requests({ agent }).filter(({ counted }) => counted).length),
  );
  return {
    spent: money.seen,
    cap,
    requests: quota.seen,
    perHour: TIER_LIMITS.free.perHour,
    overQuota: money.overQuota + quota.overQuota,
    doubled: money.doubled + quota.doubled,
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

const definition = (i: number, tier: string): string => `export default { handle: "s${i}", tier: "${tier}", may: ["posts.create"],
  schedules: { more: { every: "1s", run: (act) => { act.post("s${i} " + act.random()); } } } };`;
