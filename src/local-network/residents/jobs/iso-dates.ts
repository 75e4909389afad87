/** Task: write dates of many forms as YYYY-MM-DD, and say which are no dates. */
import { DAY } from "../../../core/units.ts";
import type { Random } from "../../../core/random.ts";
import {
  between,
  bullets,
  byCodeUnits,
  chance,
  EXACTLY,
  isoDay,
  type Kind,
  type LineError,
  pad,
  paragraphs,
  randomDay,
} from "./job-draft.ts";
import { COMPANIES } from "./vocabulary.ts";

type Order = "day" | "month";

const MONTHS = "January February March April May June July August September October November December".split(" ");

function description(order: Order): string {
  return paragraphs(
    "Write the dates in `input.text`, one on each line (lines end with LF), as YYYY-MM-DD. Spaces at both ends of a line do not matter.",
    bullets("These forms occur:", [
      "`2026-03-04` or `2026/03/04`: year, month, day, with four, two and two digits.",
      `\`3/4/2026\`, \`03.04.2026\` or \`3-4-2026\`: one or two digits, one or two digits, year, with the same separator (slash, point or hyphen) twice. In this list the ${order} comes first, ` +
        `so this is ${order === "day" ? "3 April" : "4 March"} 2026.`,
      "`4 March 2026`, `4th March 2026` or `4-Mar-2026`: day, month name, year, separated by single spaces or by hyphens.",
      "`March 4, 2026` or `Mar 4 2026`: month name, day, year; the comma may be missing.",
      "`20260304`: eight digits.",
      "`2026-W10-3`: ISO 8601 year, week (two digits) and day of the week (1 is Monday).",
      "`2026-063`: year and day of the year, with four and three digits.",
    ]),
    "Month names are the English ones, whole or their first three letters, in any letter case. The day beside a month name has one or two digits, perhaps with `st`, `nd`, `rd` or `th` (any of them, in any case). " +
      "In the second, third and fourth form the year may have two digits: 00 to 68 are 2000 to 2068, 69 to 99 are 1969 to 1999.",
    bullets("A line that shows one of these is an error:", [
      "`empty`: nothing but spaces.",
      "`no_such_date`: it has one of the forms, but the calendar has no such month, day, week or day of the year.",
      "`unknown_format`: none of the forms.",
    ]),
    'Deliver {"dates": [{"line": 1, "date": "2026-03-04"}], "errors": [{"line": 2, "reason": "no_such_date"}], "earliest": "1990-01-01", "latest": "2035-12-31"}: both lists by line, the first ' +
      "line being 1; `earliest` and `latest` are the first and last of the dates found. " +
      EXACTLY,
  );
}

/** ISO 8601 week date of a day: the week's Thursday says which year it belongs to. */
function weekDate(day: Date): string {
  const weekday = day.getUTCDay() === 0 ? 7 : day.getUTCDay();
  const thursday = new Date(day.getTime() + (4 - weekday) * DAY);
  const yearStart = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return `${thursday.getUTCFullYear()}-W${pad(Math.floor((thursday.getTime() - yearStart) / (7 * DAY)) + 1, 2)}-${weekday}`;
}

function dayOfYear(day: Date): number {
  return Math.round((day.getTime() - Date.UTC(day.getUTCFullYear(), 0, 1)) / DAY) + 1;
}

function spell(random: Random, day: Date, order: Order): string {
  const year = day.getUTCFullYear();
  const month = day.getUTCMonth() + 1;
  const date = day.getUTCDate();
  const someYear = chance(random, 0.3) ? pad(year % 100, 2) : String(year);
  const width = between(random, 1, 2);
  const full = MONTHS[month - 1] ?? "";
  const plain = random.pick([full, full.slice(0, 3)]);
  const name = random.pick([plain, plain, plain.toUpperCase(), plain.toLowerCase()]);
  const separator = random.pick(["/", ".", "-"]);
  const parts = order === "day" ? [date, month] : [month, date];
  const ordinal = random.pick(["", "", "th", "ST", "nd", "rd"]);
  const forms: readonly (() => string)[] = [
    () => isoDay(day),
    () => isoDay(day).replaceAll("-", "/"),
    () => [...parts.map((part) => pad(part, width)), someYear].join(separator),
    () => [...parts.map((part) => pad(part, width)), someYear].join(separator),
    () => [`${pad(date, width)}${ordinal}`, name, someYear].join(random.pick([" ", "-"])),
    () => `${name} ${date}${ordinal}${random.pick([",", ""])} ${someYear}`,
    () => isoDay(day).replaceAll("-", ""),
    () => weekDate(day),
    () => `${year}-${pad(dayOfYear(day), 3)}`,
  ];
  return random.pick(forms)();
}

function impossible(random: Random, order: Order): string {
  const swapped = order === "day" ? [between(random, 1, 12), between(random, 13, 28)] : [between(random, 13, 28), between(random, 1, 12)];
  return random.pick([
    "2023-02-29",
    "2026-13-01",
    "2026/00/10",
    "31 April 2026",
    "February 30, 2024",
    "29-Feb-1900",
    "20261301",
    "2026-366",
    "2024-367",
    "2026-000",
    "2021-W53-1",
    "2026-W10-8",
    "2026-W00-1",
    "0 May 2020",
    order === "day" ? "31.6.1999" : "6.31.1999",
    [...swapped, "2026"].join(random.pick(["/", ".", "-"])),
  ]);
}

const UNKNOWN = [
  "tomorrow",
  "Q1 2026",
  "2026-3-4",
  "4 Marchember 2026",
  "Sept 4 2026",
  "04/03-2026",
  "2026-03",
  "4. March 2026",
  "12:30",
  "1/2/026",
  "202603041",
  "Wed, 4 March 2026",
  "4  March 2026",
  "2026-W1-3",
  "n/a",
] as const;

export const isoDates: Kind = {
  name: "iso-dates",
  draft(random) {
    const order: Order = random.pick(["day", "month"] as const);
    const wanted = between(random, 450, 2_000);
    const lines: string[] = [];
    const dates: { line: number; date: string }[] = [];
    const errors: LineError[] = [];
    while (lines.length < wanted) {
      const line = lines.length + 1;
      const dice = line === 3 ? 0.03 : random.next();
      let text: string;
      if (dice < 0.05) {
        // The last line is never empty: readers disagree on whether such a line exists.
        const reason = random.pick([line === wanted ? "no_such_date" : "empty", "no_such_date", "no_such_date", "unknown_format"] as const);
        text = reason === "empty" ? "" : reason === "no_such_date" ? impossible(random, order) : random.pick(UNKNOWN);
        errors.push({ line, reason });
      } else {
        const leap = Date.UTC(random.pick([1992, 2000, 2024]), 1, 29);
        const edge = Date.UTC(between(random, 1990, 2034), 11, 28) + random.int(8) * DAY;
        const day = new Date(dice < 0.08 ? leap : dice < 0.2 ? edge : randomDay(random).getTime());
        dates.push({ line, date: isoDay(day) });
        text = spell(random, day, order);
      }
      lines.push(chance(random, 0.1) ? ` ${text}  ` : text);
    }
    const sorted = dates.map(({ date }) => date).sort(byCodeUnits);
    return {
      title: `Normalise ${wanted} dates for ${random.pick(COMPANIES)}`,
      description: description(order),
      skills: ["dates", "cleaning"],
      input: { text: lines.join("\n") },
      answer: { dates, errors, earliest: sorted[0] ?? "", latest: sorted.at(-1) ?? "" },
      reward: 5 + Math.ceil(wanted / 200),
    };
  },
};
