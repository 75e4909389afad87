/** What befalls a simulated machine and its Guardian from outside, drawn every few virtual minutes. */
import { sleep } from "../core/clock.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import { answerBy } from "../limits/approvals.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import type { BackgroundTraffic } from "./background-traffic.ts";
import { happens, jumpMs, slipMs } from "./faults.ts";
import { createFaultInjector, SHORT_STOP_MS, type FaultInjectorOptions, type FaultInjector } from "./inject-faults.ts";

const EVERY_MS = 10 * MINUTE;
/** In a storm, followers come this far apart: closer than anything the runtime waits for. */
const STORM_GAP_MS = { least: 500, most: 4 * SECOND };
const LONGEST_STORM_MS = 2 * HOUR;
/** So many stops and outages last for hours: nothing is found meanwhile. */
const LONG_SHARE = 0.05;
/** What comes together does so within this. */
const PILED_UP_MS = 5 * MINUTE;
/** Longer than any run. */
const FOR_EVER_MS = 36_600 * DAY;
/** Of ten questions, the Guardian says yes to so many. */
const YES = 8;
const MAX_QUESTIONS = 50;

export interface FaultScheduleOptions extends FaultInjectorOptions {
  readonly network: LocalNetwork;
  readonly crowd: BackgroundTraffic;
  /** The longest the profile allows reads to lag. */
  readonly longestReadLagMs: number;
}

export interface FaultSchedule {
  start(): void;
  /** A write leaves, and something may befall the machine while its outcome is not settled. */
  pileUp(): void;
  /** From now on only good things happen. */
  heal(): void;
  stop(): void;
}

export function createFaultSchedule(options: FaultScheduleOptions): FaultSchedule {
  const { clock, random, network, machine, handles, note, rates } = options;
  const over = new AbortController();
  const blind = random.next() < rates().blindReads;
  let healed = false;
  const misfortunes = createFaultInjector(options);
  const setLag = (ms: number): void => {
    note(`reads lag by ${ms}`);
    network.assume({ readLagMs: ms });
  };
  const draw = (): void => {
    const { stopsPerDay, clockJumpsPerDay, clockSlipsPerDay, keyRotationsPerDay, outagesPerDay, followStormsPerDay, staleReads } = rates();
    if (happens(random, stopsPerDay, EVERY_MS)) misfortunes.freeze(random.next() < LONG_SHARE ? 8 * HOUR : SHORT_STOP_MS);
    if (happens(random, clockJumpsPerDay, EVERY_MS)) misfortunes.jump(jumpMs(random));
    if (happens(random, clockSlipsPerDay, EVERY_MS)) misfortunes.jump(slipMs(random));
    if (happens(random, keyRotationsPerDay, EVERY_MS)) misfortunes.rotate();
    if (happens(random, outagesPerDay, EVERY_MS)) misfortunes.outage(random.next() < LONG_SHARE ? 20 * HOUR : HOUR);
    if (happens(random, followStormsPerDay, EVERY_MS)) storm(options, random.pick(handles), () => healed);
    if (staleReads > 0 && !blind && happens(random, 4, EVERY_MS))
      setLag(random.next() < staleReads ? random.int(options.longestReadLagMs) : 0);
  };
  return {
    pileUp() {
      // As often within a second as within minutes.
      if (random.next() < rates().pileUps) clock.after(Math.ceil(PILED_UP_MS ** random.next()), () => void (healed || misfortunes.any()));
    },
    start() {
      if (blind) setLag(FOR_EVER_MS);
      void (async () => {
        while (!over.signal.aborted) {
          if (!healed) draw();
          // A process that dies meanwhile never answers; the Guardian tries again next time.
          void lendHand(options, misfortunes, healed);
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
      machine.resume();
    },
    stop: () => over.abort(),
  };
}

/** For a while this specialist gets one follower after the other. */
function storm({ clock, random, crowd, tally, note }: FaultScheduleOptions, handle: string, over: () => boolean): void {
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
async function lendHand(options: FaultScheduleOptions, misfortunes: FaultInjector, healed: boolean): Promise<void> {
  const { machine, random, rates, tally, clock } = options;
  const store = machine.store();
  if (store === undefined) return;
  if (!healed && happens(random, rates().haltsPerDay, EVERY_MS)) await misfortunes.halt();
  else if (healed || random.next() < 0.2) {
    for (const { scope } of (await store.stops()).halts) await store.lift("halt", scope);
  }
  for (const { approval, intent } of await store.openApprovals(MAX_QUESTIONS, clock.now())) {
    tally.approvals++;
    const yes = healed || random.int(10) < YES;
    const shown = { ...approval, answerBy: answerBy(approval, intent) };
    await store.decideApproval(intent.id, yes ? { verdict: "approved", shown } : { verdict: "rejected" }, clock.now());
  }
}
