/** `retinue plan`: estimates the requests that the definitions need, and how soon they see events, without a call. */
import { keyReference, keyVariable } from "../../config/key-sources.ts";
import type { Config } from "../../config/config.ts";
import { LANES } from "../../contract/operations.ts";
import type { Profile } from "../../contract/profile/profile.ts";
import type { Tier } from "../../contract/tiers.ts";
import { sha256 } from "../../core/json.ts";
import { dearestCall } from "../../config/model-settings.ts";
import { showDuration, showMoney, type Money } from "../../core/units.ts";
import { planInput } from "../../guardian/plan-input.ts";
import { plan, type PlanRow } from "../../limits/planner.ts";
import { planCast } from "../../runtime/launch.ts";
import { limitsOf, lacksOf } from "../../gateway/permissions.ts";
import type { Specialist } from "../../specialist/specialist.ts";
import { flagOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { thousands } from "../format-values.ts";
import type { Output } from "../output.ts";

/** Limits shown for each specialist; all of them with --lanes. */
const MAX_LIMITS = 6;

export const command: Command = {
  name: "plan",
  describe: "Estimates how soon each specialist sees news, how much of its quota that takes, and when it would run out. It makes no call.",
  options: [
    OPTIONS.config,
    OPTIONS.agents,
    OPTIONS.set,
    OPTIONS.profile,
    { flags: "--lanes", describe: "also the calls by purpose, with those that are guaranteed" },
  ],
  examples: ["retinue plan", "retinue plan --lanes", "retinue plan --set a --json"],
  async run(context) {
    const { out, clock, version, options } = context;
    const config = await context.loadConfig();
    const { profile, roster } = await planCast(config, clock);
    const specialists = roster.definitions.map(({ specialist }) => specialist);
    const planned = plan(
      specialists.map((specialist) =>
        planInput(specialist, { profile, zone: config.guardian.zone, key: keyName(specialist.handle, config), now: clock.now() }),
      ),
    );
    const lacks = new Map(specialists.map((specialist) => [String(specialist.handle), lacksOf(profile, specialist)]));
    const tiers = new Map(specialists.map(({ handle, tier }) => [String(handle), tier]));
    const limits = new Map(specialists.map((specialist) => [String(specialist.handle), limitsShown(specialist, profile)]));
    const rows = planned.map((row) => ({
      ...row,
      handles: handlesOf(specialists.find(({ handle }) => handle === row.handle)),
      networkLimits: limits.get(row.handle) ?? [],
      tier: tiers.get(row.handle) ?? "free",
      warnings: [...row.warnings, ...(lacks.get(row.handle) ?? [])],
    }));
    const models = modelsShown(specialists, config);
    show(rows, flagOption(options, "lanes"), out);
    for (const { says } of models) out.paragraph(says);
    out.result({ version, command: "plan", ok: true, specialists: rows, ...(models.length === 0 ? {} : { models }) });
    return EXIT.done;
  },
};

/** Distinguishes keys without showing one; a missing key counts as the specialist's own. */
function keyName(handle: string, config: Config): string {
  const keyFile = config.specialists[handle]?.keyFile;
  const key = keyReference({ handle, ...(keyFile === undefined ? {} : { keyFile }) }, config.environment, config.cwd).read();
  return key === undefined ? keyVariable(handle) : sha256(key);
}

interface Planned extends PlanRow {
  /** The order of its handlings. */
  readonly handles: string;
  readonly tier: Tier;
  readonly networkLimits: readonly LimitShown[];
}

/** A model in use, and the most that a call of it costs. */
interface ModelShown {
  readonly model: string;
  readonly specialists: readonly string[];
  readonly perCall: Money;
  readonly says: string;
}

function modelsShown(specialists: readonly Specialist[], { models }: Config): readonly ModelShown[] {
  return Object.values(models).flatMap((settings): ModelShown[] => {
    const asking = specialists.filter((one) => one.models.some(({ model }) => model === settings.name)).map(({ handle }) => String(handle));
    if (asking.length === 0) return [];
    const perCall = dearestCall(settings);
    const price = perCall.micros === 0 ? "which costs nothing" : `at most ${showMoney(perCall)} a call, held before it is made`;
    return [
      { model: settings.name, specialists: asking, perCall, says: `${asking.join(", ")} asks the model ${settings.name}, ${price}.` },
    ];
  });
}

/** A limit of the network that concerns a specialist. */
interface LimitShown {
  /** The source: the tier, the profile's `limits`, or headers of answers. */
  readonly from: "tier" | "profile" | "headers";
  readonly text: string;
}

/** The windows that the network counts for a specialist, as its profile has them. */
function limitsShown({ tier, may, watch }: Specialist, profile: Profile): readonly LimitShown[] {
  const { perHour, perDay } = limitsOf(tier, profile);
  const stated = profile.tiers[tier];
  const own = stated !== undefined && profile.settled.some((path) => path.startsWith(`tiers.${tier}.per`));
  const used = new Set<string>([...may, ...(watch.jobs === undefined ? [] : ["jobs.list"]), "posts.list", "posts.get", "jobs.get"]);
  const counted = profile.limits.filter(({ operations }) => operations.some((name) => used.has(name)));
  const { windowMs, remaining, remainingHour, remainingDay, structured } = profile.limitHeaders;
  const window = windowMs === undefined ? "its window learnt from its limit and reset" : `every ${showDuration(windowMs)}`;
  return [
    {
      from: "tier",
      text: `${thousands(perHour)} calls an hour and ${thousands(perDay)} a day, by the ${tier} tier ${own ? `of ${profile.name}` : "as published"}`,
    },
    ...counted.map(({ name, operations, max, per }): LimitShown => {
      const which = operations.filter((one) => used.has(one)).join(", ");
      return { from: "profile", text: `${name}: ${thousands(max)} every ${showDuration(per)}, of ${which}` };
    }),
    {
      from: "headers",
      text: `less if an answer says so: ${remainingHour[0] ?? "-"} (hour), ${remainingDay[0] ?? "-"} (day), ${remaining[0] ?? "-"} (${window}), ${structured[0] ?? "-"} (its own windows)`,
    },
  ];
}

function show(rows: readonly Planned[], showLanes: boolean, out: Output): void {
  for (const row of rows) {
    out.paragraph(sentenceOf(row));
    out.line(`  ${row.handles}`);
    for (const { text } of row.networkLimits.slice(0, showLanes ? undefined : MAX_LIMITS)) out.line(`  ${text}`);
    for (const warning of row.warnings) out.paragraph(`${row.handle} ${warning}`, out.paint.yellow);
    out.line();
  }
  if (showLanes)
    for (const window of ["day", "hour"] as const) {
      lanesTable(rows, window, out);
      out.line();
    }
  for (const note of notesOn(rows, showLanes)) out.paragraph(note, out.paint.dim);
}

function handlesOf(specialist: Specialist | undefined): string {
  const { usual, byKind } = specialist?.concurrency ?? { usual: 1, byKind: {} };
  const sideBySide = Object.entries(byKind).filter(([, most = 1]) => most > 1);
  const rest = usual > 1 ? `up to ${usual} of each kind at once` : "one after the other";
  if (sideBySide.length === 0) return `handles events ${rest}`;
  return `handles ${sideBySide.map(([kind, most]) => `up to ${most} ${kind} at once`).join(", ")}, other events ${rest}`;
}

/** The lists it polls, how soon it sees news, and its calls in all. */
function sentenceOf({ handle, tier, sources, perDay, limits, lanes, runsOutMs }: Planned): string {
  const looks = sources.map(
    ({ name, everyMs, discoveryMs: { mean, worst } }) =>
      `polls ${listName(name)} every ${showDuration(everyMs)} and sees news after ${showDuration(mean)}, at worst ${showDuration(worst)}`,
  );
  const [day, hour] = [runsOutMs.day, runsOutMs.hour].map((ms) => (ms === undefined ? "" : `, used up after ${showDuration(ms)}`));
  const perHour = lanes.reduce((sum, lane) => sum + lane.perHour, 0);
  const calls = `${figure(perDay)} of ${thousands(limits.perDay)} calls a day${day}${day === "" ? " and" : ", and"} ${figure(perHour)} of ${thousands(limits.perHour)} an hour${hour}`;
  return `${handle} (${tier}) ${looks.length === 0 ? "polls nothing" : looks.join(", ")}: its polls and schedules take ${calls}.`;
}

function listName(source: string): string {
  return source.startsWith("feed:") ? source.slice("feed:".length) : `the ${source}`;
}

function notesOn(rows: readonly PlanRow[], showLanes: boolean): readonly string[] {
  const isShared = rows.some(({ sources }) => sources.some(({ watchers }) => watchers > 1));
  return [
    "Decisions of handlers cannot be known beforehand: they come on top, and polls give way to them.",
    ...(isShared ? ["Specialists with separate keys poll public lists for each other."] : []),
    showLanes ? "Guaranteed calls are in brackets." : "The calls by purpose: --lanes.",
  ];
}

/** Calls by purpose in one of the windows. */
function lanesTable(rows: readonly PlanRow[], window: "hour" | "day", out: Output): void {
  const [perWindow, floor] = window === "day" ? (["perDay", "floorPerDay"] as const) : (["perHour", "floorPerHour"] as const);
  out.line(out.paint.bold(`Calls ${window === "day" ? "a day" : "an hour"}`));
  out.table(rows, [
    { title: "specialist", value: ({ handle }) => handle },
    ...LANES.map((name) => ({
      title: name,
      value: ({ lanes }: PlanRow) => {
        const found = lanes.find(({ lane }) => lane === name);
        return found === undefined ? "-" : `${figure(found[perWindow])} (${thousands(Math.floor(found[floor]))})`;
      },
      align: "right" as const,
    })),
  ]);
}

/** Whole calls for large numbers, one decimal for small ones. */
function figure(calls: number): string {
  return String(calls >= 10 ? Math.round(calls) : Math.round(calls * 10) / 10);
}
