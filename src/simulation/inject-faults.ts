/** Injects single faults into a simulated machine and acts for its Guardian. */
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { jumpMs, slipMs, type FaultRates } from "./faults.ts";
import { isStoreLost } from "../store/store-lost.ts";
import type { Machine } from "./machine.ts";
import type { Counting } from "./stats.ts";

/** A regenerated key is pasted within this time, half of the time at once. */
const PASTED_MS = HOUR;
const PASTED_AT_ONCE_MS = MINUTE;
/** A clock that jumped is corrected within this time. */
const SET_RIGHT_MS = 3 * HOUR;
/** Longest duration of a short stop or outage. */
export const SHORT_STOP_MS = 10 * MINUTE;

export interface FaultInjectorOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  readonly random: Random;
  readonly machine: Machine;
  readonly handles: readonly string[];
  readonly rates: () => FaultRates;
  readonly tally: Counting;
  readonly note: (what: string) => void;
  readonly rotate: (handle: string) => string;
  readonly pasteKey: (handle: string, key: string) => void;
  readonly setOutage: (down: boolean) => void;
  /** Tells the liveness check that due work may be late until then. */
  readonly disturb: (until: number) => void;
}

export interface FaultInjector {
  /** Freezes the process for a random time up to `mostMs`. */
  freeze(mostMs: number): void;
  outage(mostMs: number): void;
  /** Moves the wall clock by `ms`. */
  jump(ms: number): void;
  /** Regenerates the key of a random specialist. */
  rotate(): void;
  /** Halts writes as the Guardian. */
  halt(): Promise<void>;
  /** Ends the sessions of a process on the store's server. */
  disconnect(): void;
  /** Ends a process in order, for a while. */
  leave(): void;
  /** Injects one fault of the kinds enabled in this run, or of any kind if none is. */
  any(): void;
}

/** An order of the Guardian is given again later, if the store is lost meanwhile. */
export async function unlessLost(order: Promise<void>): Promise<void> {
  try {
    await order;
  } catch (error) {
    if (!isStoreLost(error)) throw error;
  }
}

export function createFaultInjector(options: FaultInjectorOptions): FaultInjector {
  const { clock, random, machine, handles, tally, note, disturb } = options;
  /** The key last shown to the Guardian, by handle. */
  const shown = new Map<string, string>();
  /** Schedules `run` within `mostMs` and returns the delay. */
  const later = (mostMs: number, run: () => void): number => {
    const ms = 1 + random.int(mostMs);
    clock.after(ms, run);
    return ms;
  };
  const injector: FaultInjector = {
    freeze(mostMs) {
      const ms = random.int(mostMs);
      tally.stops++;
      note(`frozen for ${ms}`);
      machine.freezeFor(ms);
    },
    outage(mostMs) {
      tally.outages++;
      options.setOutage(true);
      disturb(clock.now() + later(mostMs, () => options.setOutage(false)));
    },
    jump(ms) {
      tally.jumps++;
      note(`the clock jumps by ${ms}`);
      disturb(Infinity); // due times are off while the machine's clock is
      machine.jump(ms);
      later(SET_RIGHT_MS, () => machine.setClockRight());
    },
    rotate() {
      const handle = random.pick(handles);
      tally.rotations++;
      note(`the key of ${handle} is regenerated`);
      shown.set(handle, options.rotate(handle));
      disturb(clock.now() + PASTED_MS);
      later(random.next() < 0.5 ? PASTED_AT_ONCE_MS : PASTED_MS, () => options.pasteKey(handle, shown.get(handle) ?? ""));
    },
    async halt() {
      tally.halts++;
      note("the Guardian halts writes");
      const stores = machine.stores();
      if (stores.length === 0) return;
      const scope = random.next() < 0.5 ? EVERYONE : random.pick(handles);
      await Promise.all(stores.map((store) => unlessLost(store.stop("halt", scope, "simulated", clock.now()))));
    },
    disconnect() {
      tally.disconnections++;
      note("a process loses its sessions");
      machine.disconnect();
    },
    leave() {
      tally.departures++;
      note("a process leaves");
      machine.leave();
    },
    any() {
      const kinds = kindsOf(injector, options);
      const enabled = kinds.filter(([rate]) => rate > 0);
      random.pick(enabled.length === 0 ? kinds : enabled)[1]();
    },
  };
  return injector;
}

/** Each kind of fault, with its rate. */
function kindsOf(injector: FaultInjector, { rates, machine, random }: FaultInjectorOptions): readonly (readonly [number, () => void])[] {
  const kinds: readonly (readonly [number, () => void])[] = [
    [rates().crashes, () => machine.kill()],
    [rates().stopsPerDay, () => injector.freeze(SHORT_STOP_MS)],
    [rates().clockJumpsPerDay, () => injector.jump(jumpMs(random))],
    [rates().clockSlipsPerDay, () => injector.jump(slipMs(random))],
    [rates().keyRotationsPerDay, () => injector.rotate()],
    [rates().outagesPerDay, () => injector.outage(SHORT_STOP_MS)],
    [rates().haltsPerDay, () => void injector.halt()],
  ];
  if (!machine.isFleet) return kinds;
  return [...kinds, [rates().disconnectionsPerDay, () => injector.disconnect()], [rates().departuresPerDay, () => injector.leave()]];
}
