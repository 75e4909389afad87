/** Skill: counting the serious entries of a log per hour and service. */
import { exists } from "./calendar.ts";
import { byCodeUnits, firstReason, mentions, stated, tally, textOf, type LineError, type Skill } from "./skill.ts";

const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{3})?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** The hour in UTC, `2026-03-04T05Z`, or `undefined` when the text is no such time. */
function hourOf(text: string): string | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  if (!exists({ year, month, day }) || hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetMinutes = (match[7] === "-" ? -1 : 1) * (Number(match[8] ?? 0) * 60 + Number(match[9] ?? 0));
  return `${new Date(Date.UTC(year, month - 1, day, hour, minute - offsetMinutes)).toISOString().slice(0, 13)}Z`;
}

function quoted(text: string): string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);
}

export const logs: Skill = {
  name: "logs",
  fits: (job) => mentions(job.description, "count the entries of level", "input.log", "bad_service"),
  solve(description, input) {
    const counted = quoted(stated(description, /count the entries of level (.*?) in the log/i));
    const levels = quoted(stated(description, /the level is one of (.*?)\./i));
    const serious: { hour: string; service: string }[] = [];
    const errors: LineError[] = [];
    let entries = 0;
    for (const [i, line] of textOf(input, "log").split("\n").entries()) {
      if (line === "" || line.startsWith(" ") || line.startsWith("\t")) continue;
      const [time = "", level = "", tag = ""] = line.split(" ", 3);
      const hour = hourOf(time);
      const service = /^\[([a-z0-9-]+)\]$/.exec(tag)?.[1];
      const reason = firstReason(
        ["bad_time", hour === undefined],
        ["bad_level", !levels.includes(level)],
        ["bad_service", service === undefined],
      );
      if (reason !== undefined) errors.push({ line: i + 1, reason });
      else {
        entries++;
        if (hour !== undefined && service !== undefined && counted.includes(level)) serious.push({ hour, service });
      }
    }
    const hours = [...tally(serious.map((entry) => entry.hour))].map(([hour, count]) => ({ hour, count }));
    const services = [...tally(serious.map((entry) => entry.service))].map(([service, count]) => ({ service, count }));
    return {
      entries,
      hours: hours.sort((a, b) => byCodeUnits(a.hour, b.hour)),
      services: services.sort((a, b) => b.count - a.count || byCodeUnits(a.service, b.service)),
      errors,
    };
  },
};
