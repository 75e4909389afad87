/** The standing of a specialist on its network: its tier and the network's trust in it, beside what each other one would permit. */
import type { Profile } from "../contract/profile/profile.ts";
import { TIERS, type Tier } from "../contract/tiers.ts";
import { defined } from "../core/defined.ts";
import type { ObservedTrust } from "../gateway/network-state-rows.ts";
import { limitsOf } from "../gateway/permissions.ts";

/** The data of the network's profile, and the network's own report; nothing is guessed. */
export interface Standing {
  /** Every tier of the network, the lowest first. */
  readonly tiers: readonly TierStanding[];
  /** Absent if the profile has no trust tiers: reputation and trust are not read then. */
  readonly trust?: TrustStanding;
}

interface Grade {
  readonly name: string;
  readonly isPresent: boolean;
  /** Operations that it does not permit. */
  readonly lacks: readonly string[];
  /** Operations that it permits, and the present one does not. */
  readonly unlocks: readonly string[];
}

export interface TierStanding extends Grade {
  /** Absent if the network has no such limit. */
  readonly perHour?: number;
  readonly perDay?: number;
}

export interface TrustStanding {
  /** Absent before the network's first report. */
  readonly reported?: {
    /** The profile's name of its tier, or the network's own word. */
    readonly trust?: string;
    readonly reputation?: number;
    /** The time since which it has this trust. */
    readonly since: number;
    /** The time of the next read. */
    readonly lookAt: number;
  };
  readonly tiers: readonly (Grade & {
    /** The least reputation of this tier, if the profile states it. */
    readonly reputation?: number;
  })[];
}

export interface Account {
  readonly tier: Tier;
  readonly trust: string | undefined;
  readonly report: ObservedTrust | undefined;
}

export function showStanding(profile: Profile, { tier, trust, report }: Account): Standing {
  const tiers = TIERS.flatMap((name): TierStanding[] => {
    const stated = profile.tiers[name];
    if (stated === undefined) return [];
    const { perHour, perDay } = limitsOf(name, profile);
    return [
      defined({
        ...gradeOf(profile.tiers, name, tier),
        perHour: stated.perHour === null ? undefined : perHour,
        perDay: stated.perDay === null ? undefined : perDay,
      }),
    ];
  });
  const trusts = Object.entries(profile.trust);
  if (trusts.length === 0) return { tiers };
  return {
    tiers,
    trust: defined({
      reported: report && defined({ trust, reputation: report.reputation, since: report.since, lookAt: report.lookAt }),
      tiers: trusts.map(([name, { reputation }]) => defined({ ...gradeOf(profile.trust, name, trust), reputation })),
    }),
  };
}

type Capabilities = Readonly<Record<string, { readonly lacks?: readonly string[] | undefined }>>;

function gradeOf(all: Capabilities, name: string, present: string | undefined): Grade {
  const lacks = all[name]?.lacks ?? [];
  const lacked = all[present ?? ""]?.lacks ?? [];
  return { name, isPresent: name === present, lacks, unlocks: lacked.filter((one) => !lacks.includes(one)) };
}
