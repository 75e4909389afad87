/**
 * The process of a fleet that tells people what waits for them. It is the oldest one that has shards: a process that is stopped has lost
 * them as soon as the server has ended its sessions, and knows by its clocks that this may have happened.
 */
import type { Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";
import { Heard } from "../store/postgres/ownership.ts";

/** Each process tells people so much later than the one before it. */
const TURN_MS = MINUTE;

export interface Teller {
  readonly number: number;
  readonly draining: boolean;
  readonly shards: readonly number[];
}

/** The number of the process that tells people. Before any has shards it is the oldest one. */
export function firstOf(processes: readonly Teller[]): number | undefined {
  const working = processes.filter(({ draining }) => !draining);
  return (working.find(({ shards }) => shards.length > 0) ?? working[0])?.number;
}

export class FirstProcess {
  readonly #heard: Heard;
  readonly #currentMs: number;
  #isFirst = false;
  /** Its place in the order in which processes tell people while the server does not answer; 0 is the first's. */
  #turn = Infinity;
  #term = 0;

  /** `currentMs`: the longest silence of the server after which nobody else has the shards of this process. */
  constructor(wall: Clock, currentMs: number) {
    this.#heard = new Heard(wall);
    this.#currentMs = currentMs;
  }

  /** Asks the server, and notes that it has answered. */
  async hears<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const answered = this.#heard.beginning();
    const answer = await ask();
    if (this.#isStale) this.#term++; // another may have told people meanwhile
    answered();
    return answer;
  }

  /** Call it after each look, with the number of this process. */
  saw(processes: readonly Teller[], number: number): void {
    const first = firstOf(processes);
    const isFirst = first === number;
    if (isFirst && !this.#isFirst) this.#term++;
    this.#isFirst = isFirst;
    const working = processes.filter((one) => !one.draining || one.number === number).map((one) => one.number);
    this.#turn = [...new Set([first ?? number, ...working])].indexOf(number);
  }

  /**
   * The term in which this process tells people, a new one after each in which another may have; undefined while another does. `troubleMs` is
   * the time for which the server could not be used: the one that was the first tells people of that, and then each of the others in turn,
   * since those before it may have ended with the server.
   */
  term(troubleMs: number | undefined): number | undefined {
    const isToTell = troubleMs === undefined ? this.#isFirst && !this.#isStale : this.#turn >= 0 && troubleMs >= this.#turn * TURN_MS;
    return isToTell ? this.#term : undefined;
  }

  get #isStale(): boolean {
    return this.#heard.ageMs > this.#currentMs;
  }
}
