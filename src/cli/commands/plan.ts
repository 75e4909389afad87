/** `retinue plan`: what the definitions will cost in requests, and how soon they see what happens, without a call. */
import { keyReference, keyVariable } from "../../config/key-sources.ts";
import type { Config } from "../../config/config.ts";
import { LANES } from "../../contract/operations.ts";
import type { Profile } from "../../contract/profile/profile.ts";
import { sha256 } from "../../core/json.ts";
import { DAY, showDuration } from "../../core/units.ts";
import { DEFAULT_FLOORS } from "../../limits/lanes.ts";
import { plan, type PlanInput, type PlanRow } from "../../limits/planner.ts";
import { planCast } from "../../runtime/launch.ts";
import { TRUST_CHECK_MS } from "../../gateway/trust.ts";
import { limitsOf, lacksOf } from "../../gateway/permissions.ts";
import { cronTimes } from "../../schedule/cron.ts";
import type { Specialist } from "../../specialist/specialist.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import type { Output } from "../output.ts";

/** A cron expression is counted over a day; one that fires more often than this is counted no further. */
const MAX_RUNS_COUNTED = 10_000;

export const command: Command = {
  name: "plan",
  describe:
    "What each specialist will ask of its quota by what it is for, how soon it sees news, and when a budget would run out. No call is made.",
  options: [OPTIONS.config, OPTIONS.agents, OPTIONS.set, OPTIONS.profile],
  examples: ["retinue plan", "retinue plan --set a --json"],
  async run(context) {
    const { out, clock, version } = context;
    const config = await context.loadConfig();
    const { profile, roster } = await planCast(config, clock);
    const specialists = roster.definitions.map(({ specialist }) => specialist);
    const planned = plan(specialists.map((specialist) => inputOf(specialist, config, profile, clock.now())));
    const lacks = new Map(specialists.map((specialist) => [String(specialist.handle), lacksOf(profile, specialist)]));
    const rows = planned.map((row) => ({ ...row, warnings: [...row.warnings, ...(lacks.get(row.handle) ?? [])] }));
    show(rows, out);
    out.result({ version, command: "plan", ok: true, specialists: rows });
    return EXIT.done;
  },
};

function inputOf(specialist: Specialist, config: Config, profile: Profile, now: number): PlanInput {
  const { handle, tier, watch, lanes } = specialist;
  return {
    handle,
    key: keyName(handle, config),
    limits: limitsOf(tier, profile),
    floors: { ...DEFAULT_FLOORS, ...lanes },
    sources: [
      ...(watch.feed === undefined && !watch.mentions ? [] : ["feed"]),
      ...watch.communities.map((community) => `feed:${community}`),
      ...(watch.jobs === undefined ? [] : ["jobs"]),
    ],
    // One call for each run: what a run really does is not known before it does it.
    wants: {
      watch: Object.keys(profile.trust).length === 0 ? 0 : DAY / TRUST_CHECK_MS,
      act: specialist.schedules.reduce(
        (sum, { cron, everyMs, zone }) => sum + runsADay(cron, everyMs, zone ?? config.guardian.zone, now),
        0,
      ),
    },
  };
}

/** Tells keys apart without showing one; a key that is not there is somebody's own. */
function keyName(handle: string, config: Config): string {
  const keyFile = config.specialists[handle]?.keyFile;
  const key = keyReference({ handle, ...(keyFile === undefined ? {} : { keyFile }) }, config.environment, config.cwd).read();
  return key === undefined ? keyVariable(handle) : sha256(key);
}

function runsADay(cron: string | undefined, everyMs: number | undefined, zone: string, now: number): number {
  if (everyMs !== undefined) return DAY / everyMs;
  if (cron === undefined) return 0;
  let runs = 0;
  for (const at of cronTimes(cron, zone, now)) {
    if (at >= now + DAY || runs >= MAX_RUNS_COUNTED) break;
    runs++;
  }
  return runs;
}

function show(rows: readonly PlanRow[], out: Output): void {
  out.table(
    rows.flatMap((row) => row.sources.map((source) => ({ row, source }))),
    [
      { title: "specialist", value: ({ row }) => row.handle },
      { title: "looks at", value: ({ source }) => source.name },
      { title: "every", value: ({ source }) => showDuration(source.everyMs), align: "right" },
      { title: "sees news after", value: ({ source }) => showDuration(source.discoveryMs.mean), align: "right" },
      { title: "at worst", value: ({ source }) => showDuration(source.discoveryMs.worst), align: "right" },
    ],
  );
  if (rows.some(({ sources }) => sources.some(({ watchers }) => watchers > 1)))
    out.line(out.paint.dim("Specialists with keys of their own look at public lists for each other."));
  out.line();
  calls(rows, "day", out);
  out.line();
  calls(rows, "hour", out);
  out.line(
    out.paint.dim(
      "In brackets what is guaranteed. What handlers will decide to do is not known beforehand: it comes on top, and polls give way to it.",
    ),
  );
  for (const { handle, warnings } of rows)
    for (const warning of warnings) {
      out.line();
      out.line(out.paint.yellow(`${handle} ${warning}`));
    }
}

/** Calls by what they are for, in one of the windows, and when it would be used up. */
function calls(rows: readonly PlanRow[], window: "hour" | "day", out: Output): void {
  const [perWindow, floor] = window === "day" ? (["perDay", "floorPerDay"] as const) : (["perHour", "floorPerHour"] as const);
  out.table(rows, [
    { title: `calls ${window === "day" ? "a day" : "an hour"}`, value: ({ handle }) => handle },
    ...LANES.map((name) => ({
      title: name,
      value: ({ lanes }: PlanRow) => {
        const found = lanes.find(({ lane }) => lane === name);
        return found === undefined ? "-" : `${figure(found[perWindow])} (${Math.floor(found[floor])})`;
      },
      align: "right" as const,
    })),
    {
      title: "in all",
      value: ({ lanes, limits }) => `${figure(lanes.reduce((sum, lane) => sum + lane[perWindow], 0))} of ${limits[perWindow]}`,
      align: "right",
    },
    {
      title: "used up after",
      value: ({ runsOutMs }) => (runsOutMs[window] === undefined ? "never" : showDuration(runsOutMs[window])),
      align: "right",
    },
    ...(window === "day"
      ? [{ title: "jobs at a time", value: ({ maxObligations }: PlanRow) => maxObligations, align: "right" as const }]
      : []),
  ]);
}

/** Whole calls where there are many, one decimal where there are few. */
function figure(calls: number): string {
  return String(calls >= 10 ? Math.round(calls) : Math.round(calls * 10) / 10);
}
