/** The Guardian's interface over a store without a running runtime. */
import type { Config } from "../config/config.ts";
import { Retryable } from "../core/errors.ts";
import { systemRandom } from "../core/random.ts";
import { createGuardian, type Guardian } from "../guardian/guardian.ts";
import { planCast } from "../runtime/launch.ts";
import { createMember, type Member } from "../gateway/member.ts";
import { limitsOf, operationRules } from "../gateway/permissions.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { shellUser } from "./shell-user.ts";
import type { Context } from "./command.ts";

export async function overStore<Result>(config: Config, context: Context, work: (guardian: Guardian) => Promise<Result>): Promise<Result> {
  const { clock } = context;
  const { store, refusal } = await openForOrders(config, context);
  try {
    const caller = shellUser(context.env);
    const result = await work(createGuardian({ store, clock, members: () => membersOf(config, context), caller }));
    if (refusal !== undefined) context.out.problems([{ level: "warning", code: refusal.code, message: refusal.message }]);
    return result;
  } finally {
    await store.close();
  }
}

/** A store that takes no writes can still be read: orders then fail with the reason. */
async function openForOrders(
  { store: address, guardian }: Config,
  { clock, out }: Context,
): Promise<{ readonly store: Store; readonly refusal?: Retryable }> {
  const options = {
    clock,
    random: systemRandom(),
    zone: () => guardian.zone,
    mustExist: true,
    onPastAwaited: () => out.progress({ type: "past.awaited" }, "Reading the past of the store from the server …"),
  };
  try {
    return { store: await openStore(address, options) };
  } catch (error) {
    if (!(error instanceof Retryable && error.code === "store_unwritable")) throw error;
    return { store: await openStore(address, { ...options, readOnly: error }), refusal: error };
  }
}

/** The specialists of the definitions, which determine the consequences of a decision while nothing runs. */
async function membersOf(config: Config, { clock }: Context): Promise<readonly Member[]> {
  const { profile, roster } = await planCast(config, clock);
  return roster.definitions.map(({ specialist }) =>
    createMember(specialist, operationRules(specialist, profile, clock), limitsOf(specialist.tier, profile), clock.now()),
  );
}
