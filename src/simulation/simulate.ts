/** Runs specialists on virtual time against the local network, with faults, and checks the promises after every step. */
import type { EndpointSet } from "../contract/operations.ts";
import { resolveProfile, type Profile } from "../contract/profile.ts";
import { Misconfigured } from "../core/errors.ts";
import { createAnnouncer } from "../core/events.ts";
import { createLogger } from "../core/log.ts";
import { seededRandom } from "../core/random.ts";
import { DAY, HOUR, MINUTE } from "../core/units.ts";
import { virtualClock } from "../core/virtual-clock.ts";
import type { Assumptions } from "../network/assumptions.ts";
import { createLocalNetwork } from "../network/network.ts";
import type { ResidentOptions } from "../network/residents.ts";
import type { SpecialistDefinition } from "../specialist/definition.ts";
import { createSpecialist, type Specialist } from "../specialist/specialist.ts";
import { MEMORY, openDatabase } from "../store/sqlite/database.ts";
import { BUSY_CROWD, createCrowd, type CrowdRates } from "./crowd.ts";
import { faultRates, misbehave, type FaultChoice, type FaultRates } from "./faults.ts";
import { createHappenings } from "./happenings.ts";
import { createJudge, type Violation } from "./judge.ts";
import { createLink } from "./link.ts";
import { createMachine } from "./machine.ts";
import { createTally, type Tally } from "./tally.ts";
import { createTrace } from "./trace.ts";

export interface SimulateOptions {
  /** Definitions, or what `createSpecialist` made of them. */
  readonly specialists: readonly (SpecialistDefinition | Specialist)[];
  /** The same seed gives the same run. Default 1. */
  readonly seed?: number;
  /** How long, in virtual time; both add up. Default 7 days. */
  readonly days?: number;
  readonly hours?: number;
  /** Default `"swarm"`. */
  readonly faults?: FaultChoice;
  readonly set?: EndpointSet;
  /** Default: the set's own, as shipped. */
  readonly profile?: Profile;
  /** The other people. Default: a few posts, replies and jobs an hour. */
  readonly crowd?: Partial<CrowdRates>;
  /** The local network's residents as well, who offer tasks that are checked. Default none. */
  readonly residents?: ResidentOptions;
  /** What the network does otherwise than by default. */
  readonly assume?: Partial<Assumptions>;
  /** Stands in for models and other services. Default: refuses. */
  readonly fetch?: typeof globalThis.fetch;
  /** The first process dies at this boundary, counted from 0: to cut a flow at each of its points in turn. */
  readonly crashAt?: number;
  /** Ends at the first promise that does not hold. Default true. */
  readonly stopAtViolation?: boolean;
}

export interface Simulation {
  readonly seed: number;
  readonly ok: boolean;
  readonly violations: readonly Violation[];
  /** What the runtime logged as an error, each once. */
  readonly errors: readonly string[];
  /** Equal for two runs exactly when everything in them was. */
  readonly trace: string;
  /** The last things that happened, for finding out why. */
  readonly tail: readonly string[];
  readonly virtualMs: number;
  /** Places at which a process could have died. */
  readonly boundaries: number;
  readonly faults: FaultRates;
  readonly tally: Tally;
}

/** Virtual time in which everything must come to rest once nothing fails any more. */
const HEALING_MS = 3 * DAY;
const DEFAULT_DAYS = 7;
const MAX_DAYS = 3_660;

