/** A specialist that only posts, by the clock, on a virtual network whose way to it a test makes worse. */
import type { Transport } from "../../src/client/transport.ts";
import type { Profile } from "../../src/contract/profile/profile.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import type { Duration } from "../../src/core/units.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "./plain-transport.ts";
import { virtualRuntime } from "./virtual-runtime.ts";

export interface WriterOptions {
  readonly every: Duration;
  readonly says: (now: number) => string;
  readonly profile?: Profile;
  /** Between the runtime and the network. */
  readonly link: (plain: Transport, network: LocalNetwork) => Transport;
  readonly forMs: number;
}

/** What it had decided in that time, and what became of it. */
export async function written({ every, says, profile, link, forMs }: WriterOptions): Promise<readonly Intent[]> {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(3);
  const network = createLocalNetwork({ clock, random });
  const { key } = network.provision({ handle: "writer", tier: "pro" });
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "writer",
        tier: "pro",
        watch: { feed: false, threads: false, mentions: false },
        may: ["posts.create"],
        schedules: { writing: { every, run: (act) => void act.post(says(act.now)) } },
      }),
    ],
    store,
    ...(profile === undefined ? {} : { profile }),
    transport: link(plainLink(network, "b"), network),
    keyOf: () => key,
    clock,
    random,
  });
  network.start();
  await clock.run(runtime.start());
  await clock.advance(forMs);
  const intents = await store.intents({ specialist: asHandle("writer"), limit: 100 });
  await clock.run(runtime.stop());
  await network.stop();
  return intents;
}
