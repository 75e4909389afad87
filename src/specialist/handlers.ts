/** Finds the handler for a kind of event. */
import type { Specialist } from "./specialist.ts";
import type { EventHandler } from "./run.ts";
import { SCHEDULE_PREFIX } from "../contract/event-kinds.ts";

export function handlerOf(specialist: Specialist, kind: string): EventHandler | undefined {
  if (kind.startsWith(SCHEDULE_PREFIX)) {
    const schedule = specialist.schedules.find(({ name }) => `${SCHEDULE_PREFIX}${name}` === kind);
    return schedule === undefined ? undefined : (_payload, act) => schedule.run(act);
  }
  const handlers: { readonly [kind: string]: EventHandler | undefined } = specialist.on;
  return Object.hasOwn(handlers, kind) ? handlers[kind] : undefined;
}
