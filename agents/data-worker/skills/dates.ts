/** Skill: writing dates of many forms as YYYY-MM-DD. */
import { dayOfWeek, dayOfYear, exists, written, type Day } from "./calendar.ts";
import { byCodeUnits, mentions, stated, textOf, trimSpaces, type LineError, type Skill } from "./skill.ts";

const MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
const YEAR = String.raw`(?<year>\d{4}|\d{2})`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?`;
const NAME = `(?<name>${MONTHS.map((month) => `${month}|${month.slice(0, 3)}`).join("|")})`;

type Parts = Readonly<Record<string, string | undefined>>;

/** Each form with how to read it. `first` and `second` are day and month in the order the job states. */
const FORMS: readonly (readonly [pattern: RegExp, read: (parts: Parts, dayFirst: boolean) => Day])[] = [
  [/^(?<year>\d{4})(?<separator>[-/]?)(?<month>\d{2})\k<separator>(?<day>\d{2})$/, (parts) => dayFrom(parts, parts["month"])],
  [
    new RegExp(String.raw`^(?<first>\d{1,2})(?<separator>[/.-])(?<second>\d{1,2})\k<separator>${YEAR}$`),
    (parts, dayFirst) => {
      const [day, month] = dayFirst ? [parts["first"], parts["second"]] : [parts["second"], parts["first"]];
      return dayFrom({ ...parts, day }, month);
    },
  ],
  [
    new RegExp(String.raw`^${DAY}(?<separator>[ -])${NAME}\k<separator>${YEAR}$`, "i"),
    (parts) => dayFrom(parts, monthNumber(parts["name"])),
  ],
  [new RegExp(`^${NAME} ${DAY},? ${YEAR}$`, "i"), (parts) => dayFrom(parts, monthNumber(parts["name"]))],
  [
    /^(?<year>\d{4})-W(?<week>\d{2})-(?<weekday>\d)$/,
    (parts) => dayOfWeek(Number(parts["year"]), Number(parts["week"]), Number(parts["weekday"])),
  ],
  [/^(?<year>\d{4})-(?<nth>\d{3})$/, (parts) => dayOfYear(Number(parts["year"]), Number(parts["nth"]))],
];

function dayFrom(parts: Parts, month: string | number | undefined): Day {
  return { year: fullYear(parts["year"] ?? ""), month: Number(month), day: Number(parts["day"]) };
}

function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 4) return year;
  return year <= 68 ? 2000 + year : 1900 + year;
}

function monthNumber(name = ""): number {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase())) + 1;
}

function read(text: string, dayFirst: boolean): Day | undefined {
  for (const [pattern, toDay] of FORMS) {
    const match = pattern.exec(text);
    if (match !== null) return toDay(match.groups ?? {}, dayFirst);
  }
  return undefined;
}

export const dates: Skill = {
  name: "dates",
  fits: (job) => mentions(job.description, "write the dates", "YYYY-MM-DD", "no_such_date", "unknown_format"),
  solve(description, input) {
    const dayFirst = stated(description, /in this list the (day|month) comes first/i) === "day";
    const found: { line: number; date: string }[] = [];
    const errors: LineError[] = [];
    for (const [i, raw] of textOf(input, "text").split("\n").entries()) {
      const text = trimSpaces(raw);
      const day = read(text, dayFirst);
      if (text === "") errors.push({ line: i + 1, reason: "empty" });
      else if (day === undefined) errors.push({ line: i + 1, reason: "unknown_format" });
      else if (!exists(day)) errors.push({ line: i + 1, reason: "no_such_date" });
      else found.push({ line: i + 1, date: written(day) });
    }
    const sorted = found.map(({ date }) => date).sort(byCodeUnits);
    return { dates: found, errors, earliest: sorted[0] ?? "", latest: sorted.at(-1) ?? "" };
  },
};
