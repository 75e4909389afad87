/** Keeps a run going over the loss of a store on a server: nothing is sent meanwhile, and it starts again when the server answers. */
import { problemOf } from "../config/problem.ts";
import { planLaunch, type LaunchPlan } from "../runtime/launch.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { messageOf, Retryable } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";
import { isStoreLost } from "../store/store-lost.ts";
import { EXIT, type Context, type ExitCode } from "./command.ts";
import { openStage, type Stage } from "./session.ts";

const AGAIN: Backoff = { firstMs: SECOND, longestMs: 10 * SECOND };

/** `endsAt` is a monotonic time. The first start fails at once; a later one is tried until it succeeds or a person ends it. */
export async function keepRunning(
  context: Context,
  first: LaunchPlan,
  endsAt: number | undefined,
  run: (stage: Stage, plan: LaunchPlan) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { clock } = context;
  let plan = first;
  for (let failures = 0; ;) {
    const stage = openStage(context, leftMs(clock, endsAt));
    try {
      return await run(stage, plan);
    } catch (error) {
      const isWorthIt =
        plan.config.store.kind === "postgres" &&
        (isStoreLost(error) || (error instanceof Retryable && (failures > 0 || error.code === "store_connection_lost")));
      if (!isWorthIt) throw error;
      failures = isStoreLost(error) ? 1 : failures + 1;
      const waitMs = backoffMs(AGAIN, failures);
      stage.log.error("nothing is sent until the store can be used again", { message: messageOf(error), triedAgainInMs: waitMs });
      await Promise.race([sleep(clock, waitMs), stage.lifetime.asked]);
      if (stage.lifetime.isAsked) return EXIT.failed;
    } finally {
      stage.close();
    }
    plan = await planned(context, plan);
  }
}

/** The time that is left of a run with an end. */
export function leftMs(clock: Clock, endsAt: number | undefined): number | undefined {
  return endsAt === undefined ? undefined : Math.max(0, endsAt - clock.monotonic());
}

/** The plan of now; the one before while a file has a mistake. */
async function planned(context: Context, before: LaunchPlan): Promise<LaunchPlan> {
  try {
    return await planLaunch(await context.loadConfig(), context.clock);
  } catch (error) {
    context.out.problems([problemOf(error)]);
    return before;
  }
}
