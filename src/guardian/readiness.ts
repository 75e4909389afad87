/** Readiness of a runtime, for whatever supervises the process: a load balancer, systemd, an orchestrator. */
import type { FailureStreak } from "../gateway/member.ts";
import type { SeenRuntime } from "../runtime/seen-runtime.ts";

/** Consecutive failed handlings of one specialist. */
export interface FailingHandler extends FailureStreak {
  readonly handle: string;
}

export interface Readiness {
  readonly ready: boolean;
  /** Stable codes: `starting`, `stopping`, `store_lost`, `drained`, `no_key_usable`, `every_handling_fails`. Empty when ready. */
  readonly reasons: readonly string[];
  /** The failing handlers and their reasons, if none works. */
  readonly failing?: readonly FailingHandler[];
}

/** With fewer handlings, over all specialists, nothing is concluded. */
const LEAST_TRIES = 3;
const MAX_SHOWN = 10;

/**
 * One specialist without a key, or with failing handlers, does not make the process unready: the others work, and `status` shows it.
 * Specialists without a handling so far do not count.
 */
export function readinessOf(runtime: Pick<SeenRuntime, "members" | "phase" | "isDrained">): Readiness {
  const members = runtime.members().filter(({ retired }) => !retired);
  const reasons: string[] = runtime.phase === "working" ? [] : [runtime.phase];
  if (runtime.phase === "working" && runtime.isDrained === true) reasons.push("drained");
  if (members.length > 0 && members.every(({ keyTrouble }) => keyTrouble !== undefined)) reasons.push("no_key_usable");
  const failing = members.flatMap(({ handling, specialist: { handle } }) =>
    typeof handling === "object" ? [{ handle, ...handling }] : [],
  );
  const works = members.some(({ handling }) => handling === "works");
  if (works || failing.reduce((sum, { tries }) => sum + tries, 0) < LEAST_TRIES) return { ready: reasons.length === 0, reasons };
  const worst = failing.toSorted((a, b) => b.tries - a.tries).slice(0, MAX_SHOWN);
  return { ready: false, reasons: [...reasons, "every_handling_fails"], failing: worst };
}
