/** One call without a live runtime: starts one that polls and handles nothing, for this call only. */
import { throwMistakes } from "../config/problem.ts";
import { checkRosterKeys, type Roster } from "../config/roster.ts";
import { Misconfigured } from "../core/errors.ts";
import { checkReachable } from "../doctor/reach.ts";
import type { CallResult } from "../guardian/call-operation.ts";
import { createGuardian, type CallQuery } from "../guardian/guardian.ts";
import { planCast, requireBaseUrl } from "../runtime/launch.ts";
import { shellUser } from "./shell-user.ts";
import { launchOn, type Stage } from "./session.ts";

export async function callAlone(stage: Stage, query: CallQuery): Promise<CallResult> {
  const { clock, env } = stage.context;
  const config = await stage.context.loadConfig();
  const baseUrl = requireBaseUrl(config);
  const { profile, roster, loader } = await planCast(config, clock);
  const alone = { ...roster, definitions: [definitionOf(roster, query.handle)] };
  throwMistakes(checkRosterKeys(alone, config));
  await checkReachable(baseUrl, clock);
  const launched = await launchOn(stage, { config, baseUrl, profile, roster: alone, loader, warnings: [] }, { passive: true });
  try {
    await launched.start();
    const { runtime, store } = launched;
    const live = { runtime, startedAt: clock.now(), baseUrl };
    return await createGuardian({ store, clock, live, caller: shellUser(env) }).call(query);
  } finally {
    await launched.stop();
  }
}

/** Throws `Misconfigured` (`specialist_unknown`). */
export function definitionOf({ definitions }: Roster, handle: string): Roster["definitions"][number] {
  const found = definitions.find(({ specialist }) => specialist.handle === handle);
  if (found !== undefined) return found;
  throw new Misconfigured("specialist_unknown", `there is no specialist "${handle}"`, {
    expected: `one of ${definitions.map(({ specialist }) => specialist.handle).join(", ")}`,
  });
}
