/** One call: in the live runtime, or else in one that is started for this call only, and polls and handles nothing. */
import { handleAdvice } from "../config/handle-advice.ts";
import { throwMistakes } from "../config/problem.ts";
import { checkRosterKeys, type Roster } from "../config/roster.ts";
import { Misconfigured } from "../core/errors.ts";
import { checkReachable } from "../doctor/reach.ts";
import type { CallResult } from "../guardian/call-operation.ts";
import { createGuardian, type CallQuery } from "../guardian/guardian.ts";
import { planCast, requireBaseUrl } from "../runtime/launch.ts";
import type { Config } from "../config/config.ts";
import type { Context } from "./command.ts";
import { inTurn } from "./command-turns.ts";
import { overRunning } from "./find-guardian.ts";
import { launchOn, openStage, type Stage } from "./session.ts";
import { shellUser } from "./shell-user.ts";

/** Runs one operation by name, wherever the store is open. */
export async function callThrough(context: Context, config: Config, query: CallQuery): Promise<CallResult> {
  return inTurn(context.clock, async ({ until }) => {
    const asked = await overRunning(config, context, (guardian) => guardian.call(query), { until });
    return asked === undefined ? alone(context, query) : asked.result;
  });
}

async function alone(context: Context, query: CallQuery): Promise<CallResult> {
  const stage = openStage(context, undefined);
  try {
    return await callAlone(stage, query);
  } finally {
    stage.close();
  }
}

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
  const known = definitions.map(({ specialist }) => specialist.handle);
  throw new Misconfigured("specialist_unknown", `there is no specialist "${handle}"`, handleAdvice(handle, known));
}
