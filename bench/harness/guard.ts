/** The regression guard: ratios within one run, which are comparable between machines, against those kept in bench/baseline.json. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "../baseline.json");
/** A ratio may fall by this share of the baseline's. */
const SLACK = 0.15;

export type Ratios = Readonly<Record<string, number>>;

/** What was seen of a suite when its baseline was taken: fewer runs have another median, so that only as many are compared. */
interface Baseline {
  readonly runs: number;
  readonly ratios: Ratios;
}

export interface Compared {
  readonly name: string;
  readonly before: number;
  /** Undefined where the run gave none: its contender did not run, so nothing is shown to hold. */
  readonly now: number | undefined;
  readonly holds: boolean;
}

/** Each kept ratio beside the one seen now. It holds while it has not fallen by more than 15 %; one that is gone does not. */
export function compareRatios(before: Ratios, now: Ratios): readonly Compared[] {
  return Object.entries(before).map(([name, kept]) => {
    const seen = now[name];
    return { name, before: kept, now: seen, holds: seen !== undefined && seen >= kept * (1 - SLACK) };
  });
}

export const guard = {
  /** The suites the baseline knows, or those of them that are named. Throws where one has no baseline. */
  suites(named: readonly string[]): readonly string[] {
    const known = Object.keys(baseline());
    const missing = named.find((name) => !known.includes(name));
    if (known.length === 0 || missing !== undefined)
      throw new Error(
        `bench/baseline.json has nothing${missing === undefined ? "" : ` of ${missing}`}: take it with npm run bench -- ${missing ?? ""} --baseline`,
      );
    return named.length > 0 ? named : known;
  },
  /** As many as the baseline was taken with. Throws where another count is asked for. */
  runs(suite: string, asked: number | undefined): number {
    return runsToCompare(suite, baseline()[suite]?.runs, asked);
  },
  /** Prints each ratio beside the kept one. False where one fell too far, or is gone. */
  holds(suite: string, ratios: Ratios): boolean {
    const compared = compareRatios(baseline()[suite]?.ratios ?? {}, ratios);
    for (const { name, before, now, holds } of compared)
      console.log(`${holds ? "holds " : "FELL  "}  ${suite}, ${name}: ${before.toFixed(3)} before, ${now?.toFixed(3) ?? "none"} now`);
    return compared.every(({ holds }) => holds);
  },
};

/** Of a suite with a baseline of `kept` runs, when `asked` are asked for or nothing is said. */
export function runsToCompare(suite: string, kept: number | undefined, asked: number | undefined): number {
  if (kept === undefined) throw new Error(`bench/baseline.json has nothing of ${suite}`);
  if (asked !== undefined && asked !== kept)
    throw new Error(`--runs: the baseline of ${suite} is of ${kept}, got ${asked}: leave it out, or take the baseline anew`);
  return kept;
}

/** Puts a run's ratios in the place of those kept of its suite. False where it has none: it is judged by its goals alone. */
export function keepBaseline(suite: string, taken: Baseline): boolean {
  if (Object.keys(taken.ratios).length === 0) return false;
  writeFileSync(file, `${JSON.stringify({ ...baseline(), [suite]: taken }, undefined, 2)}\n`);
  return true;
}

function baseline(): Record<string, Baseline> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Baseline>) : {};
}
