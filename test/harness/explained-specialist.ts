/** A specialist at work on virtual time, and what `why` answers of what it decided: the real runtime, store and local network. */
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import type { VirtualClock } from "../../src/core/virtual-clock.ts";
import type { LocalNetwork, LocalNetworkOptions } from "../../src/local-network/options.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import { defined } from "../../src/core/defined.ts";
import { harness } from "./harness.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Explanation } from "../../src/guardian/explanation.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import type { OpenDatabase } from "../../src/store/sqlite/database.ts";
import type { Store } from "../../src/store/store.ts";
import type { Ask } from "./visitor.ts";

export interface WhyLabOptions {
  readonly profile?: Omit<ProfileSource, "extends">;
  readonly network?: Partial<LocalNetworkOptions>;
  /** What the key's place holds; default the key that the network knows. */
  readonly key?: () => string | undefined;
  /** Holds the store's rows; default one of the lab's own. */
  readonly database?: OpenDatabase;
}

export interface WhyLab {
  readonly clock: VirtualClock;
  readonly runtime: Runtime;
  readonly network: LocalNetwork;
  readonly guardian: Guardian;
  readonly store: Store;
  /** Somebody else on the network. */
  readonly other: Ask;
  /** The id of the event that it decides on. */
  handling(): string;
  /** What it decided, oldest first. */
  decided(): Promise<readonly Intent[]>;
  why(id: string | undefined): Promise<Explanation>;
}

type Decide = NonNullable<NonNullable<SpecialistDefinition["schedules"]>[string]>["run"];

/** `decide` is run once, within two hours; the lab is handed over a minute later. */
export async function whyLab(
  decide: Decide,
  definition: Omit<SpecialistDefinition, "handle" | "schedules"> = {},
  options: WhyLabOptions & { readonly before?: (lab: Pick<WhyLab, "clock" | "network" | "guardian" | "other">) => Promise<void> } = {},
): Promise<WhyLab> {
  let ran: string | undefined;
  const here = await harness({
    specialists: [
      {
        tier: "pro",
        id: "agt_mine",
        ...definition,
        handle: "scout",
        schedules: {
          once: {
            every: "1h",
            run(act) {
              if (act.state["decided"] === true) return;
              act.state = { decided: true };
              ran = `schedule:once:${act.now}`;
              return decide(act);
            },
          },
        },
      },
    ],
    seed: "why",
    ...defined({ profile: options.profile, network: options.network, keyOf: options.key, database: options.database }),
  });
  const { clock, network, guardian, store, runtime } = here;
  const other = here.other("quill");
  await options.before?.({ clock, network, guardian, other });
  if (!(await clock.runUntil(() => ran !== undefined, 2 * HOUR))) throw new Error("it never decided");
  await clock.advance(MINUTE);
  return {
    clock,
    runtime,
    network,
    guardian,
    store,
    other,
    handling: () => ran ?? "",
    decided: async () => (await clock.run(store.intents({ limit: 1_000 }))).toReversed(),
    why: (id) => clock.run(guardian.why({ id: id ?? "" })),
  };
}
