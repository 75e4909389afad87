/** A specialist at work on virtual time, and what `why` answers of what it decided: the real runtime, store and local network. */
import { onTestFinished } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import type { LocalNetwork, LocalNetworkOptions } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import { BASE_URL, virtualRuntime } from "./virtual-runtime.ts";
import type { Explanation } from "../../src/guardian/explanation.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import type { OpenDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { plainLink } from "./plain-transport.ts";
import { asking, type Ask } from "./visitor.ts";

const T0 = Date.UTC(2026, 10, 21);
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
  const clock = virtualClock(T0);
  const random = seededRandom("why");
  const network = createLocalNetwork({ clock, random, ...options.network });
  const { key } = network.provision({ handle: "scout", tier: definition.tier ?? "pro", set: "b" });
  const other = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  const database = options.database === undefined ? {} : { database: options.database };
  const store = openSqliteStore({ path: ":memory:", clock, random, ...database });
  const baseUrl = BASE_URL.b;
  let ran: string | undefined;
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
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
      }),
    ],
    profile: resolveProfile({ extends: "set-b", ...options.profile }),
    store,
    transport: plainLink(network, "b"),
    keyOf: options.key ?? (() => key),
    clock,
    random,
  });
  const guardian = createGuardian({ store, clock, live: { runtime, startedAt: T0, baseUrl } });
  network.start();
  await clock.run(runtime.start());
  onTestFinished(async () => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
    await network.stop();
  });
  await options.before?.({ clock, network, guardian, other });
  if (!(await clock.runUntil(() => ran !== undefined, 2 * HOUR))) throw new Error("it never decided");
  await clock.advance(MINUTE);
  return {
    clock,
    network,
    guardian,
    store,
    other,
    handling: () => ran ?? "",
    decided: async () => (await clock.run(store.intents({ limit: 1_000 }))).toReversed(),
    why: (id) => clock.run(guardian.why({ id: id ?? "" })),
  };
}
