/** The parts of a fleet's process: its stores with their runtimes, and all that it is made of. */
import type { PostgresAddress } from "../config/postgres-address.ts";
import type { Clock } from "../core/clock.ts";
import type { Secret } from "../core/secret.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { MembershipOptions } from "../store/postgres/membership.ts";
import type { KeyGroup } from "../store/postgres/placements.ts";
import type { HeldStore } from "../store/postgres/postgres-store.ts";
import type { ServerTime } from "../store/postgres/server-time.ts";
import type { Working } from "./giving.ts";
import type { CommonParts, LaunchOptions, LaunchPlan } from "./launch.ts";
import type { RuntimeOptions } from "./runtime-options.ts";
import type { Runtime } from "./runtime.ts";
import type { SilentProcesses } from "./silent-processes.ts";

/** Shards of this process, with the runtime of their specialists. */
export interface Part extends HeldStore, Working {
  readonly runtime: Runtime;
  readonly startedAt: number;
  /** Processes that lost its shards. */
  readonly silent: SilentProcesses;
}

export interface FleetOptions {
  readonly planned: LaunchPlan;
  readonly options: LaunchOptions;
  /** The clock of the options follows it. */
  readonly time: ServerTime;
  /** The machine's own clock. */
  readonly wall: Clock;
  readonly address: PostgresAddress;
  readonly common: CommonParts;
  /** Options of the runtime of each part, beside those of the process. */
  readonly perRuntime: Partial<RuntimeOptions>;
  /** By handle, so that processes with the same definitions are seen to have the same. */
  readonly specialists: () => readonly Specialist[];
  /** Specialists by their keys, with fingerprints by this salt: each group belongs to one process. */
  readonly keyGroups: (salt: Secret) => readonly KeyGroup[];
  /** Answers a request of another process. */
  readonly answer: (body: string, leftMs: number) => Promise<string | undefined>;
  /** Called each time before the process joins. Throws if it must not. */
  readonly admit: NonNullable<MembershipOptions["admit"]>;
  /** Called before a part begins. */
  readonly onPart: (part: Part) => Promise<void>;
}
