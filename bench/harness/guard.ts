/** The regression guard: ratios within one run, which are comparable between machines, against those kept in bench/baseline.json. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "../baseline.json");
/** A ratio may fall by this share of the baseline's. */
const SLACK = 0.15;

export type Ratios = Readonly<Record<string, number>>;

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
  /** Prints each ratio beside the kept one. False where one fell too far, or is gone. */
  holds(suite: string, ratios: Ratios): boolean {
    const compared = compareRatios(baseline()[suite] ?? {}, ratios);
    for (const { name, before, now, holds } of compared)
      console.log(`${holds ? "holds " : "FELL  "}  ${suite}, ${name}: ${before.toFixed(3)} before, ${now?.toFixed(3) ?? "none"} now`);
    return compared.every(({ holds }) => holds);
  },
};

/** Puts a run's ratios in the place of those kept of its suite. A suite without any has nothing to guard. */
export function keepBaseline(suite: string, ratios: Ratios): void {
  if (Object.keys(ratios).length === 0) return;
  writeFileSync(file, `${JSON.stringify({ ...baseline(), [suite]: ratios }, undefined, 2)}\n`);
}

function baseline(): Record<string, Ratios> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Ratios>) : {};
}
