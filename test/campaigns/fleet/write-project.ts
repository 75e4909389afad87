/** The project of a campaign: a file for each specialist, and a profile by which doubts are read back soon. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface CampaignProject {
  /** Statements of the profile beside the quiet period. */
  readonly profile?: object;
  readonly config: object;
  readonly specialists: readonly { readonly handle: string; readonly definition: string; readonly key: string }[];
}

/** The name of its profile. */
export const PROFILE_FILE = "quick.json";

/** Returns the variables that hold the keys. */
export function writeProject(folder: string, { profile, config, specialists }: CampaignProject): { readonly [name: string]: string } {
  mkdirSync(join(folder, "agents"));
  writeFileSync(join(folder, PROFILE_FILE), JSON.stringify({ extends: "set-b", timing: { quietMs: 200 }, ...profile }));
  writeFileSync(join(folder, "retinue.config.json"), JSON.stringify(config));
  for (const { handle, definition } of specialists) writeFileSync(join(folder, "agents", `${handle}.ts`), definition);
  return Object.fromEntries(specialists.map(({ handle, key }) => [`RETINUE_KEY_${handle.toUpperCase()}`, key]));
}
