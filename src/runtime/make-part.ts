/** Makes a part of a fleet's process: a store that it holds, with a runtime of the store's specialists. Nothing begins yet. */
import type { Fatal } from "../core/errors.ts";
import { UnderWay } from "../core/under-way.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { Membership } from "../store/postgres/membership.ts";
import { openShards, type HeldStore } from "../store/postgres/postgres-store.ts";
import type { FleetOptions, Part } from "./fleet-options.ts";
import { runtimeOptions } from "./launch.ts";
import type { RuntimeOptions } from "./runtime-options.ts";
import { createRuntime } from "./runtime.ts";
import { SilentProcesses } from "./silent-processes.ts";

/** Opens the store of those of these shards that are free; undefined if none is. Throws as `openShards` does. */
export function openHeld(
  { planned, options: { clock, random }, wall, address }: Pick<FleetOptions, "planned" | "options" | "wall" | "address">,
  { number, writers }: Membership,
  wanted: { readonly shards: readonly number[]; readonly onLost: (error: Fatal) => void },
): Promise<HeldStore | undefined> {
  return openShards({
    ...wanted,
    address,
    process: number,
    writers,
    clock,
    wall,
    random,
    zone: () => planned.config.guardian.zone,
    lateLandingMs: planned.profile.timing.lateLandingMs,
    readsBeside: true,
  });
}

export interface PartOptions extends Required<Pick<RuntimeOptions, "onKeyReplaced" | "keptOut" | "log">> {
  /** The number of the process. */
  readonly process: number;
  readonly specialists: readonly Specialist[];
}

export async function makePart(
  held: HeldStore,
  { planned, options, common, perRuntime }: Pick<FleetOptions, "planned" | "options" | "common" | "perRuntime">,
  { process, specialists, onKeyReplaced, keptOut, log }: PartOptions,
): Promise<Part> {
  const { clock } = options;
  const silent = new SilentProcesses(clock, held.lostBy, process);
  const [handlers, requests] = [new UnderWay(clock), new UnderWay(clock)];
  const usual = await runtimeOptions(planned, options, common, held.store);
  const runtime = createRuntime({
    ...usual,
    transport: (request) => requests.follow(usual.transport(request)),
    underWay: handlers,
    onKeyReplaced,
    keptOut,
    ...perRuntime,
    log,
    sentElsewhereUntil: () => silent.maySendUntil,
    specialists,
  });
  return { ...held, runtime, handlers, requests, startedAt: clock.now(), silent };
}
