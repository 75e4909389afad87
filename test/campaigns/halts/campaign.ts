/** `npm run halts -- [halts] [seed]`: how long a halt takes with every socket full, what it lists, and what came after it. */
import { loadavg } from "node:os";
import { halts } from "./halts.ts";

const ACKNOWLEDGED_MS = 1_000;

const [count = "100", seed = "1"] = process.argv.slice(2);
const report = await halts({
  halts: Number(count),
  seed: Number(seed),
  onHalt: ({ kind, by, inFlight, tookMs, mistakes }) =>
    void process.stderr.write(
      `${kind}, by ${by}, ${inFlight} in flight: ${tookMs.toFixed(0)} ms${mistakes.map((one) => `\n  ${one}`).join("")}\n`,
    ),
});
const mistakes = [...report.mistakes, ...report.halts.flatMap((halt) => halt.mistakes)];
const p99 = quantile(
  report.halts.map(({ tookMs }) => tookMs),
  0.99,
);
for (const by of ["command", "socket"] as const) {
  const mine = report.halts.filter((halt) => halt.by === by);
  const took = mine.map(({ tookMs }) => tookMs);
  const flying = mine.map(({ inFlight }) => inFlight);
  process.stdout.write(
    `by ${by}: ${mine.length} halts, in flight ${Math.min(...flying)} to ${Math.max(...flying)}, acknowledged in` +
      ` ${quantile(took, 0.5).toFixed(0)} ms p50, ${quantile(took, 0.99).toFixed(0)} ms p99, ${Math.max(...took).toFixed(0)} ms at most\n`,
  );
}
process.stdout.write(
  `load ${loadavg()[0]?.toFixed(1)}; ${report.effects} writes took effect; ${mistakes.length} mistakes\n${mistakes.map((one) => `  ${one}\n`).join("")}`,
);
process.exitCode = mistakes.length === 0 && p99 <= ACKNOWLEDGED_MS ? 0 : 1;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
