/** The single things that befall a simulated machine and its Guardian from outside. */
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import { EVERYONE } from "../limits/admission.ts";
import { jumpMs, slipMs, type FaultRates } from "./faults.ts";
import type { Machine } from "./machine.ts";
import type { Counting } from "./stats.ts";

/** Somebody pastes a new key within this, half of the time at once. */
const PASTED_MS = HOUR;
const PASTED_AT_ONCE_MS = MINUTE;
/** A clock that jumped is set right within this. */
const SET_RIGHT_MS = 3 * HOUR;
/** A stop or an outage that does not last. */
export const SHORT_STOP_MS = 10 * MINUTE;

export interface FaultInjectorOptions {
  /** The world's. */
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
  /** The runtime cannot do what is due until then. */
  readonly disturb: (until: number) => void;
}

export interface FaultInjector {
  /** The process stands still for so long at most. */
  freeze(mostMs: number): void;
  outage(mostMs: number): void;
  /** The wall clock jumps by so much. */
  jump(ms: number): void;
  /** Somebody's key is regenerated. */
  rotate(): void;
  /** The Guardian halts writes. */
  halt(): Promise<void>;
  /** One of those that happen in this run; where none do, any of them. */
  any(): void;
}

export function createFaultInjector(options: FaultInjectorOptions): FaultInjector {
  const { clock, random, machine, handles, tally, note, rates, disturb } = options;
  /** The key the Guardian was shown last, by handle. */
  const shown = new Map<string, string>();
  /** Within so long, and says after how long. */
  const later = (mostMs: number, run: () => void): number => {
    const ms = 1 + random.int(mostMs);
    clock.after(ms, run);
    return ms;
  };
  const misfortunes: FaultInjector = {
    freeze(mostMs) {
      const ms = random.int(mostMs);
      tally.stops++;
      note(`stands still for ${ms}`);
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
      disturb(Infinity); // from now on what is due is not what the world's clock says
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
        [rates().stopsPerDay, () => misfortunes.freeze(SHORT_STOP_MS)],
        [rates().clockJumpsPerDay, () => misfortunes.jump(jumpMs(random))],
        [rates().clockSlipsPerDay, () => misfortunes.jump(slipMs(random))],
        [rates().keyRotationsPerDay, () => misfortunes.rotate()],
        [rates().outagesPerDay, () => misfortunes.outage(SHORT_STOP_MS)],
        [rates().haltsPerDay, () => void misfortunes.halt()],
      ];
      const happening = kinds.filter(([rate]) => rate > 0);
      random.pick(happening.length === 0 ? kinds : happening)[1]();
    },
  };
  return misfortunes;
}
