/** The Gregorian calendar by arithmetic: which days exist, and how they are counted. */

export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function monthLength(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);
}

export function exists({ year, month, day }: Day): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= monthLength(year, month);
}

/** `YYYY-MM-DD`. */
export function written({ year, month, day }: Day): string {
  return [String(year).padStart(4, "0"), String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");
}

/** The nth day of a year; one that the year lacks has month 0, so that it does not exist. */
export function dayOfYear(year: number, nth: number): Day {
  let left = nth;
  for (let month = 1; month <= 12; month++) {
    const length = monthLength(year, month);
    if (left <= length) return { year, month: left < 1 ? 0 : month, day: left };
    left -= length;
  }
  return { year, month: 0, day: left };
}

/** Monday is 1 (Sakamoto's method, shifted). */
function weekdayOfNewYear(year: number): number {
  const before = year - 1;
  return ((before + Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400)) % 7) + 1;
}

/** ISO 8601: a year has 53 weeks when it begins on a Thursday, or on a Wednesday in a leap year. */
function weeksOf(year: number): number {
  const first = weekdayOfNewYear(year);
  return first === 4 || (first === 3 && isLeap(year)) ? 53 : 52;
}

/** The day of an ISO week date; one that does not exist has month 0. */
export function dayOfWeek(year: number, week: number, weekday: number): Day {
  if (week < 1 || week > weeksOf(year) || weekday < 1 || weekday > 7) return { year, month: 0, day: 0 };
  const newYear = weekdayOfNewYear(year);
  // The first week is the one with the year's first Thursday in it.
  const nth = (week - 1) * 7 + weekday - newYear + 1 + (newYear > 4 ? 7 : 0);
  const length = isLeap(year) ? 366 : 365;
  if (nth < 1) return { year: year - 1, month: 12, day: 31 + nth };
  return nth > length ? { year: year + 1, month: 1, day: nth - length } : dayOfYear(year, nth);
}
