/** Joins the parts of a simulated run: network, transports, machine, faults and oracle. */
import { resolveProfile, type Profile } from "../contract/profile/profile.ts";
import { createAnnouncer } from "../core/events.ts";
import { createLogger } from "../core/log.ts";
import { Secret } from "../core/secret.ts";
import { seededRandom, type Random } from "../core/random.ts";
import { virtualClock, type VirtualClock } from "../core/virtual-clock.ts";
import { DEFAULT_ASSUMPTIONS } from "../local-network/assumptions.ts";
import type { Deliver } from "../local-network/webhooks/deliver.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import { createLocalNetwork } from "../local-network/local-network.ts";
import type { ReceiverSettings } from "../webhooks/receiver-settings.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { createWebhookTransport, RECEIVER_URL } from "./webhook-transport.ts";
import { BUSY_TRAFFIC, createBackgroundTraffic, type BackgroundTraffic } from "./background-traffic.ts";
import { faultRates, drawFault, type FaultRates } from "./faults.ts";
import { checkSet } from "./given-in-test.ts";
import { createDisk, type Disk } from "./disk.ts";
import { createFaultSchedule, type FaultSchedule } from "./fault-schedule.ts";
import { createOracle, type Oracle } from "./oracle.ts";
import { createNetworkTransport } from "./network-transport.ts";
import { createLiveness, type Liveness } from "./liveness.ts";
import { createMachine, type Machine } from "./machine.ts";
import type { SimulateOptions } from "./simulate-options.ts";
import type { StagedModels } from "./staged-models.ts";
import { createStats, type Counting } from "./stats.ts";
import { createTrace, type Trace } from "./trace.ts";

export const DEFAULT_SEED = 1;
/** Factor on the local network's job waits, which are short for people who watch. */
const SCALE = 60;

export interface Stage {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  readonly crowd: BackgroundTraffic;
  readonly machine: Machine;
  readonly faultSchedule: FaultSchedule;
  readonly oracle: Oracle;
  readonly liveness: Liveness;
  readonly tally: Counting;
  readonly trace: Trace;
  readonly disk: Disk;
  /** The rates that the seed chose. */
  readonly faults: FaultRates;
  /** Cuts the machine off the network, or joins it again. */
  setOutage(down: boolean): void;
  /** Ends all faults and all traffic of others. */
  heal(): void;
}

/** Conditions that change during a run. */
interface Conditions {
  rates: FaultRates;
  outage: boolean;
}

/** Options of a run, and of its parts. */
export type StageOptions = Omit<SimulateOptions, "models"> & {
  /** Requests that the network's own record keeps. Default 1,000. */
  readonly keptRequests?: number;
  readonly comparedEvery?: number;
  readonly models?: StagedModels | undefined;
};

export function openStage(options: StageOptions, specialists: readonly Specialist[]): Stage {
  const { seed = DEFAULT_SEED, set = "b" } = options;
  checkSet(set);
  const handles = specialists.map(({ handle }) => handle);
  const clock = virtualClock();
  const random = seededRandom(seed);
  const profile = options.profile ?? resolveProfile({ extends: set === "a" ? "set-a" : "set-b" });
  const faults = faultRates(options.faults ?? "swarm", random.fork("faults"));
  const conditions: Conditions = { rates: faults, outage: false };
  const webhookTransport = createWebhookTransport({
    clock,
    random: random.fork("courier"),
    rates: () => conditions.rates,
    down: () => conditions.outage,
    take: (handle, delivery) => machine.deliver(handle, delivery),
    onAnswer(handle, delivery, status) {
      tally.deliveries++;
      note(`${handle} answered a delivery: ${status}`);
      if (status === 200 || status === 202) oracle.acknowledges(handle, delivery);
    },
  });
  const network = openNetwork(options, { clock, random, deliver: webhookTransport });
  const keys = new Map<string, string>(specialists.map(({ handle, tier }) => [handle, network.provision({ handle, tier, set }).key]));
  drawFault(network, handles, faults);
  const crowd = createBackgroundTraffic({
    clock,
    random: random.fork("crowd"),
    network,
    set,
    rates: { ...BUSY_TRAFFIC, ...options.crowd },
    content: options.crowd ?? {},
    specialists: handles,
  });
  const disk = createDisk({ clock, random: random.fork("disk") });
  const trace = createTrace();
  const tally = createStats();
  const note = (what: string): void => trace.note(clock.now(), what);
  const oracle = createOracle({ clock, disk, network, specialists, intentHeader: intentHeaderOf(profile) });
  const liveness = createLiveness({ clock, db: disk.db, onLate: (what) => oracle.isLate(what) });
  const setOutage = (down: boolean): void => void (conditions.outage = down);
  const onWrite = (): void => faultSchedule.pileUp();
  const scene = { options, specialists, clock, random, profile, network, keys, conditions, disk, tally, oracle, liveness, note, onWrite };
  const machine = createSimulatedMachine(scene);
  const faultSchedule = createFaultSchedule({
    clock,
    random: random.fork("happenings"),
    network,
    crowd,
    machine,
    handles,
    longestReadLagMs: profile.timing.readLagMs,
    rates: () => conditions.rates,
    tally,
    note,
    rotate: (handle) => network.regenerateKey(handle, set),
    pasteKey: (handle, key) => void keys.set(handle, key),
    setOutage,
    disturb: (until) => liveness.disturb(until),
  });
  const heal = (): void => {
    conditions.rates = faultRates("none", random);
    network.faults.clear();
    crowd.stop();
    faultSchedule.heal();
  };
  return { clock, network, crowd, machine, faultSchedule, oracle, liveness, tally, trace, disk, faults, setOutage, heal };
}

