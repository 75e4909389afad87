/** The regression guard: ratios of one run, beside those of the run that was kept. Ratios, since absolute figures are the machine's. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "../baseline.json");
/** A ratio may fall by this share of the baseline's. */
const SLACK = 0.15;

type Ratios = Readonly<Record<string, number>>;

export const guard = {
  /** The suites the baseline knows. Throws where there is none. */
  suites(): readonly string[] {
    const names = Object.keys(baseline());
    if (names.length === 0) throw new Error("there is no bench/baseline.json yet: take one with --baseline");
    return names;
  },
  /** Prints each ratio beside the kept one. False where one fell too far, or is gone. */
  holds(suite: string, ratios: Ratios): boolean {
    let holds = true;
    for (const [name, before] of Object.entries(baseline()[suite] ?? {})) {
      const now = ratios[name];
      const fine = now !== undefined && now >= before * (1 - SLACK);
      holds &&= fine;
      console.log(`${fine ? "holds " : "FELL  "}  ${suite}, ${name}: ${before.toFixed(3)} before, ${now?.toFixed(3) ?? "none"} now`);
    }
    return holds;
  },
};

export function keepBaseline(suite: string, ratios: Ratios): void {
  writeFileSync(file, `${JSON.stringify({ ...baseline(), [suite]: ratios }, undefined, 2)}\n`);
}

function baseline(): Record<string, Ratios> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Ratios>) : {};
}
