/** Injects faults into a simulated machine and acts for its Guardian, drawn every few virtual minutes. */
import { sleep } from "../core/clock.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import { answerBy } from "../limits/approvals.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import type { BackgroundTraffic } from "./background-traffic.ts";
import type { Store } from "../store/store.ts";
import { happens, jumpMs, slipMs } from "./faults.ts";
import { createFaultInjector, SHORT_STOP_MS, unlessLost, type FaultInjectorOptions, type FaultInjector } from "./inject-faults.ts";

const EVERY_MS = 10 * MINUTE;
/** Gap between the followers of a storm: shorter than anything the runtime waits for. */
const STORM_GAP_MS = { least: 500, most: 4 * SECOND };
const LONGEST_STORM_MS = 2 * HOUR;
/** Share of stops and outages that last for hours. It is small because a run finds nothing meanwhile. */
const LONG_SHARE = 0.05;
/** Piled-up faults follow a write within this time. */
const PILED_UP_MS = 5 * MINUTE;
/** Longer than any run. */
const FOR_EVER_MS = 36_600 * DAY;
/** The Guardian approves this many of ten questions. */
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
  /** Called as a write leaves: it may inject a fault while the outcome is open. */
  pileUp(): void;
  /** Ends all faults for the rest of the run. */
  heal(): void;
  stop(): void;
}

export function createFaultSchedule(options: FaultScheduleOptions): FaultSchedule {
  const { clock, random, network, machine, handles, note, rates } = options;
  const over = new AbortController();
  const blind = random.next() < rates().blindReads;
  let healed = false;
  const injector = createFaultInjector(options);
  const setLag = (ms: number): void => {
    note(`reads lag by ${ms}`);
    network.assume({ readLagMs: ms });
  };
  const draw = (): void => {
    const { stopsPerDay, clockJumpsPerDay, clockSlipsPerDay, keyRotationsPerDay, outagesPerDay, followStormsPerDay, staleReads } = rates();
    const { disconnectionsPerDay, departuresPerDay } = rates();
    if (happens(random, stopsPerDay, EVERY_MS)) injector.freeze(random.next() < LONG_SHARE ? 8 * HOUR : SHORT_STOP_MS);
    if (happens(random, clockJumpsPerDay, EVERY_MS)) injector.jump(jumpMs(random));
    if (happens(random, clockSlipsPerDay, EVERY_MS)) injector.jump(slipMs(random));
    if (happens(random, keyRotationsPerDay, EVERY_MS)) injector.rotate();
    if (happens(random, outagesPerDay, EVERY_MS)) injector.outage(random.next() < LONG_SHARE ? 20 * HOUR : HOUR);
    if (machine.isFleet) {
      if (happens(random, disconnectionsPerDay, EVERY_MS)) injector.disconnect();
      if (happens(random, departuresPerDay, EVERY_MS)) injector.leave();
    }
    if (happens(random, followStormsPerDay, EVERY_MS)) storm(options, random.pick(handles), () => healed);
    if (staleReads > 0 && !blind && happens(random, 4, EVERY_MS))
      setLag(random.next() < staleReads ? random.int(options.longestReadLagMs) : 0);
  };
  return {
    pileUp() {
      // The exponent makes a delay within a second as likely as one within minutes.
      if (random.next() < rates().pileUps) clock.after(Math.ceil(PILED_UP_MS ** random.next()), () => void (healed || injector.any()));
    },
    start() {
      if (blind) setLag(FOR_EVER_MS);
      void (async () => {
        while (!over.signal.aborted) {
          if (!healed) draw();
          // A process that dies meanwhile never answers; the Guardian tries again next time.
          void actAsGuardian(options, injector, healed);
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

/** Sends one follower after another to this specialist for a while. */
function storm({ clock, random, crowd, tally, note }: FaultScheduleOptions, handle: string, over: () => boolean): void {
  const until = clock.now() + random.int(LONGEST_STORM_MS);
  tally.storms++;
  note(`${handle} is followed by many until ${until}`);
  const followNext = (): void => {
    if (over() || clock.now() >= until) return;
    crowd.follow(handle);
    clock.after(STORM_GAP_MS.least + random.int(STORM_GAP_MS.most), followNext);
  };
  followNext();
}

/** Acts as the Guardian: halts writes, lifts a halt, answers approvals. */
async function actAsGuardian(options: FaultScheduleOptions, injector: FaultInjector, healed: boolean): Promise<void> {
  const { machine, random, rates } = options;
  const stores = machine.stores();
  if (stores.length === 0) return;
  const halts = !healed && happens(random, rates().haltsPerDay, EVERY_MS);
  const lifts = !halts && (healed || random.next() < 0.2);
  if (halts) await injector.halt();
  await Promise.all(stores.map((store) => unlessLost(decide(options, store, { lifts, healed }))));
}

interface Mood {
  readonly lifts: boolean;
  readonly healed: boolean;
}

async function decide({ random, tally, clock }: FaultScheduleOptions, store: Store, { lifts, healed }: Mood): Promise<void> {
  if (lifts) for (const { scope } of (await store.stops()).halts) await store.lift("halt", scope);
  for (const { approval, intent } of await store.openApprovals(MAX_QUESTIONS, clock.now())) {
    tally.approvals++;
    const yes = healed || random.int(10) < YES;
    const shown = { ...approval, answerBy: answerBy(approval, intent) };
    await store.decideApproval(intent.id, yes ? { verdict: "approved", shown } : { verdict: "rejected" }, clock.now());
  }
}
