/**
 * The long form of the quota tests: `node test/campaigns/limits/limits.ts [days]`. At least 100 simulated days of Free and
 * Starter and 3 of Growth and Pro, calm and with faults, judged by the strict server at 96 alignments. Exits 1 on any
 * request over a limit and on less than 98 % use of the day.
 */
import { TIER_LIMITS, type Tier } from "../../../src/contract/tiers.ts";
import { runWorld, type WorldOptions } from "../../harness/ledger-simulation.ts";

const LEAST_USE = 0.98;

const days = Number(process.argv[2] ?? 100);
const plans: readonly { readonly tier: Tier; readonly days: number }[] = [
  { tier: "free", days },
  { tier: "starter", days },
  { tier: "growth", days: 3 },
  { tier: "pro", days: 3 },
];
const faults: readonly { readonly name: string; readonly options: Partial<WorldOptions> }[] = [
  { name: "calm", options: {} },
  { name: "slow answers", options: { latencyMs: 29_000 } },
  { name: "lost answers", options: { lost: 0.03, neverLeft: 0.03 } },
  { name: "crashes and clock jumps", options: { lost: 0.02, neverLeft: 0.02, crashEveryDays: 0.5, jumpEveryDays: 0.5, latencyMs: 5_000 } },
];

let failed = false;
for (const { tier, days: long } of plans)
  for (const [seed, { name, options }] of faults.entries()) {
    const { perHour, perDay } = TIER_LIMITS[tier];
    const began = performance.now();
    const result = runWorld({ limits: { perHour, perDay }, days: long, seed: 100 + seed, alignments: 96, ...options });
    const { sliding, fixed, anchored } = result.verdicts;
    const over = sliding + fixed + anchored;
    failed ||= over > 0 || result.utilisation < LEAST_USE;
    process.stdout.write(
      `${tier.padEnd(8)} ${String(long).padStart(4)} days  ${name.padEnd(24)} requests ${String(result.requests).padStart(8)}  over ${over}` +
        `  used ${(result.utilisation * 100).toFixed(2)} %  crashes ${result.crashes}  jumps ${result.jumps}  ${((performance.now() - began) / 1_000).toFixed(1)} s\n`,
    );
  }
process.exitCode = failed ? 1 : 0;
