/** Whether a runtime does its work, for whoever watches over the process: a load balancer, systemd, an orchestrator. */
import type { Runtime } from "../runtime/runtime.ts";

export interface Readiness {
  readonly ready: boolean;
  /** Stable codes: `starting`, `stopping`, `store_lost`, `no_key_usable`. Empty when ready. */
  readonly reasons: readonly string[];
}

/** One specialist without a key does not make the process unready: the others work, and `status` tells. */
export function readinessOf(runtime: Runtime): Readiness {
  const members = runtime.members().filter(({ retired }) => !retired);
  const reasons: string[] = runtime.phase === "working" ? [] : [runtime.phase];
  if (members.length > 0 && members.every(({ keyTrouble }) => keyTrouble !== undefined)) reasons.push("no_key_usable");
  return { ready: reasons.length === 0, reasons };
}
