/**
 * `npm run halts -- [halts] [seed] [rounds]`: how long a halt takes with every socket full, what it lists, and what came after it; then as
 * many rounds on disks that are full or read-only when the halt is given (Linux, as root).
 * `npm run halts -- --fleet [halts] [seed] [processes]`: halts of several processes on one server, some of them stopped.
 */
import { loadavg } from "node:os";
import { canMake, type Breakdown } from "../../harness/small-disk.ts";
import { diskHalts } from "./disk-halts.ts";
import { fleetHalts, KINDS, type FleetHalt } from "./fleet-halts.ts";
import { halts } from "./halts.ts";

const ACKNOWLEDGED_MS = 1_000;

const DISKS: readonly Breakdown[] = ["full", "read-only"];

if (process.argv[2] === "--fleet") {
  const [, , , count = "40", seed = "1", processes = "8"] = process.argv;
  const told = (one: FleetHalt): string => `${one.kind}, ${one.inFlight} in flight: ${one.tookMs.toFixed(0)} ms`;
  const found = await fleetHalts({
    processes: Number(processes),
    halts: Number(count),
    seed: Number(seed),
    onHalt: (one) => void process.stderr.write(`${told(one)}${one.mistakes.map((mistake) => `\n  ${mistake}`).join("")}\n`),
  });
  const wrong = [...found.mistakes, ...found.halts.flatMap((one) => one.mistakes)];
  for (const kind of KINDS) {
    const took = found.halts.filter((one) => one.kind === kind).map(({ tookMs }) => tookMs);
    if (took.length > 0)
      process.stdout.write(
        `${kind}: ${took.length} halts, answered in ${quantile(took, 0.5).toFixed(0)} ms p50, ${Math.max(...took).toFixed(0)} ms at most\n`,
      );
  }
  process.stdout.write(`${found.effects} writes took effect; ${wrong.length} mistakes\n`);
  // A process that does not answer is waited for, and its sessions are ended.
  const isLate = found.halts.some(({ kind, tookMs }) => kind === "busy" && tookMs > ACKNOWLEDGED_MS);
  process.exit(wrong.length === 0 && !isLate ? 0 : 1);
}
const [count = "100", seed = "1", rounds = "24"] = process.argv.slice(2);
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
  if (mine.length === 0) continue;
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
const kinds = DISKS.filter(canMake);
const broken = await diskHalts({
  rounds: kinds.length === 0 ? 0 : Number(rounds),
  seed: Number(seed),
  kinds,
  onRound: ({ disk, when, freed, inFlight, tookMs, late, mistakes: wrong }) =>
    void process.stderr.write(
      `${disk} disk, ${when}${freed ? ", then freed" : ""}, ${inFlight} in flight: ${tookMs.toFixed(0)} ms, ${late} late${wrong.map((one) => `\n  ${one}`).join("")}\n`,
    ),
});
for (const kind of DISKS) {
  const mine = broken.filter(({ disk }) => disk === kind);
  const late = mine.reduce((sum, round) => sum + round.late, 0);
  const freed = mine.filter((round) => round.freed).length;
  const wrong = mine.reduce((sum, round) => sum + round.mistakes.length, 0);
  process.stdout.write(
    mine.length === 0
      ? `${kind} disk: not possible on this machine\n`
      : `${kind} disk: ${mine.length} halts, ${late} writes after their answer, ${freed} stored at the end and obeyed by the next start; ${wrong} mistakes\n`,
  );
}
process.exitCode = mistakes.length === 0 && broken.every((round) => round.mistakes.length === 0) && p99 <= ACKNOWLEDGED_MS ? 0 : 1;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
