/** Asks all processes of a fleet if they work, at once and for a short time, and one of them a question for as long as it works. */
import { sleep, type Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { isRetinueError, Refused, Retryable } from "../core/errors.ts";
import { isObject, numberIn, parseJson, textIn } from "../core/json.ts";
import { SECOND } from "../core/units.ts";
import { HELLO, HELLO_MS } from "../runtime/hello.ts";
import type { FleetProcess } from "../store/postgres/fleet-view.ts";
import type { Membership } from "../store/postgres/membership.ts";

/** Time for the answer to a question of a process that works. */
const ANSWER_MS = 10 * SECOND;
/** A question is given up after so many unanswered hellos: its process is stopped, or its thread is blocked. */
const MOST_HELLOS = 2;

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

/** Throws `Refused` (`nothing_found`) if the process has ended, and `Retryable` (`process_silent`) if it does not answer. */
export async function askQuestion(
  membership: Pick<Membership, "ask" | "look">,
  process: FleetProcess,
  question: string,
  clock: Clock,
): Promise<string> {
  const done = new AbortController();
  try {
    const silence = greetUntilSilent(membership, process, clock, done.signal);
    const answer = membership.ask(process, question, ANSWER_MS, done.signal).catch((error: unknown) => {
      throw isProcessSilent(error) ? silent(process, `has not answered within ${ANSWER_MS / SECOND} s`) : error;
    });
    return await Promise.race([answer, silence]);
  } catch (error) {
    if (!isProcessSilent(error)) throw error;
    const { processes } = await membership.look();
    if (processes.some(({ number }) => number === process.number)) throw error;
    throw new Refused("nothing_found", `${process.name} is gone`);
  } finally {
    done.abort();
  }
}

/** Rejects once the process answers no hello; one that is busy answers some, and then this never settles. */
async function greetUntilSilent(
  membership: Pick<Membership, "ask">,
  process: FleetProcess,
  clock: Clock,
  done: AbortSignal,
): Promise<never> {
  await sleep(clock, HELLO_MS, done);
  for (let hellos = 0; !done.aborted && hellos < MOST_HELLOS; hellos++)
    if ((await askOne(membership, process, done)).answers) return new Promise<never>(() => undefined);
  throw silent(process, "does not answer");
}

function silent({ name }: FleetProcess, how: string): Retryable {
  return new Retryable("process_silent", `${name} ${how}`, {
    hint: "retinue fleet shows if it still works; a process that is stopped loses its specialists to the others",
  });
}

/** True for the error of a request that its process did not answer in time. */
export function isProcessSilent(error: unknown): boolean {
  return isRetinueError(error) && error.code === "process_silent";
}

async function askOne(membership: Pick<Membership, "ask">, process: FleetProcess, signal?: AbortSignal): Promise<Heard> {
  try {
    const answer = parseJson(await membership.ask(process, HELLO, HELLO_MS, signal));
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
    if (isProcessSilent(error)) return { answers: false };
    throw error;
  }
}
