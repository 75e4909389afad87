/** What befalls a simulated machine and its Guardian from outside, drawn every few virtual minutes. */
import { sleep, type Clock } from "../core/clock.ts";
import { asIntentId } from "../core/ids.ts";
import type { Random } from "../core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { Crowd } from "./crowd.ts";
import { EVERYONE } from "../limits/port.ts";
import type { LocalNetwork } from "../network/local-network.ts";
import { happens, jumpMs, type FaultRates } from "./faults.ts";
import type { Machine } from "./machine.ts";
import type { Counting } from "./tally.ts";

const EVERY_MS = 10 * MINUTE;
/** In a storm, followers come this far apart: closer than anything the runtime waits for. */
const STORM_GAP_MS = { least: 500, most: 4 * SECOND };
const LONGEST_STORM_MS = 2 * HOUR;
/** Somebody pastes a new key within this, half of the time at once. */
const PASTED_MS = HOUR;
const PASTED_AT_ONCE_MS = MINUTE;
/** Longer than any run. */
const FOR_EVER_MS = 36_600 * DAY;
/** Of ten questions, the Guardian says yes to so many. */
const YES = 8;
const MAX_QUESTIONS = 50;

export interface HappeningOptions {
  /** The world's. */
  readonly clock: Clock;
  readonly random: Random;
  readonly network: LocalNetwork;
  readonly crowd: Crowd;
  readonly machine: Machine;
  readonly handles: readonly string[];
  /** The longest the profile allows reads to lag. */
  readonly longestReadLagMs: number;
  readonly rates: () => FaultRates;
  readonly tally: Counting;
  readonly note: (what: string) => void;
  readonly rotate: (handle: string) => string;
  readonly pasteKey: (handle: string, key: string) => void;
  readonly setOutage: (down: boolean) => void;
  /** The runtime cannot do what is due until then. */
  readonly disturb: (until: number) => void;
}

export interface Happenings {
  start(): void;
  /** From now on only good things happen. */
  heal(): void;
  stop(): void;
}

export function createHappenings(options: HappeningOptions): Happenings {
  const { clock, random, network, machine, handles, tally, note, rates } = options;
  const over = new AbortController();
  /** The key the Guardian was shown last, by handle. */
  const shown = new Map<string, string>();
  const blind = random.next() < rates().blindReads;
  let healed = false;

  const later = (mostMs: number, run: () => void): number => soonOrLate(options, mostMs, run);
  const setLag = (ms: number): void => {
    note(`reads lag by ${ms}`);
    network.assume({ readLagMs: ms });
  };
  const draw = (): void => {
    const { stopsPerDay, clockJumpsPerDay, keyRotationsPerDay, outagesPerDay, followStormsPerDay, staleReads } = rates();
    if (happens(random, stopsPerDay, EVERY_MS)) {
      const ms = random.int(random.next() < 0.8 ? 10 * MINUTE : 8 * HOUR);
      tally.stops++;
      note(`stands still for ${ms}`);
      options.disturb(clock.now() + ms);
      machine.freezeFor(ms);
    }
    if (happens(random, clockJumpsPerDay, EVERY_MS)) jump(jumpMs(random));
    if (happens(random, keyRotationsPerDay, EVERY_MS)) rotate(random.pick(handles));
    if (happens(random, outagesPerDay, EVERY_MS)) {
      tally.outages++;
      options.setOutage(true);
      const ms = later(random.next() < 0.8 ? HOUR : 20 * HOUR, () => options.setOutage(false));
      options.disturb(clock.now() + ms);
    }
    if (happens(random, followStormsPerDay, EVERY_MS)) storm(options, random.pick(handles), () => healed);
    if (staleReads > 0 && !blind && happens(random, 4, EVERY_MS))
      setLag(random.next() < staleReads ? random.int(options.longestReadLagMs) : 0);
  };
  const jump = (ms: number): void => {
    tally.jumps++;
    note(`the clock jumps by ${ms}`);
    options.disturb(Infinity); // from now on what is due is not what the world's clock says
    machine.jump(ms);
    later(3 * HOUR, () => machine.setClockRight());
  };
  const rotate = (handle: string): void => {
    tally.rotations++;
    note(`the key of ${handle} is regenerated`);
    shown.set(handle, options.rotate(handle));
    options.disturb(clock.now() + PASTED_MS);
    later(random.next() < 0.5 ? PASTED_AT_ONCE_MS : PASTED_MS, () => options.pasteKey(handle, shown.get(handle) ?? ""));
  };
  return {
    start() {
      if (blind) setLag(FOR_EVER_MS);
      void (async () => {
        while (!over.signal.aborted) {
          if (!healed) draw();
          // A process that dies meanwhile never answers; the Guardian tries again next time.
          void lendHand(options, healed);
          await sleep(clock, EVERY_MS, over.signal);
        }
      })();
    },
    heal() {
      healed = true;
      note("everything heals");
      options.setOutage(false);
      setLag(0);
      machine.setClockRight();
    },
    stop: () => over.abort(),
  };
}

/** Within so long, and says after how long. */
function soonOrLate({ clock, random }: HappeningOptions, mostMs: number, run: () => void): number {
  const ms = 1 + random.int(mostMs);
  clock.after(ms, run);
  return ms;
}

/** For a while this specialist gets one follower after the other. */
function storm({ clock, random, crowd, tally, note }: HappeningOptions, handle: string, over: () => boolean): void {
  const until = clock.now() + random.int(LONGEST_STORM_MS);
  tally.storms++;
  note(`${handle} is followed by many until ${until}`);
  const goOn = (): void => {
    if (over() || clock.now() >= until) return;
    crowd.follow(handle);
    clock.after(STORM_GAP_MS.least + random.int(STORM_GAP_MS.most), goOn);
  };
  goOn();
}

/** The Guardian looks in: halts writes, lifts a halt, answers what is asked. */
async function lendHand({ machine, random, rates, handles, tally, note, clock }: HappeningOptions, healed: boolean): Promise<void> {
  const store = machine.store();
  if (store === undefined) return;
  if (!healed && happens(random, rates().haltsPerDay, EVERY_MS)) {
    tally.halts++;
    note("the Guardian halts writes");
    await store.stop("halt", random.next() < 0.5 ? EVERYONE : random.pick(handles), "simulated", clock.now());
  } else if (healed || random.next() < 0.2) {
    for (const { scope } of (await store.stops()).halts) await store.lift("halt", scope);
  }
  for (const { approval } of await store.openApprovals(MAX_QUESTIONS)) {
    tally.approvals++;
    const yes = healed || random.int(10) < YES;
    await store.decideApproval(asIntentId(approval.intent), yes ? "approved" : "rejected", undefined, clock.now());
  }
}
