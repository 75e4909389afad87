/** Maps an account's record to one of the profile's trust tiers. */
import type { ProfileData } from "./source.ts";
import { statusWord } from "../reading/values.ts";

export type TrustTiers = ProfileData["trust"];

/** Trust in an account's record: the network's own word, or the reputation from which a profile derives it. */
export interface ReportedTrust {
  readonly trust?: string | undefined;
  readonly reputation?: number | undefined;
}

/** Returns the profile's name of the tier; undefined if it has none. The word wins over the number. */
export function trustOf(tiers: TrustTiers, { trust, reputation }: ReportedTrust): string | undefined {
  if (trust !== undefined) return Object.keys(tiers).find((name) => statusWord(name) === statusWord(trust));
  if (reputation === undefined) return undefined;
  const reached = Object.entries(tiers).flatMap(([name, { reputation: from }]) =>
    from !== undefined && from <= reputation ? [{ name, from }] : [],
  );
  return reached.sort((a, b) => b.from - a.from)[0]?.name;
}
