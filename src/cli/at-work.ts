/** The work of a process under a command: a runtime, or several as one, with the Guardian's interface to it. */
import type { Guardian } from "../guardian/guardian.ts";
import type { SpecialistShown } from "../guardian/status.ts";
import type { Stop } from "../limits/verdict.ts";
import type { LaunchPlan, Life } from "../runtime/launch.ts";
import type { SeenRuntime } from "../runtime/seen-runtime.ts";
import type { Caller } from "../store/orders.ts";

export interface AtWork extends LaunchPlan, Life {
  readonly runtime: SeenRuntime;
  /** True if unsigned deliveries are accepted, as hints. */
  readonly isUnsigned: () => boolean;
  readonly guardianOf: (caller: Caller) => Guardian;
  /** The halts in force at the start. */
  readonly halts: () => Promise<readonly Stop[]>;
  /** The specialists that run here. */
  readonly shown: () => Promise<readonly SpecialistShown[]>;
}
