/** The Guardian's interface over a store without a running runtime. */
import type { Config } from "../config/config.ts";
import { systemRandom } from "../core/random.ts";
import { createGuardian, type Guardian } from "../guardian/guardian.ts";
import { planCast } from "../runtime/launch.ts";
import { createMember, type Member } from "../gateway/member.ts";
import { limitsOf, operationRules } from "../gateway/permissions.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { Context } from "./command.ts";

export async function overStore<Result>(config: Config, context: Context, work: (guardian: Guardian) => Promise<Result>): Promise<Result> {
  const { clock } = context;
  const store = openSqliteStore({ path: config.store.path, clock, random: systemRandom(), zone: () => config.guardian.zone });
  try {
    return await work(createGuardian({ store, clock, members: () => membersOf(config, context) }));
  } finally {
    await store.close();
  }
}

/** The specialists of the definitions, which determine the consequences of a decision while nothing runs. */
async function membersOf(config: Config, { clock }: Context): Promise<readonly Member[]> {
  const { profile, roster } = await planCast(config, clock);
  return roster.definitions.map(({ specialist }) =>
    createMember(specialist, operationRules(specialist, profile, clock), limitsOf(specialist.tier, profile), clock.now()),
  );
}