interface Ground {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly deliver: Deliver;
}

function openNetwork({ residents, assume, keptRequests = 1_000 }: StageOptions, { clock, random, deliver }: Ground): LocalNetwork {
  return createLocalNetwork({
    clock,
    random: random.fork("network"),
    scale: SCALE,
    webhooks: { deliver },
    keep: { requests: keptRequests },
    ...(residents === undefined ? {} : { residents }),
    assume: { webhookRetriesMs: DEFAULT_ASSUMPTIONS.webhookRetriesMs.map((ms) => Math.ceil(ms / SCALE)), ...assume },
  });
}

interface Scene extends Pick<Stage, "clock" | "network" | "disk" | "tally" | "oracle" | "liveness"> {
  readonly options: StageOptions;
  readonly specialists: readonly Specialist[];
  readonly random: Random;
  readonly profile: Profile;
  /** Content of each specialist's key file. */
  readonly keys: ReadonlyMap<string, string>;
  readonly conditions: Conditions;
  readonly note: (what: string) => void;
  /** Called as a specialist's write leaves. */
  readonly onWrite: () => void;
}

/** The receiver's address is known to the webhook transport alone: no socket reaches it. */
const RECEIVER: ReceiverSettings = {
  port: undefined,
  host: "",
  url: RECEIVER_URL,
  allowUnsigned: false,
  readSecrets: () => [new Secret("what the simulated network signs with")],
};

function createSimulatedMachine(scene: Scene): Machine {
  const { options, specialists, clock, random, profile, network, keys, conditions, disk, tally, oracle, liveness, note } = scene;
  const { set = "b", models } = options;
  const intentHeader = intentHeaderOf(profile);
  const transport = createNetworkTransport({
    clock,
    random: random.fork("link"),
    network,
    set,
    rates: () => conditions.rates,
    down: () => conditions.outage,
    lateLandingMs: profile.timing.lateLandingMs,
    votesOnce: profile.operations.get("posts.vote")?.effect === "at-most-once",
    onSend(request) {
      tally.requests++;
      note(`${request.method} ${request.path} ${request.headers[intentHeader] ?? ""}`);
      oracle.sends(request);
      if (request.headers[intentHeader] !== undefined) scene.onWrite();
    },
    aroundArrival: (request, arrive, { beyondBound }) => oracle.arrives(request, arrive, beyondBound),
    onAnswer: ({ path }, answer) => note(`${path} ${answer.kind} ${answer.kind === "answer" ? answer.status : answer.reason}`),
  });
  const announcer = createAnnouncer();
  announcer.on("gap", (gap) => oracle.recordGap(gap));
  announcer.on("run", (run) => tally.run(run));
  announcer.on("poll", (poll) => oracle.recordPoll(poll));
  return createMachine({
    clock,
    random: random.fork("machine"),
    disk,
    specialists,
    profile,
    baseUrl: set === "a" ? "http://network.invalid" : "http://network.invalid/v1",
    keyOf: (handle) => keys.get(handle),
    transport,
    log: createLogger({
      level: "error",
      now: () => clock.now(),
      sink: ({ message, fields }) => tally.error(`${message}: ${String(fields["message"])}`),
    }),
    announcer,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(models === undefined
      ? {}
      : { models: { settings: models.settings, send: (request) => clock.outside(() => models.send(request)) } }),
    ...(options.webhooks === true ? { receiver: RECEIVER } : {}),
    crashAt: options.crashAt,
    crashes: () => conditions.rates.crashes,
    onCommit(operation) {
      tally.commits++;
      note(operation);
      oracle.step();
    },
    onDeath(point, downMs) {
      tally.crashes++;
      note(`dies ${point}, down for ${downMs}`);
      liveness.disturb(clock.now() + downMs);
    },
    onDrift: (what) => oracle.hasDrifted(what),
    comparedEvery: options.comparedEvery,
    onBoot() {
      note("boots");
      liveness.disturb();
    },
  });
}

function intentHeaderOf({ idempotencyHeader }: Profile): string {
  return idempotencyHeader ?? "idempotency-key";
}
