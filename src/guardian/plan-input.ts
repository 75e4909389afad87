/** The expected work of a specialist, from its definition and the profile: the same for `retinue plan` and for one that runs. */
import type { Profile } from "../contract/profile/profile.ts";
import { DAY } from "../core/units.ts";
import { limitsOf } from "../gateway/permissions.ts";
import { TRUST_CHECK_MS } from "../gateway/trust.ts";
import { DEFAULT_FLOORS } from "../limits/lanes.ts";
import type { PlanInput } from "../limits/planner.ts";
import { cronTimes } from "../schedule/cron.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** Cron expressions are counted over a day, up to this many runs. */
const MAX_RUNS_COUNTED = 10_000;

export interface PlanSetting {
  readonly profile: Profile;
  /** The Guardian's time zone. */
  readonly zone: string;
  /** Distinguishes keys, and is none. */
  readonly key: string;
  readonly now: number;
}

export function planInput(specialist: Specialist, { profile, zone, key, now }: PlanSetting): PlanInput {
  const { handle, tier, watch, lanes, schedules } = specialist;
  return {
    handle,
    key,
    limits: limitsOf(tier, profile),
    floors: { ...DEFAULT_FLOORS, ...lanes },
    sources: [
      ...(watch.feed === undefined && !watch.mentions ? [] : ["feed"]),
      ...watch.communities.map((community) => `feed:${community}`),
      ...(watch.jobs === undefined ? [] : ["jobs"]),
    ],
    // One call for each run: its real number is unknown before it runs.
    wants: {
      watch: Object.keys(profile.trust).length === 0 ? 0 : DAY / TRUST_CHECK_MS,
      act: schedules.reduce((sum, { cron, everyMs, zone: own }) => sum + runsADay(cron, everyMs, own ?? zone, now), 0),
    },
  };
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
