/** Runs specialists on virtual time against the local network, with faults, and checks the promises after every step. */
import { Misconfigured } from "../core/errors.ts";
import { DAY, HOUR, MINUTE } from "../core/units.ts";
import { checkDefinition } from "./given-in-test.ts";
import { createSpecialist, type Specialist } from "../specialist/specialist.ts";
import type { FaultRates } from "./faults.ts";
import type { Violation } from "./oracle.ts";
import type { SimulateOptions } from "./simulate-options.ts";
import { DEFAULT_SEED, openStage, type Stage } from "./stage.ts";
import { modelInTest, openStagedModels, requireModels } from "./staged-models.ts";
import type { SimulationStats } from "./stats.ts";

/** The result of a simulation: whether every promise held, each violation, and its numbers. */
export interface Simulation {
  readonly seed: number;
  readonly ok: boolean;
  readonly violations: readonly Violation[];
  /** Errors that the runtime logged, each once. */
  readonly errors: readonly string[];
  /** Hash of the run's trace: equal exactly if two runs did the same. */
  readonly trace: string;
  /** The last lines of the trace, to explain a failure. */
  readonly tail: readonly string[];
  readonly virtualMs: number;
  /** Points at which a process could have died. */
  readonly boundaries: number;
  readonly faults: FaultRates;
  readonly stats: SimulationStats;
}

/** Once faults have ended, unfinished work of which nothing was finished for this virtual time counts as lost. */
const STUCK_MS = 3 * DAY;
/** Longest virtual time for all of it: a backlog leaves no faster than the quota of its days. */
const HEALING_MS = 60 * DAY;
/** Steps of virtual time between two reports of progress: a fraction of a second. */
const STEPS_TOLD = 100;
const DEFAULT_DAYS = 7;
const MAX_DAYS = 3_660;
export const MAX_PROCESSES = 16;

/** Runs a simulation. Throws `Misconfigured` on unusable options; a broken promise is a result. */
export async function simulate(options: SimulateOptions): Promise<Simulation> {
  const spanMs = spanOf(options);
  options.specialists.forEach(checkDefinition);
  const specialists = options.specialists.map((given) => ("deadlineMs" in given ? given : createSpecialist(given)));
  checkProcesses(options.processes);
  if (specialists.length === 0) throw new Misconfigured("specialists_empty", "expected at least one specialist to simulate, got none");
  requireModels(specialists, options.models ?? {}, modelInTest);
  const models = options.models && (await openStagedModels(options.models));
  try {
    return await simulateOn(openStage({ ...options, models }, specialists), options, { specialists, spanMs });
  } finally {
    await models?.close();
  }
}

interface Course {
  readonly specialists: readonly Specialist[];
  readonly spanMs: number;
}

async function simulateOn(stage: Stage, options: SimulateOptions, { specialists, spanMs }: Course): Promise<Simulation> {
  const { clock, network, crowd, faultSchedule, machine, parts, tally, trace } = stage;
  const began = clock.monotonic();
  let steps = 0;
  const effects = (): number => parts.reduce((sum, { oracle }) => sum + oracle.effects, 0);
  const broken = (): boolean => {
    if (steps++ % STEPS_TOLD === 0)
      options.onProgress?.({ virtualMs: clock.monotonic() - began, requests: tally.requests, effects: effects() });
    return (options.stopAtViolation ?? true) && parts.some(({ oracle }) => oracle.violations.length > 0);
  };

  network.start();
  crowd.start();
  faultSchedule.start();
  for (const { liveness } of parts) liveness.start();
  machine.boot();
  await clock.runUntil(broken, spanMs);

  stage.heal();
  const healedAt = clock.now();
  let left = Number.POSITIVE_INFINITY;
  let stuckMs = 0;
  for (let waited = 0; waited < HEALING_MS && stuckMs < STUCK_MS && !broken() && !(waited >= HOUR && left === 0); waited += 10 * MINUTE) {
    await clock.runUntil(broken, 10 * MINUTE);
    const unfinished = parts.reduce((sum, { oracle }) => sum + oracle.unfinished(healedAt).length, 0);
    stuckMs = unfinished < left ? 0 : stuckMs + 10 * MINUTE;
    left = unfinished;
  }
  for (const { liveness } of parts) liveness.stop();
  await clock.run(machine.stop(), HOUR);
  if (!broken()) for (const { oracle } of parts) oracle.close(healedAt, crowd.posts);
  faultSchedule.stop();
  await clock.run(network.stop());
  const counted = tally.close({
    databases: parts.map(({ disk }) => disk.db),
    effects: effects(),
    lives: machine.lives,
    specialists,
    backlog: parts.flatMap(({ oracle }) => oracle.backlog()),
  });
  for (const { disk } of parts) disk.close();
  const violations = stage.violations();
  return {
    seed: options.seed ?? DEFAULT_SEED,
    ok: violations.length === 0,
    violations,
    errors: tally.errors(),
    trace: trace.digest(),
    tail: trace.tail(),
    virtualMs: spanMs,
    boundaries: machine.boundaries,
    faults: stage.faults,
    stats: counted,
  };
}

function checkProcesses(processes = 1): void {
  if (!Number.isInteger(processes) || processes < 1 || processes > MAX_PROCESSES)
    throw new Misconfigured("option_invalid", `expected from 1 to ${MAX_PROCESSES} processes, got ${processes}`);
}

function spanOf({ days, hours }: SimulateOptions): number {
  const ms = days === undefined && hours === undefined ? DEFAULT_DAYS * DAY : (days ?? 0) * DAY + (hours ?? 0) * HOUR;
  if (!(ms > 0) || ms > MAX_DAYS * DAY)
    throw new Misconfigured("span_invalid", `expected a time from 1 ms to ${MAX_DAYS} days, got ${ms} ms`);
  return ms;
}
