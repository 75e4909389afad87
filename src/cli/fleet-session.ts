/** A fleet under a command: one process of it at work, or a visitor that asks the processes. Loaded where the store is on a server. */
import type { PostgresAddress } from "../config/postgres-address.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { createAnnouncer } from "../core/events.ts";
import type { RetinueError } from "../core/errors.ts";
import { systemRandom } from "../core/random.ts";
import { answerRequest, guardianOfFleet, guardianOfProcesses, passOn } from "../guardian/fleet-guardian.ts";
import type { Guardian } from "../guardian/guardian.ts";
import { showRunning, type SpecialistShown } from "../guardian/status.ts";
import { launchFleet } from "../runtime/launch-fleet.ts";
import { SALT_LENGTH, type LaunchOptions, type LaunchPlan } from "../runtime/launch.ts";
import type { Caller } from "../store/orders.ts";
import type { FleetProcess, FleetView } from "../store/postgres/fleet-view.ts";
import { Membership } from "../store/postgres/membership.ts";
import { SHARDS } from "../store/postgres/ownership.ts";
import { PAUSE_MS } from "./command-turns.ts";
import type { Context } from "./command.ts";
import type { AtWork } from "./at-work.ts";
import { shellUser } from "./shell-user.ts";

export async function openFleet(options: LaunchOptions, plan: LaunchPlan, address: PostgresAddress): Promise<AtWork> {
  const { clock, announcer = createAnnouncer() } = options;
  const launched = await launchFleet(plan, { ...options, announcer, address, answer: answerRequest, passOn });
  let last: readonly SpecialistShown[] = [];
  const shown = (): Promise<readonly SpecialistShown[]> =>
    showParts(
      () => launched.fleet.parts,
      (part) => showRunning(part, clock),
    );
  let drained: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    for (const { store } of launched.fleet.parts) store.readHere();
    last = await shown(); // its stores are others' afterwards
    await launched.drain();
  };
  return {
    ...launched,
    drain: () => (drained ??= drain()),
    halts: async () => launched.halts(),
    isUnsigned: () => launched.runtime.unsigned,
    guardianOf: (caller) => guardianOfFleet(launched, caller),
    shown: () => (drained === undefined ? shown() : Promise.resolve(last)),
  };
}

/** The specialists of all parts, by name. A part whose store ends while it is read has given them to another process. */
export async function showParts<Part>(
  parts: () => readonly Part[],
  show: (part: Part) => Promise<readonly SpecialistShown[]>,
): Promise<readonly SpecialistShown[]> {
  const all = await Promise.all(
    parts().map(async (part) => {
      try {
        return await show(part);
      } catch (error) {
        if (parts().includes(part)) throw error;
        return [];
      }
    }),
  );
  return all.flat().toSorted((a, b) => (a.handle < b.handle ? -1 : 1));
}

interface Asked {
  readonly nobody?: RetinueError | undefined;
  readonly caller?: Caller;
  /** A command that has the store is waited for until then, by the monotonic clock. Default: it is not. */
  readonly until?: number;
}

/** Runs `work` over the processes that have the specialists now; undefined if none has. Throws `nobody` then, unless all are drained. */
export async function overProcesses<Result>(
  address: PostgresAddress,
  { clock, env, out }: Context,
  work: (guardian: Guardian) => Promise<Result>,
  { nobody, caller = shellUser(env), until = 0 }: Asked = {},
): Promise<{ readonly result: Result } | undefined> {
  const membership = await visit(address, clock);
  try {
    const { processes } = await lookInTurn(membership, clock, until);
    if (processes.every(isIdle)) {
      if (nobody !== undefined && processes.some(({ draining }) => !draining)) throw nobody;
      const names = processes.map(({ name, draining }) => (draining ? `${name} (draining)` : name)).join(", ");
      if (processes.length > 0)
        out.paragraph(`No process has specialists now: ${names}. retinue fleet shows the processes.`, out.paint.yellow);
      return undefined;
    }
    return { result: await work(guardianOfProcesses(membership, clock, caller)) };
  } finally {
    await membership.close();
  }
}

const isIdle = ({ shards }: FleetProcess): boolean => shards.length === 0;

/** Looks until a process has shards, or nobody has: a look is much cheaper than a try to open the store. */
async function lookInTurn(membership: Membership, clock: Clock, until: number): Promise<FleetView> {
  for (;;) {
    const view = await membership.look();
    if (view.free.length === SHARDS || !view.processes.every(isIdle) || clock.monotonic() >= until) return view;
    await sleep(clock, PAUSE_MS);
  }
}

/** Joins as a command: it takes nothing. Throws `Misconfigured` (`store_missing`) where there is no store. */
export function visit(address: PostgresAddress, clock: Clock): Promise<Membership> {
  const random = systemRandom();
  return Membership.open({ address, clock, handles: undefined, newSalt: () => random.word(SALT_LENGTH) });
}

/** False if the server cannot be used; whoever visits hears why. */
export async function canVisit(address: PostgresAddress, clock: Clock): Promise<boolean> {
  const visited = await visit(address, clock).catch(() => undefined);
  await visited?.close();
  return visited !== undefined;
}
