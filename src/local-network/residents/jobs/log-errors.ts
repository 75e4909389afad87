/** Task: count the serious entries of a log per hour and service, across time zones. */
import { HOUR, MINUTE } from "../../../core/units.ts";
import type { Random } from "../../../core/random.ts";
import { between, bullets, byCodeUnits, chance, EXACTLY, type Kind, type LineError, pad, paragraphs, randomDay } from "./job-draft.ts";
import { COMPANIES, SERVICES, WORDS } from "./vocabulary.ts";

const LEVELS = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
type Level = (typeof LEVELS)[number];

function description(counted: readonly Level[]): string {
  const levels = counted.map((level) => `\`${level}\``).join(" and ");
  return paragraphs(
    `Count the entries of level ${levels} in the log \`input.log\`, for each hour and for each service. Lines end with LF.`,
    "An entry is a line `<time> <LEVEL> [<service>] <message>`, its parts separated by single spaces; the message may be anything, or missing together with the space before it. " +
      "The time is `YYYY-MM-DDThh:mm:ss`, perhaps a point and three digits, then `Z` or an offset from UTC `+hh:mm` or `-hh:mm`. " +
      `The level is one of ${LEVELS.map((level) => `\`${level}\``).join(", ")}. The service is lower-case letters, digits and hyphens.`,
    "Empty lines are skipped. A line that begins with a space or a tab continues the entry before it and is skipped too. Both count as lines.",
    bullets("Every other line that is not an entry is an error, with the first of these that applies:", [
      "`bad_time`: what stands before the first space (or the line's end) is not such a time, or no such day, hour (00 to 23), minute or second (00 to 59) exists.",
      "`bad_level`: what stands between the first space and the second (or the line's end) is not one of the levels.",
      "`bad_service`: what follows the second space does not begin with a service in brackets that ends the line or is followed by a space.",
    ]),
    'Deliver {"entries": 512, "hours": [{"hour": "2026-03-04T05Z", "count": 3}], "services": [{"service": "auth", "count": 9}], "errors": [{"line": 12, "reason": "bad_time"}]}. `entries` is the number of ' +
      `entries of any level. \`hours\` and \`services\` count only the entries of level ${levels}, and name only what has at least one; hours are those of UTC, earliest first; services with the highest count come ` +
      "first, equal ones by name, comparing UTF-16 code units. Errors by line, the first line being 1. " +
      EXACTLY,
  );
}

function writeTime(random: Random, atMs: number): string {
  const offsetMinutes = random.pick([0, 0, 0, 60, 120, 330, -300, -570]);
  const local = new Date(atMs + offsetMinutes * MINUTE).toISOString();
  const time = chance(random, 0.5) ? local.slice(0, 19) : local.slice(0, 23);
  if (offsetMinutes === 0) return time + random.pick(["Z", "Z", "+00:00"]);
  const size = Math.abs(offsetMinutes);
  return `${time}${offsetMinutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60), 2)}:${pad(size % 60, 2)}`;
}

function message(random: Random): string {
  const words = Array.from({ length: between(random, 2, 12) }, () => random.pick(WORDS)).join(" ");
  return chance(random, 0.1) ? `${words}: ERROR [auth] 2026-01-01T00:00:00Z "${random.word(8)}"` : words;
}

const BROKEN: Readonly<Record<string, (random: Random, time: string, rest: string) => string>> = {
  bad_time: (random, time, rest) =>
    random.pick([
      time.slice(0, 16),
      `${time.slice(0, 10)} ${rest}`,
      `2026-02-30T10:00:00Z ${rest}`,
      `2026-03-04T24:00:00Z ${rest}`,
      `2026-03-04T10:60:00Z ${rest}`,
      `2026-03-04T10:00:00 ${rest}`,
      `2026-03-04T10:00:00.5Z ${rest}`,
      `[${time}] ${rest}`,
      "Killed",
    ]),
  bad_level: (random, time, rest) =>
    random.pick([
      time,
      `${time} ERR ${rest.slice(rest.indexOf("["))}`,
      `${time} error ${rest.slice(rest.indexOf("["))}`,
      `${time}  ${rest}`,
    ]),
  bad_service: (random, time) =>
    random.pick([
      `${time} ERROR`,
      `${time} ERROR auth failed`,
      `${time} FATAL [Auth] failed`,
      `${time} ERROR [] failed`,
      `${time} ERROR [auth`,
      `${time} WARN [auth]failed`,
    ]),
};

export const logErrors: Kind = {
  name: "log-errors",
  draft(random) {
    const counted: readonly Level[] = random.pick([
      ["ERROR", "FATAL"],
      ["WARN", "ERROR"],
      ["FATAL", "WARN"],
    ] as const);
    const wanted = between(random, 200, 800);
    const lines: string[] = [];
    const errors: LineError[] = [];
    const hours = new Map<string, number>();
    const services = new Map<string, number>();
    const some = SERVICES.slice(0, between(random, 5, SERVICES.length));
    let atMs = randomDay(random).getTime() + random.int(24) * HOUR;
    let entries = 0;
    while (lines.length < wanted) {
      atMs += random.int(4 * MINUTE);
      const level = random.pick([...LEVELS, "INFO", "ERROR", "WARN"] as const);
      const service = random.pick(some);
      const time = writeTime(random, atMs);
      const rest = `${level} [${service}]${chance(random, 0.05) ? "" : ` ${message(random)}`}`;
      if (lines.length === 7 || chance(random, 0.04)) {
        const reason = random.pick(Object.keys(BROKEN));
        errors.push({ line: lines.length + 1, reason });
        lines.push(BROKEN[reason]?.(random, time, rest) ?? "");
        continue;
      }
      lines.push(`${time} ${rest}`);
      entries++;
      if (counted.includes(level)) {
        const hour = `${new Date(atMs).toISOString().slice(0, 13)}Z`;
        hours.set(hour, (hours.get(hour) ?? 0) + 1);
        services.set(service, (services.get(service) ?? 0) + 1);
      }
      if (chance(random, 0.08))
        lines.push(
          ...random.pick([[""], ["    at step (run.js:12:7)", "\tat main (run.js:40:1)"], ["  2026-03-04T10:00:00Z ERROR [auth] quoted"]]),
        );
    }
    return {
      title: `Count the errors in a log of ${lines.length} lines for ${random.pick(COMPANIES)}`,
      description: description(counted),
      skills: ["logs", "analysis"],
      input: { log: lines.join("\n") },
      answer: {
        entries,
        hours: [...hours].map(([hour, count]) => ({ hour, count })).sort((a, b) => byCodeUnits(a.hour, b.hour)),
        services: [...services]
          .map(([service, count]) => ({ service, count }))
          .sort((a, b) => b.count - a.count || byCodeUnits(a.service, b.service)),
        errors,
      },
      reward: 5 + Math.ceil(wanted / 80),
    };
  },
};
