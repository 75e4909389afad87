/** The times of a cron expression in a time zone. Parsed for each question: a stored job holds 81 KB. */
import { Cron } from "croner";
import { messageOf, Misconfigured } from "../core/errors.ts";

/** The times after `after`, in order, lazily. Gaps and overlaps of the local clock give one run each. */
export function* cronTimes(expression: string, zone: string, after: number): Generator<number, void, void> {
  const name = `${zone} ${expression}`;
  let cron: Cron | undefined;
  for (let from = after; ;) {
    let next = recall(name, from);
    if (next === undefined) {
      cron ??= parse(expression, zone);
      next = cron.nextRun(new Date(from))?.getTime();
      if (next === undefined) return;
      remember(name, { after: from, next });
    }
    yield next;
    from = next;
  }
}

/** A cached answer: no time lies between the two, so `next` is valid for every question from `after` until `next`. */
interface Answer {
  readonly after: number;
  readonly next: number;
}

/**
 * The last two answers for each expression, the newer first: the slot due now, and the one after it. Thousands of specialists due at one
 * moment ask both questions, at 0.2 ms each and more.
 */
const KNOWN = new Map<string, readonly Answer[]>();
const MAX_KNOWN = 1_000;

function recall(name: string, after: number): number | undefined {
  return KNOWN.get(name)?.find((known) => after >= known.after && after < known.next)?.next;
}

function remember(name: string, answer: Answer): void {
  const [last] = KNOWN.get(name) ?? [];
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(name, last === undefined ? [answer] : [answer, last]);
}

/** The first time after `after`, or undefined if there is none. Throws `Misconfigured` (`cron_invalid`). */
export function nextCron(expression: string, zone: string, after: number): number | undefined {
  for (const time of cronTimes(expression, zone, after)) return time;
  return undefined;
}

/** Throws `Misconfigured` (`cron_invalid`, `cron_never`) on an unusable expression. */
export function checkCron(expression: string, zone: string, now: number): void {
  if (nextCron(expression, zone, now) === undefined)
    throw new Misconfigured("cron_never", `the cron expression "${expression}" never matches`, {
      expected: "a day that exists",
      hint: 'for example "0 9 * * 1-5": at nine on working days',
    });
}

function parse(expression: string, zone: string): Cron {
  const fields = expression.trim().split(/\s+/).length;
  const invalid = (why: string, cause?: unknown): Misconfigured =>
    new Misconfigured("cron_invalid", `the cron expression "${expression}" cannot be read: ${why}`, {
      expected: "five or six fields, such as 0 9 * * 1-5",
      ...(cause === undefined ? {} : { cause }),
    });
  if (!expression.trim().startsWith("@") && (fields < 5 || fields > 6)) throw invalid(`it has ${fields} fields`);
  try {
    return new Cron(expression, { timezone: zone, paused: true });
  } catch (error) {
    throw invalid(messageOf(error).replace(/^CronPattern: /, ""), error);
  }
}
