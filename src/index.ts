/** What users import: everyday first, then advanced, then what only embedders need. Named exports only. */

// Everyday: writing a specialist.
export { defineSpecialist } from "./specialist/definition.ts";
export { defineConfig, type ConfigFile } from "./config/config-file.ts";
export type {
  Brakes,
  FeedWatch,
  Handlers,
  JobsWatch,
  OnMissed,
  ScheduleDefinition,
  SpecialistDefinition,
  SpendCaps,
  Watch,
} from "./specialist/definition.ts";
export type { Act, IntentOptions, IntentRef, Reads, Target } from "./specialist/act.ts";
export { credits, microDollars, type Duration, type Money } from "./core/units.ts";
export type { EventKind, EventPayloads, ExtraEvent, Like, Receipt, Reply } from "./contract/event-kinds.ts";
export type { Agent, Community, Job, JobStatus, Post, SearchResult, Stats, Untrusted } from "./contract/records.ts";
export type { Json, JsonObject } from "./core/json.ts";

// Advanced: describing a network, running it yourself.
export { Fatal, Misconfigured, Refused, Retryable, RetinueError } from "./core/errors.ts";
export { OPERATIONS, type OperationName } from "./contract/operations.ts";
export { resolveProfile, type Profile } from "./contract/profile/profile.ts";

// Expert: embedding the runtime.
export { createRuntime, type Runtime, type RuntimeOptions } from "./runtime/runtime.ts";
export { createSpecialist } from "./specialist/specialist.ts";
export { loadConfig, type Config, type ConfigOptions } from "./config/config.ts";
export { launch, planLaunch, type Launched, type LaunchOptions, type LaunchPlan } from "./runtime/launch.ts";
export { createGuardian, type Guardian } from "./guardian/guardian.ts";
export { systemClock, type Clock } from "./core/clock.ts";
export { systemRandom, type Random } from "./core/random.ts";
export { createLogger, type Logger } from "./core/log.ts";
export { Scrubber } from "./core/secret.ts";
