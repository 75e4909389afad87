/** What a suite is, and what it hands back: a table of figures, what they were taken under, and the goals they meet or miss. */

export interface Goal {
  readonly name: string;
  /** As stated beforehand, such as `≥ 8,000/s`. */
  readonly stated: string;
  readonly seen: string;
  readonly met: boolean;
  /** Why it is missed, where it is: what is known of it beforehand, or what the run shows. */
  readonly why?: string;
}

/** A column of the table drawn as bars, one for each row that has a figure there. */
export interface Plot {
  readonly title: string;
  readonly better: "more" | "less";
  readonly column: string;
  /** Which of the figures of a cell such as `1 / 2 / 3`, from 0. Default 0. */
  readonly part?: number;
  /** How many leading columns name a row. Default 1. */
  readonly labels?: number;
  /** Only cells in this unit, where a column holds several. */
  readonly unit?: string;
}

export interface SuiteResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What was lifted, how peers were configured, what could not run and why. */
  readonly conditions: readonly string[];
  readonly goals: readonly Goal[];
  /** Figures of one run over figures of the same run: comparable between machines, so the guard watches them. Higher is better. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly plots: readonly Plot[];
}

export interface BenchContext {
  /** Small counts, to see that a suite works. Its figures are worth nothing. */
  readonly quick: boolean;
  /** Repetitions, as `Suite.repeats` says. */
  readonly runs: number;
  /** Only subjects whose name holds this. */
  readonly only: string | undefined;
  /** A folder for databases, removed afterwards. */
  readonly folder: string;
  /** Tells whoever waits. */
  progress(line: string): void;
}

export interface Suite {
  readonly name: string;
  readonly title: string;
  /** How often each figure is taken and what is shown of it, for the line above the table. `runs` is what `--runs` says. */
  repeats(runs: number): string;
  run(context: BenchContext): Promise<SuiteResult>;
}

/** Why a peer that keeps nothing is ahead. */
export const KEEPS_NOTHING = "it keeps nothing, so that it neither waits for a disk nor tells a repeated delivery from a new one";

/** Contenders by turns, as often as asked for. */
export function inTurns(runs: number): string {
  return runs === 1 ? "one run" : `median of ${runs} interleaved runs`;
}

/** A goal of the form "at least" or "at most", with what there is to say should it be missed. */
export function goal(
  name: string,
  stated: { readonly least: number } | { readonly most: number },
  seen: number,
  unit: string,
  why?: string,
): Goal {
  const met = "least" in stated ? seen >= stated.least : seen <= stated.most;
  const words = "least" in stated ? `≥ ${stated.least.toLocaleString("en")}` : `≤ ${stated.most.toLocaleString("en")}`;
  return { name, stated: `${words}${unit}`, seen: `${round(seen)}${unit}`, met, ...(why === undefined ? {} : { why }) };
}

function round(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 3 : Math.abs(value) < 100 ? 1 : 0 });
}