/** Runs it. Throws `Misconfigured` on options it cannot use; a broken promise is a result. */
export async function simulate(options: SimulateOptions): Promise<Simulation> {
  const { seed = 1, set = "b" } = options;
  const spanMs = spanOf(options);
  const specialists = options.specialists.map((given) => ("deadlineMs" in given ? given : createSpecialist(given)));
  if (specialists.length === 0) throw new Misconfigured("specialists_empty", "expected at least one specialist to simulate, got none");
  const handles = specialists.map(({ handle }) => handle);
  const clock = virtualClock();
  const random = seededRandom(seed);
  const profile = options.profile ?? resolveProfile({ extends: set === "a" ? "set-a" : "set-b" });
  let rates = faultRates(options.faults ?? "swarm", random.fork("faults"));
  const chosen = rates;

  const network = createLocalNetwork({
    clock,
    random: random.fork("network"),
    scale: 60,
    keep: { requests: 1_000 },
    ...(options.residents === undefined ? {} : { residents: options.residents }),
    ...(options.assume === undefined ? {} : { assume: options.assume }),
  });
  const keys = new Map(specialists.map(({ handle, tier }) => [handle as string, network.provision({ handle, tier, set }).key]));
  misbehave(network, handles, rates);
  const crowd = createCrowd({
    clock,
    random: random.fork("crowd"),
    network,
    set,
    rates: { ...BUSY_CROWD, ...options.crowd },
    specialists: handles,
  });

  const disk = openDatabase(MEMORY);
  const trace = createTrace();
  const tally = createTally();
  const judge = createJudge({ clock, db: disk.db, network, specialists, intentHeader: profile.idempotencyHeader ?? "idempotency-key" });
  const note = (what: string): void => trace.note(clock.now(), what);
  const announcer = createAnnouncer();
  let outage = false;

  const link = createLink({
    clock,
    random: random.fork("link"),
    network,
    set,
    rates: () => rates,
    down: () => outage,
    lateLandingMs: profile.timing.lateLandingMs,
    onSend(request) {
      tally.requests++;
      note(`${request.method} ${request.path} ${request.headers["idempotency-key"] ?? ""}`);
      judge.sends(request);
    },
    aroundArrival: judge.arrives,
    onAnswer: (request, answer) => note(`${request.path} ${answer.kind} ${answer.kind === "answer" ? answer.status : answer.reason}`),
  });
  const machine = createMachine({
    clock,
    random: random.fork("machine"),
    disk,
    specialists,
    profile,
    baseUrl: set === "a" ? "http://network.invalid" : "http://network.invalid/v1",
    keyOf: (handle) => keys.get(handle),
    transport: link,
    log: createLogger({
      level: "error",
      now: () => clock.now(),
      sink: ({ message, fields }) => tally.error(`${message}: ${String(fields["message"])}`),
    }),
    announcer,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    crashAt: options.crashAt,
    crashes: () => rates.crashes,
    onCommit(operation) {
      tally.commits++;
      note(operation);
      judge.step();
    },
    onDeath(point, downMs) {
      tally.crashes++;
      note(`dies ${point}, down for ${downMs}`);
    },
    onBoot: () => note("boots"),
  });
  const happenings = createHappenings({
    clock,
    random: random.fork("happenings"),
    network,
    machine,
    handles,
    set,
    quietReadLagMs: profile.timing.readLagMs,
    rates: () => rates,
    tally,
    note,
    rotate: (handle) => network.regenerateKey(handle, set),
    pasteKey: (handle, key) => void keys.set(handle, key),
    setOutage: (down) => void (outage = down),
  });

  const broken = (): boolean => (options.stopAtViolation ?? true) && judge.violations.length > 0;
  network.start();
  crowd.start();
  happenings.start();
  machine.boot();
  await clock.runUntil(broken, spanMs);

  // Everything heals; what was decided has to come to its end.
  rates = faultRates("none", random);
  network.faults.clear();
  crowd.stop();
  happenings.heal();
  const healedAt = clock.now() + Math.max(0, machine.skewMs);
  const quiet = (): boolean => judge.unfinished(healedAt).length === 0;
  for (let waited = 0; waited < HEALING_MS && !broken() && !(waited >= HOUR && quiet()); waited += 10 * MINUTE)
    await clock.runUntil(broken, 10 * MINUTE);
  await clock.run(machine.stop(), HOUR);
  if (!broken()) judge.close(healedAt);
  happenings.stop();
  await clock.run(network.stop());
  const counted = tally.close(disk.db, judge.effects, machine.lives);
  disk.close();
  return {
    seed,
    ok: judge.violations.length === 0,
    violations: judge.violations,
    errors: tally.errors(),
    trace: trace.digest(),
    tail: trace.tail(),
    virtualMs: spanMs,
    boundaries: machine.boundaries,
    faults: chosen,
    tally: counted,
  };
}

function spanOf({ days, hours }: SimulateOptions): number {
  const ms = days === undefined && hours === undefined ? DEFAULT_DAYS * DAY : (days ?? 0) * DAY + (hours ?? 0) * HOUR;
  if (!(ms > 0) || ms > MAX_DAYS * DAY)
    throw new Misconfigured("span_invalid", `expected a time from 1 ms to ${MAX_DAYS} days, got ${ms} ms`);
  return ms;
}
