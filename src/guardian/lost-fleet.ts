/** The status of a process of a fleet whose server cannot be used: what it knows by itself, with the halts that no store has. */
import { SECOND } from "../core/units.ts";
import type { LaunchedFleet } from "../runtime/launch-fleet.ts";
import { lossShown } from "../store/store-lost.ts";
import type { Guardian } from "./guardian.ts";
import { statusOfLost } from "./status.ts";

/** The remedy where the reason is no mistake. */
const MEND_THE_SERVER = "mend the server of the store, or the way to it; the processes go on by themselves";

/** The same, with a status of the process alone while all its stores are lost. */
export function withStatusOfLost(guardian: Guardian, { runtime, baseUrl }: LaunchedFleet): Guardian {
  return {
    ...guardian,
    async status(query) {
      try {
        return await guardian.status(query);
      } catch (error) {
        const { clock, storeLost, unkeptHalts, profile } = runtime.parts;
        const lost = storeLost();
        if (lost === undefined) throw error;
        return statusOfLost({
          at: clock.now(),
          running: { pid: process.pid, since: clock.now() - Math.round(process.uptime() * SECOND), baseUrl, set: profile.set },
          storeLost: { hint: MEND_THE_SERVER, ...lossShown(lost) },
          unkept: unkeptHalts.all(),
        });
      }
    },
  };
}
