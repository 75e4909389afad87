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
  const elsewhere = refusal?.code === "store_in_use" ? refusal.message : undefined;
  try {
    const caller = shellUser(context.env);
    const result = await work(createGuardian({ store, clock, members: () => membersOf(config, context), caller, elsewhere }));
    if (refusal !== undefined) context.out.problems([{ level: "warning", code: refusal.code, message: refusal.message }]);
    return result;
  } finally {
    await store.close();
  }
}

/** A store that takes no writes, or that a process elsewhere has, can still be read: orders then fail with the reason. */
async function openForOrders(
  { store: address, guardian }: Config,
  { clock }: Context,
): Promise<{ readonly store: Store; readonly refusal?: Retryable }> {
  const options = { clock, random: systemRandom(), zone: () => guardian.zone, mustExist: true };
  try {
    return { store: await openStore(address, options) };
  } catch (error) {
    if (!(error instanceof Retryable && canBeRead(address, error))) throw error;
    return { store: await openStore(address, { ...options, readOnly: error }), refusal: error };
  }
}

/** The process that has a file is on this machine, and does not answer; that of a server is on any. */
function canBeRead({ kind }: Config["store"], { code }: Retryable): boolean {
  return code === "store_unwritable" || (kind === "postgres" && code === "store_in_use");
}

/** The specialists of the definitions, which determine the consequences of a decision while nothing runs. */
async function membersOf(config: Config, { clock }: Context): Promise<readonly Member[]> {
  const { profile, roster } = await planCast(config, clock);
  return roster.definitions.map(({ specialist }) =>
    createMember(specialist, operationRules(specialist, profile, clock), limitsOf(specialist.tier, profile), clock.now()),
  );
}
