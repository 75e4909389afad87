/** Reports simulated runs as they end, and all of them together: what broke, failed, waits, and was never tried. */
import { showDuration } from "../core/units.ts";
import type { Simulation } from "../simulation/simulate.ts";
import type { Violation } from "../simulation/oracle.ts";
import type { SimulationStats } from "../simulation/stats.ts";
import type { Output } from "./output.ts";
import { say } from "./text.ts";

export interface Runs {
  readonly seeds: number;
  readonly virtualMs: number;
  readonly tookMs: number;
}

export interface SimulationReport {
  /** Prints one run. */
  add(run: Simulation): void;
  /** Prints the summary, and returns it for machines. */
  close(runs: Runs): { readonly ok: boolean };
}

export function createSimulationReport(out: Output): SimulationReport {
  const sums = { requests: 0, effects: 0, crashes: 0, takeovers: 0, doubts: 0, parked: 0 };
  const violations: (Violation & { readonly seed: number })[] = [];
  const intents: Record<string, number> = {};
  const waiting: Record<string, number> = {};
  const failures: Record<string, number> = {};
  let undecided: SimulationStats["undecided"] | undefined;
  let broken = 0;
  return {
    add(run) {
      const { stats, seed, ok } = run;
      for (const what of Object.keys(sums) as (keyof typeof sums)[]) sums[what] += stats[what];
      addTo(intents, stats.intents);
      addTo(waiting, stats.waiting);
      addTo(failures, stats.failures);
      undecided = undecided === undefined ? stats.undecided : inBoth(undecided, stats.undecided);
      if (!ok) broken++;
      violations.push(...run.violations.map((violation) => ({ seed, ...violation })));
      printRun(run, out);
    },
    close({ seeds, virtualMs, tookMs }) {
      const speed = Math.round((seeds * virtualMs) / tookMs);
      out.paragraph(
        `${seeds} ${seeds === 1 ? "run" : "runs"} of ${showDuration(virtualMs)} in ${showDuration(tookMs)} (${speed} x): ` +
          `${sums.requests} requests, ${sums.effects} effects, ${sums.crashes} crashes, ${takenOver(sums)}${broken} broken`,
      );
      const ended = endsOf(intents);
      if (ended !== "") out.paragraph(`Actions: ${ended}.`);
      for (const [what, count] of Object.entries(failures)) out.paragraph(`Failed ${count} times: ${what}`, out.paint.yellow);
      for (const [what, count] of Object.entries(waiting)) out.paragraph(waitingText(what, count));
      for (const [handle, handled] of Object.entries(undecided ?? {})) out.paragraph(undecidedText(handle, handled), out.paint.yellow);
      return { ok: broken === 0, ...sums, intents, undecided: Object.keys(undecided ?? {}), waiting, failures, violations };
    },
  };
}

function addTo(sums: Record<string, number>, counts: { readonly [name: string]: number }): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
}

/** Sums of the names that are in both. */
function inBoth(a: SimulationStats["undecided"], b: SimulationStats["undecided"]): SimulationStats["undecided"] {
  return Object.fromEntries(Object.entries(a).flatMap(([name, count]) => (b[name] === undefined ? [] : [[name, count + b[name]]])));
}

function printRun({ seed, ok, violations, errors, trace, stats }: Simulation, out: Output): void {
  const { requests, effects, crashes, doubts, parked } = stats;
  out.line(
    say`seed ${seed}: ${ok ? "kept" : out.paint.red("broken")}, ${requests} requests, ${effects} effects, ${crashes} crashes, ${takenOver(stats)}${doubts} in doubt, ${parked} parked (${trace})`,
  );
  for (const { promise, what, at } of violations) out.line(`  ${promise} ${new Date(at).toISOString()} ${what}`);
  for (const error of errors) out.line(`  logged: ${error}`);
}

/** Of several processes; nothing of one alone. */
function takenOver({ takeovers }: Pick<SimulationStats, "takeovers">): string {
  return takeovers === 0 ? "" : `${takeovers} takeovers, `;
}

/** `posts.reply 7 confirmed, 2 refused; jobs.apply 3 confirmed`. */
function endsOf(intents: { readonly [what: string]: number }): string {
  const ends = Object.entries(intents).map(([what, count]) => {
    const [operation = "", state = ""] = what.split(" ");
    return { operation, end: `${count} ${state}` };
  });
  const byOperation = Map.groupBy(ends, ({ operation }) => operation);
  return [...byOperation].map(([operation, all]) => `${operation} ${all.map(({ end }) => end).join(", ")}`).join("; ");
}

function waitingText(operation: string, count: number): string {
  return `At the end ${count} ${operation} ${count === 1 ? "waits" : "wait"}: the cap on spending is reached.`;
}

function undecidedText(handle: string, handled: number): string {
  const why = handled === 0 ? "nothing came that it handles" : `its handlers took ${handled} events and chose no action`;
  return `${handle} never decided anything, so nothing of it was tried: ${why}. --crowd <file> gives it posts and jobs that it answers.`;
}
