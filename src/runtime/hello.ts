/** A question that every running process of a fleet answers, whatever its version: one that is stopped does not. */
import { SECOND } from "../core/units.ts";
import type { FleetProcess } from "../store/postgres/fleet-view.ts";
import type { Membership } from "../store/postgres/membership.ts";
import type { SilentProcesses } from "./silent-processes.ts";

export const HELLO = JSON.stringify({ do: "hello" });
/** Time for the answer: a process that works takes milliseconds. */
export const HELLO_MS = SECOND;

export type Asking = Pick<Membership, "ask">;

/** Asks a living process if it works. One that does not answer is asked again at a later look. */
export function sayHello(membership: Asking, living: readonly FleetProcess[], number: number, answered: () => void): void {
  const process = living.find((one) => one.number === number);
  if (process !== undefined) membership.ask(process, HELLO, HELLO_MS).then(answered, () => undefined);
}

/** A process that is gone, or answers, sends nothing more of what it has lost. */
export function hearSilent(membership: Asking, living: readonly FleetProcess[], silent: SilentProcesses): void {
  for (const number of silent.numbers)
    if (!living.some((one) => one.number === number)) silent.heard(number);
    else sayHello(membership, living, number, () => silent.heard(number));
}
