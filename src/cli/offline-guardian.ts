/** The Guardian's interface over a store without a running runtime. */
import type { Config } from "../config/config.ts";
import type { Problem } from "../config/problem.ts";
import { storeFile } from "../config/store-address.ts";
import { Retryable } from "../core/errors.ts";
import { systemRandom } from "../core/random.ts";
import { createGuardian, type Guardian } from "../guardian/guardian.ts";
import { planCast } from "../runtime/launch.ts";
import { createMember, type Member } from "../gateway/member.ts";
import { limitsOf, operationRules } from "../gateway/permissions.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import { shellUser } from "./shell-user.ts";
import type { Context } from "./command.ts";

export async function overStore<Result>(config: Config, context: Context, work: (guardian: Guardian) => Promise<Result>): Promise<Result> {
  const { clock } = context;
  const { store, warnings } = openStore(config, context);
  try {
    const result = await work(createGuardian({ store, clock, members: () => membersOf(config, context), caller: shellUser(context.env) }));
    context.out.problems(warnings);
    return result;
  } finally {
    await store.close();
  }
}

/** On a disk that takes no writes the store can still be read: orders then fail with the reason. */
function openStore({ store, guardian }: Config, { clock }: Context): { readonly store: Store; readonly warnings: Problem[] } {
  const options = { path: storeFile(store), clock, random: systemRandom(), zone: () => guardian.zone };
  try {
    return { store: openSqliteStore(options), warnings: [] };
  } catch (error) {
    if (!(error instanceof Retryable && error.code === "store_unwritable")) throw error;
    const { code, message } = error;
    return { store: openSqliteStore({ ...options, readOnly: error }), warnings: [{ level: "warning", code, message }] };
  }
}

/** The specialists of the definitions, which determine the consequences of a decision while nothing runs. */
async function membersOf(config: Config, { clock }: Context): Promise<readonly Member[]> {
  const { profile, roster } = await planCast(config, clock);
  return roster.definitions.map(({ specialist }) =>
    createMember(specialist, operationRules(specialist, profile, clock), limitsOf(specialist.tier, profile), clock.now()),
  );
}
