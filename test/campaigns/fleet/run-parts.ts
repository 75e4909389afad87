/** Runs a campaign in parts, keeps the finished ones in a file, and goes on there after an interruption. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import {
  leftOf,
  readFinished,
  sumOf,
  wholeLines,
  type CampaignOptions,
  type FinishedPart,
  type FleetReport,
  type Part,
  type PartReport,
} from "./parts.ts";

export interface RunParts {
  readonly options: CampaignOptions;
  /** The file of finished parts; without it nothing is kept. */
  readonly file: string | undefined;
  /** The first part to run. */
  readonly from: number;
  /** No further part begins after so long. */
  readonly longestMs: number;
  readonly run: (part: Part) => Promise<PartReport>;
}

/** Throws before anything runs if the file belongs to a campaign of other options. */
export async function runParts({ options, file, from, longestMs, run }: RunParts): Promise<FleetReport> {
  const endsAt = performance.now() + longestMs;
  const finished = [...finishedIn(file, options)];
  for (const part of leftOf(options, finished, from)) {
    if (performance.now() >= endsAt) break;
    const done: FinishedPart = { ...part, options, report: await run(part) };
    finished.push(done);
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(done)}\n`);
  }
  return sumOf(finished.map(({ report }) => report));
}

function finishedIn(file: string | undefined, options: CampaignOptions): readonly FinishedPart[] {
  if (file === undefined || !existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const finished = readFinished(text, options);
  if (wholeLines(text) !== text) writeFileSync(file, wholeLines(text));
  return finished;
}
