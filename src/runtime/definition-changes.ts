/** The difference between two versions of a definition, in the words of the definition. */
import { SECOND } from "../core/units.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** Parts that decide on what a specialist may do and cost, besides its events and its permissions. */
const PLANNED = [
  "id",
  "tier",
  "watch",
  "review",
  "spend",
  "brakes",
  "lanes",
  "secrets",
  "deadlineMs",
  "concurrency",
  "isolate",
  "initialState",
] as const;
const PROFILE = ["name", "bio", "skills", "instructions"] as const;

/** Stands for a change that shows in no data: of a handler, or of what it imports. */
export const CODE_ONLY = "code only";

/** For example `on: +job.listed; may: −posts.vote; changed: tier free → pro, spend`; `code only` if the data are the same. */
export function definitionChanges(before: Specialist, after: Specialist): string {
  const data = [...PLANNED, ...PROFILE].flatMap((part) => changeOf(part, before[part], after[part]));
  const parts = [
    ...difference("on", Object.keys(before.on), Object.keys(after.on)),
    ...difference("may", before.may, after.may),
    ...difference("schedules", before.schedules.map(times), after.schedules.map(times)),
    ...(data.length === 0 ? [] : [`changed: ${data.join(", ")}`]),
  ];
  return parts.length === 0 ? CODE_ONLY : parts.join("; ");
}

function difference(part: string, before: readonly string[], after: readonly string[]): string[] {
  const added = after.filter((one) => !before.includes(one)).map((one) => `+${one}`);
  const removed = before.filter((one) => !after.includes(one)).map((one) => `−${one}`);
  return added.length + removed.length === 0 ? [] : [`${part}: ${[...added, ...removed].join(" ")}`];
}

/** Values that a schedule has where it states none. */
const USUAL: readonly unknown[] = [undefined, 0, "skip", "keep"];

function times({ run: _run, name, cron, everyMs, ...rest }: Specialist["schedules"][number]): string {
  const more = Object.entries(rest).flatMap(([key, value]) =>
    USUAL.includes(value) ? [] : [`${key.replace(MS, "")} ${shown(key, value)}`],
  );
  return `${name} (${[cron ?? `every ${shown("everyMs", everyMs)}`, ...more].join(", ")})`;
}

/** A short value is shown; of a longer one, its name is enough. */
function changeOf(part: keyof Specialist, before: unknown, after: unknown): string[] {
  if (text(before) === text(after)) return [];
  const word = part.replace(MS, "");
  const isShort = [before, after].every((value) => (typeof value === "string" && value.length <= 20) || typeof value === "number");
  return [isShort ? `${word} ${shown(part, before)} → ${shown(part, after)}` : word];
}

const MS = /Ms$/;

function shown(part: string, value: unknown): string {
  return typeof value === "number" && MS.test(part) ? `${value / SECOND} s` : text(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "none");
}
