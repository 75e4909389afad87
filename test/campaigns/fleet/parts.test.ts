/** A campaign in parts: what a file of finished ones leaves to run, refuses and adds up to. */
import { expect, test } from "vitest";
import {
  isClean,
  leftOf,
  partsOf,
  readFinished,
  ROUNDS_A_PART,
  sumOf,
  wholeLines,
  type CampaignOptions,
  type PartReport,
} from "./parts.ts";

const OPTIONS: CampaignOptions = { processes: 4, specialists: 2_000, rounds: 2 * ROUNDS_A_PART + 3, seed: 7, major: 18 };
const REPORT: PartReport = {
  rounds: 20,
  faults: { kill: 7, cut: 1 },
  asked: 100,
  answered: 99,
  passedOver: 1,
  leftToPeople: 0,
  lost: [],
  explained: [],
  doubled: [],
  overQuota: 0,
  spent: 50,
  cap: 50,
  overCap: 0,
  overspent: [],
  unfinished: 0,
  opened: 60,
  seconds: 120,
  takeoversMs: { kill: [900, 1_100] },
};

const line = (part: number, options: CampaignOptions = OPTIONS): string =>
  `${JSON.stringify({ ...partsOf(options)[part - 1], options, report: REPORT })}\n`;

test("parts make up all rounds, with seeds of their own that no part of the next seed has", () => {
  const parts = partsOf(OPTIONS);
  expect(parts.map(({ part, rounds }) => [part, rounds])).toEqual([
    [1, ROUNDS_A_PART],
    [2, ROUNDS_A_PART],
    [3, 3],
  ]);
  const seeds = [...parts, ...partsOf({ ...OPTIONS, seed: 8 })].map(({ seed }) => seed);
  expect(new Set(seeds).size).toBe(6);
});

test("a part whose line is there is not run again, one whose line was torn is", () => {
  const text = line(2) + line(1).slice(0, 50);
  expect(leftOf(OPTIONS, readFinished(text, OPTIONS)).map(({ part }) => part)).toEqual([1, 3]);
  expect(leftOf(OPTIONS, readFinished(text, OPTIONS), 2).map(({ part }) => part)).toEqual([3]);
  expect(wholeLines(text)).toBe(line(2));
});

test("a file of other options, of other lines or with a part twice is refused", () => {
  expect(() => readFinished(line(1), { ...OPTIONS, processes: 3 })).toThrow(
    "line 1 belongs to a campaign of other options: processes 4 there, 3 here",
  );
  expect(() => readFinished(line(1), { ...OPTIONS, faults: "kill" })).toThrow('faults not given there, "kill" here');
  expect(() => readFinished(`${line(1)}{}\n`, OPTIONS)).toThrow("line 2 is no part of a campaign");
  expect(() => readFinished(line(1) + line(1), OPTIONS)).toThrow("part 1 is there twice");
});

test("the report of all parts adds counts, joins lists and takes percentiles over all single times", () => {
  const other: PartReport = {
    ...REPORT,
    faults: { kill: 3, stop: 2 },
    lost: ["s1 on p1"],
    doubled: ["posts.reply of s1 on p2: 2"],
    overCap: 1,
    opened: 20,
    seconds: 80,
    takeoversMs: { kill: [3_000], stop: [2_500] },
  };
  const sum = sumOf([REPORT, other]);
  expect(sum).toMatchObject({
    parts: 2,
    rounds: 40,
    secondsARound: 5,
    faults: { kill: 10, cut: 1, stop: 2 },
    asked: 200,
    answered: 198,
    lost: ["s1 on p1"],
    doubled: ["posts.reply of s1 on p2: 2"],
    overCap: 1,
    openedAFault: 2,
    takeoversMs: { kill: { count: 3, p50: 1_100, p99: 3_000, max: 3_000 }, stop: { count: 1, p50: 2_500 } },
  });
  expect(isClean(sumOf([REPORT, REPORT]))).toBe(true);
  for (const found of [{ lost: ["a"] }, { doubled: ["a"] }, { overQuota: 1 }, { overCap: 1 }, { unfinished: 1 }])
    expect(isClean(sumOf([REPORT, { ...REPORT, ...found }]))).toBe(false);
});
