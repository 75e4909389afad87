/** The arithmetic of a campaign in parts: which are left to run, what a file of finished ones may hold, and what all of them say together. */
import { isObject, parseJson } from "../../../src/core/json.ts";

export interface CampaignOptions {
  readonly processes: number;
  readonly specialists: number;
  readonly rounds: number;
  readonly seed: number;
  readonly major: 15 | 18;
  /** The faults to deal; all of them where none is named. */
  readonly faults?: string | undefined;
}

/** Rounds with a server and a network of their own. */
export interface Part {
  /** From 1. */
  readonly part: number;
  readonly seed: number;
  readonly rounds: number;
}

export interface PartReport {
  readonly rounds: number;
  readonly faults: { readonly [fault: string]: number };
  /** Replies and applications. */
  readonly asked: number;
  readonly answered: number;
  /** Posts and jobs of gaps that a specialist has reported: more came between two of its polls than it pages back through. */
  readonly passedOver: number;
  /** Actions that wait for a person: they may have been done in commits that a failover lost, and no reading has ever shown one of their kind. */
  readonly leftToPeople: number;
  readonly lost: readonly string[];
  /** The rows of the first of them. */
  readonly explained: readonly unknown[];
  readonly doubled: readonly string[];
  readonly overQuota: number;
  /** Votes, at a credit each. */
  readonly spent: number;
  /** The Guardian's, over all specialists: a third of those that want to vote can. */
  readonly cap: number;
  /** Votes beyond the cap. After a failover that lost commits nothing is spent, since nobody unfreezes the account here. */
  readonly overCap: number;
  /** Then the store's own account, and the votes that it does not know as confirmed. */
  readonly overspent: readonly unknown[];
  /** Takeovers that did not end. */
  readonly unfinished: number;
  /** Stores that were opened. */
  readonly opened: number;
  readonly seconds: number;
  /** From each fault until all shards of the process have another holder, in ms. */
  readonly takeoversMs: { readonly [fault: string]: readonly number[] };
}

/** A line of the file. */
export interface FinishedPart extends Part {
  readonly options: CampaignOptions;
  readonly report: PartReport;
}

export interface FleetReport extends Omit<PartReport, "takeoversMs" | "opened" | "seconds"> {
  readonly parts: number;
  readonly secondsARound: number;
  /** Stores that were opened for a fault: many if shards go back and forth. */
  readonly openedAFault: number;
  readonly takeoversMs: {
    readonly [fault: string]: { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };
  };
}

/** Two decks of faults, so that each part meets all of them; its server, its processes and their first posts cost as much as five rounds. */
export const ROUNDS_A_PART = 40;
/** Parts of one seed are apart from those of the next one. */
const SEEDS_A_CAMPAIGN = 1_000;

export function partsOf({ rounds, seed }: CampaignOptions): readonly Part[] {
  const count = Math.ceil(rounds / ROUNDS_A_PART);
  if (!(count >= 1 && count < SEEDS_A_CAMPAIGN))
    throw new RangeError(`expected 1 to ${(SEEDS_A_CAMPAIGN - 1) * ROUNDS_A_PART} rounds, got ${rounds}`);
  return Array.from({ length: count }, (_, i) => ({
    part: i + 1,
    seed: seed * SEEDS_A_CAMPAIGN + i,
    rounds: Math.min(ROUNDS_A_PART, rounds - i * ROUNDS_A_PART),
  }));
}

/** Parts of which the file has no line. Those before `from` run elsewhere. */
export function leftOf(options: CampaignOptions, finished: readonly FinishedPart[], from = 1): readonly Part[] {
  const known = new Set(finished.map(({ part }) => part));
  return partsOf(options).filter(({ part }) => part >= from && !known.has(part));
}

/** The text up to its last whole line: an append that was interrupted leaves a torn one. */
export function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** The parts of a file's whole lines. Throws for a line of another campaign, and for one that is no part. */
export function readFinished(text: string, options: CampaignOptions): readonly FinishedPart[] {
  const lines = wholeLines(text).split("\n").slice(0, -1);
  const finished = lines.map((line, i) => {
    const value: unknown = parseJson(line);
    if (!isFinished(value)) throw new Error(`line ${i + 1} is no part of a campaign`);
    const differences = differencesOf({ ...value.options }, { ...options });
    if (differences.length > 0)
      throw new Error(`line ${i + 1} belongs to a campaign of other options: ${differences.join(", ")}; give those, or name another file`);
    return value;
  });
  const twice = finished.find(({ part }, i) => finished.findIndex((one) => one.part === part) !== i);
  if (twice !== undefined) throw new Error(`part ${twice.part} is there twice`);
  return finished;
}

/** By its members alone: the campaign has written it. */
function isFinished(value: unknown): value is FinishedPart {
  return isObject(value) && typeof value["part"] === "number" && isObject(value["options"]) && isObject(value["report"]);
}

type Named = { readonly [name: string]: unknown };

function differencesOf(there: Named, here: Named): readonly string[] {
  const names = [...new Set([...Object.keys(there), ...Object.keys(here)])];
  return names.filter((name) => there[name] !== here[name]).map((name) => `${name} ${said(there[name])} there, ${said(here[name])} here`);
}

const said = (value: unknown): string => (value === undefined ? "not given" : JSON.stringify(value));

export function sumOf(parts: readonly PartReport[]): FleetReport {
  const sum = (of: (part: PartReport) => number): number => parts.reduce((before, part) => before + of(part), 0);
  const list = <Item>(of: (part: PartReport) => readonly Item[]): readonly Item[] => parts.flatMap(of);
  const names = (of: (part: PartReport) => object): readonly string[] => [...new Set(parts.flatMap((part) => Object.keys(of(part))))];
  const rounds = sum((part) => part.rounds);
  return {
    parts: parts.length,
    rounds,
    secondsARound: tenths(sum(({ seconds }) => seconds) / rounds),
    faults: Object.fromEntries(names(({ faults }) => faults).map((name) => [name, sum(({ faults }) => faults[name] ?? 0)])),
    asked: sum(({ asked }) => asked),
    answered: sum(({ answered }) => answered),
    passedOver: sum(({ passedOver }) => passedOver),
    leftToPeople: sum(({ leftToPeople }) => leftToPeople),
    lost: list(({ lost }) => lost),
    explained: list(({ explained }) => explained),
    doubled: list(({ doubled }) => doubled),
    overQuota: sum(({ overQuota }) => overQuota),
    spent: sum(({ spent }) => spent),
    cap: sum(({ cap }) => cap),
    overCap: sum(({ overCap }) => overCap),
    overspent: list(({ overspent }) => overspent),
    unfinished: sum(({ unfinished }) => unfinished),
    openedAFault: tenths(sum(({ opened }) => opened) / rounds),
    takeoversMs: Object.fromEntries(
      names(({ takeoversMs }) => takeoversMs).map((name) => [name, summed(list(({ takeoversMs }) => takeoversMs[name] ?? []))]),
    ),
  };
}

/** True if nothing was lost, doubled or exceeded, and every takeover ended. */
export function isClean({ lost, doubled, overQuota, overCap, unfinished }: FleetReport): boolean {
  return lost.length + doubled.length + overQuota + overCap + unfinished === 0;
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

function summed(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
