/**
 * The flow of work: an event that is stored is handled, its intents are sent, and their answers bring the next, each step calling the next
 * in the turn that makes it possible. A timer calls only for work that waits for a time.
 */
import { learnAccount } from "../gateway/own-account.ts";
import type { Member } from "../gateway/member.ts";
import { handleEvents } from "../handlers/handle-events.ts";
import { readFor } from "../handlers/reads.ts";
import { resolveInDoubt } from "../outbox/resolve-in-doubt.ts";
import { sendable, sendOne } from "../outbox/send.ts";
import { pollSources } from "../polling/poll-lists.ts";
import { followWatches } from "../polling/poll-watches.ts";
import { startSchedules } from "../schedule/fire.ts";
import type { WorkKind } from "../store/sources.ts";
import { readAgain, takeDeferred, takeDeliveries } from "../webhooks/process-deliveries.ts";
import type { Dependencies } from "./dependencies.ts";
import { bitOf, isBusy, type Work } from "./work.ts";

export interface FlowOptions {
  readonly parts: Dependencies;
  /** Sets the timer for the next work of a specialist. */
  readonly arm: (work: Work) => void;
  readonly failed: (error: unknown, what: string, about?: { readonly handle: string }) => void;
}

const NOTHING = (): void => undefined;

export class Flow {
  readonly #options: FlowOptions;
  #open = 0;
  #onIdle: (() => void)[] = [];

  readonly #read: Parameters<typeof handleEvents>[2];

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#read = (member, call, about) => readFor(options.parts, member, call, about);
  }

  /** Number of jobs under way. */
  get open(): number {
    return this.#open;
  }

  /** Resolves once no job is under way. */
  async idle(): Promise<void> {
    while (this.#open > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Follows a job until it ends, for a stop that waits for it, and reports its failure. */
  track(job: Promise<unknown>): void {
    this.#follow(job, NOTHING, this.#wrong);
  }

  readonly #wrong = (error: unknown): void => this.#options.failed(error, "something went wrong");

  #follow<Value>(job: Promise<Value>, ended: (value: Value) => void, failed: (error: unknown) => void): void {
    this.#open++;
    job.then(
      (value) => this.#over(ended, value),
      (error: unknown) => this.#over(failed, error),
    );
  }

  #over<Value>(end: (value: Value) => void, value: Value): void {
    try {
      end(value);
    } catch (error) {
      this.#wrong(error);
    }
    if (--this.#open > 0 || this.#onIdle.length === 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Does the due work of one kind, or once more after the work under way. */
  begin(work: Work, part: WorkKind): void {
    work.unchecked &= ~bitOf(part);
    if (isBusy(work, part)) work.again |= bitOf(part);
    else this.#run(work, part);
  }

  #run(work: Work, part: WorkKind): void {
    const bit = bitOf(part);
    work.busy |= bit;
    work.again &= ~bit;
    try {
      const more = this.#step(work, part);
      if (more instanceof Promise) this.#await(work, part, more);
      else this.#ended(work, part, more);
    } catch (error) {
      this.#failed(work, part, error);
    }
  }

  /** Apart from `#run`, which would allocate for these functions at every call. */
  #await(work: Work, part: WorkKind, more: Promise<boolean>): void {
    this.#follow(
      more,
      (value) => this.#ended(work, part, value),
      (error) => this.#failed(work, part, error),
    );
  }

  #failed(work: Work, part: WorkKind, error: unknown): void {
    work.unchecked |= bitOf(part);
    work.again &= ~bitOf(part);
    this.#options.failed(error, `the ${part} of a specialist could not be processed`, { handle: work.member.specialist.handle });
    this.#ended(work, part, false);
  }

  /** Goes on with what is due meanwhile, or sets the timer. */
  #ended(work: Work, part: WorkKind, more: boolean): void {
    const bit = bitOf(part);
    work.busy &= ~bit;
    const { parts } = this.#options;
    if (parts.stopping.aborted) return;
    if (more || (work.again & bit) !== 0) return this.#run(work, part);
    if (part === "events") takeDeferred(parts, work.member);
    this.#rest(work);
  }

  /** Sets the timer once nothing else is under way. */
  #rest(work: Work): void {
    try {
      if (work.busy === 0) this.#options.arm(work);
    } catch (error) {
      this.#wrong(error);
    }
  }

  /** Returns true if there may be more right away. */
  #step(work: Work, part: WorkKind): boolean | Promise<boolean> {
    const { parts } = this.#options;
    const { member } = work;
    switch (part) {
      case "deliveries":
        return takeDeliveries(parts, member);
      case "events":
        return handleEvents(parts, member, this.#read);
      case "intents":
        for (const intent of sendable(parts, member)) this.#send(work, sendOne(parts, member, intent));
        return false;
      case "doubts":
        return resolveInDoubt(parts, member);
      case "schedules":
        return startSchedules(parts, member);
      case "sources":
        return this.#poll(member);
      case "watches":
        return this.#watch(member);
    }
  }

  /** An intent that left lets others go next; one that did not may wait for a time. */
  #send(work: Work, sending: Promise<boolean>): void {
    const { parts } = this.#options;
    const ended = (hasLeft: boolean): void => {
      if (parts.stopping.aborted) return;
      if (hasLeft) this.begin(work, "intents");
      else this.#rest(work);
    };
    this.#follow(sending, ended, this.#wrong);
  }

  async #poll(member: Member): Promise<boolean> {
    const { parts } = this.#options;
    await learnAccount(parts, member);
    const more = await pollSources(parts, member);
    return (await readAgain(parts, member, "sources")) || more;
  }

  async #watch(member: Member): Promise<boolean> {
    const { parts } = this.#options;
    const more = await followWatches(parts, member);
    return (await readAgain(parts, member, "watches")) || more;
  }
}
