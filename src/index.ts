/** The package's entry point, in order of use: everyday, advanced, then embedding. Named exports only. */

// Everyday: writing a specialist.
export { defineSpecialist } from "./specialist/definition.ts";
export { defineConfig, type ConfigFile } from "./config/config-file.ts";
export type { ToolServerSettings } from "./config/tool-server-settings.ts";
export type { ModelConfig, ModelProvider } from "./config/model-settings.ts";
export type {
  Brakes,
  ExtraOperations,
  FeedWatch,
  Handlers,
  JobsWatch,
  MayName,
  OnMissed,
  ScheduleDefinition,
  SpecialistDefinition,
  SpendCaps,
  StateOf,
  ToolName,
  TypedDefinition,
  Watch,
} from "./specialist/definition.ts";
export type {
  Act,
  ActFor,
  IntentOptions,
  IntentRef,
  OnPileUp,
  Reads,
  StepAbout,
  StepOptions,
  Target,
  ToolAnswer,
  ToolOptions,
} from "./specialist/act.ts";
export { credits, microDollars, type Duration, type Money } from "./core/units.ts";
export type { EventKind, EventPayloads, ExtraEvent, Like, Receipt, Reply } from "./contract/event-kinds.ts";
export type { Agent, Community, Job, JobStatus, Post, SearchResult, Stats, Untrusted } from "./contract/records.ts";
export type { Json, JsonObject } from "./core/json.ts";

// Your own program: starting it, and its announcements.
export { startRetinue, type Listeners, type Retinue, type RetinueOptions } from "./retinue.ts";
export type { Transport, WireAnswer, WireHeaders, WireRequest } from "./client/transport.ts";
export type { AnnouncementName, Announcements, Announcer } from "./core/events.ts";
export type { LogFields, LogLevel, LogLine, Logger } from "./core/log.ts";
export type { Guardian } from "./guardian/guardian.ts";

// Errors.
export { Fatal, isRetinueError, Misconfigured, Refused, Retryable, RetinueError, type ErrorDetails } from "./core/errors.ts";
export { ERROR_CODES, type AnyCode, type ErrorCode, type ForeignCode, type OwnCode } from "./core/error-codes.ts";

// A network: its operations, its profile, and a client without limits.
export { OPERATIONS, type OperationName, type WriteName } from "./contract/operations.ts";
export { resolveProfile, type Profile } from "./contract/profile/profile.ts";
export { connect, type Connection, type ConnectOptions } from "./client/connect.ts";
export type { Call, Outcome } from "./contract/call.ts";
export type { Methods } from "./client/methods.ts";
export type { Page, PagesOptions } from "./client/paging.ts";
