/** Joins the parts of a simulated run: network, transports, machine, faults and oracle. */
import { resolveProfile, type Profile } from "../contract/profile/profile.ts";
import { createAnnouncer } from "../core/events.ts";
import type { Clock } from "../core/clock.ts";
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
import { createOracle, type Oracle, type Violation } from "./oracle.ts";
import { createNetworkTransport } from "./network-transport.ts";
import { createLiveness, type Liveness } from "./liveness.ts";
import { createMachine, type Machine } from "./machine.ts";
import type { SimulatedPart } from "./simulated-work.ts";
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
  readonly parts: readonly StagePart[];
  readonly tally: Counting;
  readonly trace: Trace;
  /** The rates that the seed chose. */
  readonly faults: FaultRates;
  /** Promises that did not hold so far, in the order of time. */
  violations(): readonly Violation[];
  /** Cuts the machine off the network, or joins it again. */
  setOutage(down: boolean): void;
  /** Ends all faults and all traffic of others. */
  heal(): void;
}

/** Specialists that are in one process at a time, with their rows and what judges them. */
export interface StagePart {
  readonly specialists: readonly Specialist[];
  readonly disk: Disk;
  readonly oracle: Oracle;
  readonly liveness: Liveness;
}

/** Parts for each process, so that not all that one leaves goes to the same one. */
const PARTS_EACH = 2;

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
      if (status === 200 || status === 202) partOf(handle)?.oracle.acknowledges(handle, delivery);
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
  const trace = createTrace();
  const tally = createStats();
  const note = (what: string): void => trace.note(clock.now(), what);
  const parts = createParts(specialists, options.processes, { clock, random, network, intentHeader: intentHeaderOf(profile) });
  const partOf = (handle: string): StagePart | undefined => parts.find((part) => part.specialists.some((one) => one.handle === handle));
  const disturb = (until: number): void => parts.forEach(({ liveness }) => liveness.disturb(until));
  const setOutage = (down: boolean): void => void (conditions.outage = down);
  const onWrite = (): void => faultSchedule.pileUp();
  const scene = { options, parts, clock, random, profile, network, keys, conditions, tally, note, onWrite, disturb };
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
    disturb,
  });
  const heal = (): void => {
    conditions.rates = faultRates("none", random);
    network.faults.clear();
    crowd.stop();
    faultSchedule.heal();
  };
  const violations = (): readonly Violation[] => parts.flatMap(({ oracle }) => oracle.violations).toSorted((a, b) => a.at - b.at);
  return { clock, network, crowd, machine, faultSchedule, parts, tally, trace, faults, violations, setOutage, heal };
}

interface PartOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: LocalNetwork;
  readonly intentHeader: string;
}

function createParts(
  specialists: readonly Specialist[],
  processes: number | undefined,
  { clock, random, network, intentHeader }: PartOptions,
): readonly StagePart[] {
  return divided(specialists, processes).map((group, i) => {
    const disk = createDisk({ clock, random: random.fork(named("disk", i)) });
    const oracle = createOracle({ clock, disk, network, specialists: group, intentHeader });
    return { specialists: group, disk, oracle, liveness: createLiveness({ clock, db: disk.db, onLate: (what) => oracle.isLate(what) }) };
  });
}

/** Specialists in turn, so that each process has some as long as there are enough. */
function divided(specialists: readonly Specialist[], processes = 1): readonly (readonly Specialist[])[] {
  const count = processes === 1 ? 1 : Math.min(specialists.length, PARTS_EACH * processes);
  return Array.from({ length: count }, (_, i) => specialists.filter((_one, n) => n % count === i));
}

/** The name of a part's own randomness; the first part of all is the only one of most runs. */
function named(name: string, part: number): string {
  return part === 0 ? name : `${name} ${part}`;
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

interface Scene extends Pick<Stage, "clock" | "network" | "parts" | "tally"> {
  readonly options: StageOptions;
  readonly random: Random;
  readonly profile: Profile;
  /** Content of each specialist's key file. */
  readonly keys: ReadonlyMap<string, string>;
  readonly conditions: Conditions;
  readonly note: (what: string) => void;
  /** Called as a specialist's write leaves. */
  readonly onWrite: () => void;
  /** Due work may be late until then. */
  readonly disturb: (until: number) => void;
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
  const { options, parts, clock, random, profile, keys, conditions, tally, note, disturb } = scene;
  const { set = "b", models } = options;
  return createMachine({
    clock,
    random: random.fork("machine"),
    processes: options.processes,
    parts: parts.map((part, i) => simulatedPart(scene, part, random.fork(named("link", i)))),
    profile,
    baseUrl: set === "a" ? "http://network.invalid" : "http://network.invalid/v1",
    keyOf: (handle) => keys.get(handle),
    log: createLogger({
      level: "error",
      now: () => clock.now(),
      sink: ({ message, fields }) => tally.error(`${message}: ${String(fields["message"])}`),
    }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(models === undefined
      ? {}
      : { models: { settings: models.settings, send: (request) => clock.outside(() => models.send(request)) } }),
    ...(options.webhooks === true ? { receiver: RECEIVER } : {}),
    crashAt: options.crashAt,
    crashes: () => conditions.rates.crashes,
    onDeath(point, downMs) {
      tally.crashes++;
      note(`dies ${point}, down for ${downMs}`);
    },
    onDisturbed: disturb,
    onTakeover() {
      tally.takeovers++;
      note("is taken over");
    },
    comparedEvery: options.comparedEvery,
  });
}

function simulatedPart(
  { options, clock, profile, network, conditions, tally, note, onWrite }: Scene,
  { specialists, disk, oracle, liveness }: StagePart,
  random: Random,
): SimulatedPart {
  const intentHeader = intentHeaderOf(profile);
  const transport = createNetworkTransport({
    clock,
    random,
    network,
    set: options.set ?? "b",
    rates: () => conditions.rates,
    down: () => conditions.outage,
    lateLandingMs: profile.timing.lateLandingMs,
    votesOnce: profile.operations.get("posts.vote")?.effect === "at-most-once",
    onSend(request) {
      tally.requests++;
      note(`${request.method} ${request.path} ${request.headers[intentHeader] ?? ""}`);
      oracle.sends(request);
      if (request.headers[intentHeader] !== undefined) onWrite();
    },
    aroundArrival: (request, arrive, { beyondBound }) => oracle.arrives(request, arrive, beyondBound),
    onAnswer: ({ path }, answer) => note(`${path} ${answer.kind} ${answer.kind === "answer" ? answer.status : answer.reason}`),
  });
  const announcer = createAnnouncer();
  announcer.on("gap", (gap) => oracle.recordGap(gap));
  announcer.on("run", (run) => tally.run(run));
  announcer.on("poll", (poll) => oracle.recordPoll(poll));
  return {
    specialists,
    disk,
    transport,
    announcer,
    onCommit(operation) {
      tally.commits++;
      note(operation);
      oracle.step();
    },
    onDrift: (what) => oracle.hasDrifted(what),
    onBoot() {
      note("boots");
      liveness.disturb();
    },
  };
}

function intentHeaderOf({ idempotencyHeader }: Profile): string {
  return idempotencyHeader ?? "idempotency-key";
}
