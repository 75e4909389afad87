/** Injects single faults into a simulated machine and acts for its Guardian. */
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { jumpMs, slipMs, type FaultRates } from "./faults.ts";
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
  /** Injects one fault of the kinds enabled in this run, or of any kind if none is. */
  any(): void;
}

export function createFaultInjector(options: FaultInjectorOptions): FaultInjector {
  const { clock, random, machine, handles, tally, note, rates, disturb } = options;
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
      disturb(clock.now() + ms);
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
      await machine.store()?.stop("halt", random.next() < 0.5 ? EVERYONE : random.pick(handles), "simulated", clock.now());
    },
    any() {
      const kinds: readonly (readonly [number, () => void])[] = [
        [rates().crashes, () => machine.kill()],
        [rates().stopsPerDay, () => injector.freeze(SHORT_STOP_MS)],
        [rates().clockJumpsPerDay, () => injector.jump(jumpMs(random))],
        [rates().clockSlipsPerDay, () => injector.jump(slipMs(random))],
        [rates().keyRotationsPerDay, () => injector.rotate()],
        [rates().outagesPerDay, () => injector.outage(SHORT_STOP_MS)],
        [rates().haltsPerDay, () => void injector.halt()],
      ];
      const enabled = kinds.filter(([rate]) => rate > 0);
      random.pick(enabled.length === 0 ? kinds : enabled)[1]();
    },
  };
  return injector;
}
