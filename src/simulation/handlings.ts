/** Counts the handlings of a simulated run: which specialist decided nothing, and what failed. */
import type { Announcements } from "../core/events.ts";
import type { Specialist } from "../specialist/specialist.ts";

export interface Handlings {
  /** Counts one handling. */
  add(run: Announcements["run"]): void;
  /** Specialists that may act and never decided to, with the number of events their handlers took. */
  undecided(specialists: readonly Specialist[]): { readonly [handle: string]: number };
  /** By `handle kind: message`. */
  failures(): { readonly [what: string]: number };
}

const MAX_FAILURES = 20;
const MAX_MESSAGE = 200;

export function createHandlings(): Handlings {
  const handled = new Map<string, { runs: number; intents: number }>();
  const failures = new Map<string, number>();
  return {
    add({ handle, kind, result, intents, message = "", tries }) {
      if (result === "finished") {
        const before = handled.get(handle) ?? { runs: 0, intents: 0 };
        handled.set(handle, { runs: before.runs + 1, intents: before.intents + intents });
      }
      if (tries === undefined) return;
      const what = `${handle} ${kind}: ${message.slice(0, MAX_MESSAGE)}`;
      if (failures.has(what) || failures.size < MAX_FAILURES) failures.set(what, (failures.get(what) ?? 0) + 1);
    },
    undecided: (specialists) =>
      Object.fromEntries(
        specialists
          .filter(({ handle, may }) => may.length > 0 && (handled.get(handle)?.intents ?? 0) === 0)
          .map(({ handle }) => [handle, handled.get(handle)?.runs ?? 0]),
      ),
    failures: () => Object.fromEntries(failures),
  };
}
