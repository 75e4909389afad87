/** The work of a process of a fleet under a command. Loaded where the store is on a server. */
import type { PostgresAddress } from "../config/postgres-address.ts";
import { createAnnouncer } from "../core/events.ts";
import { answerRequest, guardianOfFleet, passOn } from "../guardian/fleet-guardian.ts";
import { showRunning, type SpecialistShown } from "../guardian/status.ts";
import { launchFleet } from "../runtime/launch-fleet.ts";
import type { LaunchOptions, LaunchPlan } from "../runtime/launch.ts";
import type { Working } from "./session.ts";

export function openFleet(options: LaunchOptions, plan: LaunchPlan, address: PostgresAddress): Working {
  const { clock, announcer = createAnnouncer() } = options;
  const launched = launchFleet(plan, { ...options, announcer, address, answer: answerRequest, passOn });
  let last: readonly SpecialistShown[] = [];
  const shown = async (): Promise<readonly SpecialistShown[]> => {
    const all = await Promise.all(launched.fleet.parts.map((part) => showRunning(part, clock)));
    return all.flat().toSorted((a, b) => (a.handle < b.handle ? -1 : 1));
  };
  let drained: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    last = await shown(); // its stores are others' afterwards
    await launched.drain();
  };
  return {
    ...launched,
    drain: () => (drained ??= drain()),
    isUnsigned: () => launched.runtime.unsigned,
    guardianOf: (caller) => guardianOfFleet(launched, caller),
    shown: () => (drained === undefined ? shown() : Promise.resolve(last)),
  };
}
