/** A specialist that does every job it is given, on a strict network and virtual time. */
import { seededRandom, type Random } from "../../src/core/random.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { virtualRuntime } from "./harness.ts";
import { strictJobs, type StrictNetwork, type StrictWays, type Tally } from "./strict-jobs.ts";

export interface DoingJobs extends Omit<StrictWays, "givesMs"> {
  readonly givesMs: (chance: Random) => number;
  /** It ends with so many requests, or after so long. */
  readonly until: { readonly requests: number } | { readonly ms: number };
}

type Until = DoingJobs["until"];

/** Nobody takes longer for so many requests. */
const LONGEST_MS = 5 * DAY;

/** How often it was told. */
export interface Told {
  readonly accepted: number;
  readonly paid: number;
}

export async function doJobs({ until, givesMs, ...ways }: DoingJobs): Promise<Tally & Told> {
  const clock = virtualClock(START);
  const chance = seededRandom(9);
  const network = strictJobs(clock, { ...ways, givesMs: () => givesMs(chance) });
  const told = { accepted: 0, paid: 0 };
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "scout",
        id: "me",
        tier: ways.tier,
        watch: { jobs: { from: "start" } },
        may: ["jobs.apply", "jobs.submit"],
        on: {
          "job.listed": (job, act) => void act.apply(job, {}),
          "job.assigned": (job, act) => void act.submit(job, { done: true }),
          "job.accepted": () => void told.accepted++,
          "job.paid": () => void told.paid++,
        },
      }),
    ],
    transport: network.transport,
    keyOf: () => "sk_live_of_scout",
    clock,
    random: seededRandom(3),
  });
  await clock.run(runtime.start());
  await live(clock, network, until);
  const tally = { ...network.tally(), ...told };
  await clock.run(runtime.stop());
  return tally;
}

const START = Date.UTC(2026, 10, 21);

async function live(clock: VirtualClock, network: StrictNetwork, until: Until): Promise<void> {
  const isOver = (): boolean => "requests" in until && network.requests() >= until.requests;
  const end = clock.now() + ("ms" in until ? until.ms : LONGEST_MS);
  while (clock.now() < end && !isOver()) await clock.advance(MINUTE / 4);
}
