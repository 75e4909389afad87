/** A specialist that only posts, by the clock, on a virtual network whose way to it a test makes worse. */
import type { Transport } from "../../src/client/transport.ts";
import { asHandle } from "../../src/core/ids.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import type { Duration } from "../../src/core/units.ts";
import { harness, type HarnessOptions } from "./harness.ts";

export interface WriterOptions {
  readonly every: Duration;
  readonly says: (now: number) => string;
  readonly profile?: HarnessOptions["profile"];
  /** Between the runtime and the network. */
  readonly link: (plain: Transport, network: LocalNetwork) => Transport;
  readonly forMs: number;
}

/** What it had decided in that time, and what became of it. */
export async function written({ every, says, profile, link, forMs }: WriterOptions): Promise<readonly Intent[]> {
  const { clock, store } = await harness({
    specialists: [
      {
        handle: "writer",
        tier: "pro",
        watch: { feed: false, threads: false, mentions: false },
        may: ["posts.create"],
        schedules: { writing: { every, run: (act) => void act.post(says(act.now)) } },
      },
    ],
    ...(profile === undefined ? {} : { profile }),
    link: (plain, { network }) => link(plain, network),
  });
  await clock.advance(forMs);
  const intents = await store.intents({ specialist: asHandle("writer"), limit: 100 });
  return intents;
}
