/** Trust tiers: which one of a profile a network's answer about an account stands for. */
import type { ProfileData } from "./source.ts";
import { statusWord } from "../reading/values.ts";

export type TrustTiers = ProfileData["trust"];

/** What an account's record says: the network's own word, or the reputation that a profile says it is earned by. */
export interface ReportedTrust {
  readonly trust?: string | undefined;
  readonly reputation?: number | undefined;
}

/** The profile's name of it; undefined where the profile has none for what was said. The word wins over the number. */
export function trustOf(tiers: TrustTiers, { trust, reputation }: ReportedTrust): string | undefined {
  if (trust !== undefined) return Object.keys(tiers).find((name) => statusWord(name) === statusWord(trust));
  if (reputation === undefined) return undefined;
  const reached = Object.entries(tiers).flatMap(([name, { reputation: from }]) =>
    from !== undefined && from <= reputation ? [{ name, from }] : [],
  );
  return reached.sort((a, b) => b.from - a.from)[0]?.name;
}
