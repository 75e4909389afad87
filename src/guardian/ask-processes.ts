/** Asks all processes of a fleet if they work, at once and for a short time. */
import { defined } from "../core/defined.ts";
import { isRetinueError } from "../core/errors.ts";
import { isObject, numberIn, parseJson, textIn } from "../core/json.ts";
import { HELLO, HELLO_MS } from "../runtime/hello.ts";
import type { FleetProcess } from "../store/postgres/fleet-view.ts";
import type { Membership } from "../store/postgres/membership.ts";

export interface Heard {
  readonly answers: boolean;
  /** How far the clock of its machine is ahead of the server's. */
  readonly aheadOfServerMs?: number;
  /** A digest of its definitions and the Guardian's settings. */
  readonly definitions?: string;
  /** Events that wait for a handler, and for how long the oldest does. */
  readonly events?: number;
  readonly oldestEventMs?: number;
  /** The reason for which it can open no store, or not all that it should. */
  readonly trouble?: string;
}

/** By the number of the process. */
export async function askProcesses(
  membership: Pick<Membership, "ask">,
  processes: readonly FleetProcess[],
): Promise<ReadonlyMap<number, Heard>> {
  const heard = await Promise.all(processes.map(async (process) => [process.number, await askOne(membership, process)] as const));
  return new Map(heard);
}

async function askOne(membership: Pick<Membership, "ask">, process: FleetProcess): Promise<Heard> {
  try {
    const answer = parseJson(await membership.ask(process, HELLO, HELLO_MS));
    const result = isObject(answer) && isObject(answer["result"]) ? answer["result"] : {};
    return {
      answers: true,
      ...defined({
        aheadOfServerMs: numberIn(result, "aheadOfServerMs"),
        definitions: textIn(result, "definitions"),
        events: numberIn(result, "events"),
        oldestEventMs: numberIn(result, "oldestEventMs"),
        trouble: textIn(result, "trouble"),
      }),
    };
  } catch (error) {
    if (isRetinueError(error) && error.code === "process_silent") return { answers: false };
    throw error;
  }
}
