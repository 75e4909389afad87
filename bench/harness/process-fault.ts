/** One of several processes that share the work is ended or stopped under load: when its events are done by another, and whether once. */
import { setTimeout } from "node:timers/promises";
import type { DeliveryForm } from "./deliveries.ts";
import type { SlowModel } from "./model.ts";
import type { Replies } from "./replies.ts";
import { AGAIN_MS, isTaken, openSender, type Sender } from "./sender.ts";
import type { Subject } from "./subject.ts";

export type Fault = "SIGTERM" | "SIGKILL" | "SIGSTOP";

export interface FaultRun<Started extends Subject> {
  readonly fault: Fault;
  readonly processes: number;
  /** Starts a process by its number; the struck one again, with the same identity, once it has ended. */
  readonly start: (process: number) => Promise<Started>;
  /** Resolves when all of them have their share. */
  readonly ready: () => Promise<void>;
  readonly perSecond: number;
  readonly form: DeliveryForm;
  readonly replies: Replies;
  readonly model: SlowModel;
  readonly times: FaultTimes;
  /** Asked at the end, while all processes run. */
  readonly atEnd?: (one: Started) => Promise<void>;
}

export interface FaultTimes {
  /** Load before the fault. */
  readonly warmMs: number;
  /** From the fault until the process is started again at the latest. */
  readonly waitMs: number;
  /** From SIGSTOP to SIGCONT. */
  readonly stoppedMs: number;
  /** For what comes after its restart. */
  readonly afterMs: number;
}

export interface FaultToll {
  readonly events: number;
  /** Events that the process had accepted and not done. */
  readonly hit: number;
  /** From the fault to the effect, of those that were done before the process was back. */
  readonly tookMs: readonly number[];
  /** Of the others, those whose effect came then. */
  readonly onlyBack: number;
  /** Of all events, those whose effect never came. */
  readonly lost: readonly number[];
  readonly doubled: number;
  /** The longest that a delivery went without a 2xx. */
  readonly unansweredMs: number;
}

/** An unanswered delivery is given up and sent to another process. */
export const ANSWER_MS = 5_000;
/** Load after the process is back. */
const AFTERWARDS_MS = 5_000;
/** Without an effect for so long, nothing more comes of what is done. */
const CALM_MS = 5_000;
const LOOK_MS = 50;

interface Struck<Started extends Subject> {
  subject: Started;
  /** Deliveries are sent to it. */
  isIn: boolean;
  /** Its first delivery that fails is the last that it is sent. */
  isStruck: boolean;
}

export async function strike<Started extends Subject>(run: FaultRun<Started>): Promise<FaultToll> {
  const { fault, replies, model, times } = run;
  const all: Struck<Started>[] = [];
  const sender = openSender({ ...run.form, timeoutMs: ANSWER_MS });
  let load: Load | undefined;
  try {
    for (let i = 0; i < run.processes; i++) all.push({ subject: await run.start(i), isIn: true, isStruck: false });
    await run.ready();
    const [struck] = all;
    if (struck === undefined) throw new Error("there is no process to strike");
    load = openLoad(all, sender, run.perSecond);
    await setTimeout(times.warmMs);
    const { pid } = struck.subject;
    struck.isStruck = true;
    const hit = [...load.taken].filter((n) => !replies.at.has(n) && [pid, undefined].includes(model.askedBy(n)));
    process.kill(pid, fault);
    const struckAt = performance.now();
    const wentOnAt = await wait(run, struck, () => hit.every((n) => replies.at.has(n)));
    const backAt = wentOnAt ?? performance.now();
    if (wentOnAt === undefined || !isAlive(pid)) {
      await struck.subject.kill();
      struck.subject = await run.start(0);
      Object.assign(struck, { isIn: true, isStruck: false });
    }
    const endAt = performance.now() + times.afterMs;
    await setTimeout(AFTERWARDS_MS);
    await load.stop(endAt - performance.now());
    const events = load.sent();
    const isCalm = (): boolean => performance.now() - replies.lastAt() >= CALM_MS;
    while (performance.now() < endAt && !(replies.at.size >= events && isCalm())) await setTimeout(LOOK_MS);
    await run.atEnd?.(struck.subject);
    const firsts = hit.flatMap((n) => replies.at.get(n)?.[0] ?? []);
    return {
      events,
      hit: hit.length,
      tookMs: firsts.filter((at) => at < backAt).map((at) => at - struckAt),
      onlyBack: firsts.filter((at) => at >= backAt).length,
      lost: Array.from({ length: events }, (_, n) => n).filter((n) => !replies.at.has(n)),
      doubled: replies.doubled(),
      unansweredMs: load.unansweredMs(),
    };
  } finally {
    await load?.stop(0);
    await Promise.all(all.map(({ subject }) => subject.kill()));
    await sender.close();
  }
}

/** Waits until its events are done, and it has ended or goes on; at most so long. Resolves with when it went on, if it was stopped. */
async function wait<Started extends Subject>(
  { fault, times }: FaultRun<Started>,
  struck: Struck<Started>,
  areDone: () => boolean,
): Promise<number | undefined> {
  const { pid } = struck.subject;
  const began = performance.now();
  let wentOnAt: number | undefined;
  const isOver = (): boolean =>
    areDone() && (fault === "SIGSTOP" ? wentOnAt !== undefined && performance.now() - wentOnAt >= CALM_MS : !isAlive(pid));
  while (performance.now() - began < times.waitMs && !isOver()) {
    if (fault === "SIGSTOP" && wentOnAt === undefined && performance.now() - began >= times.stoppedMs) {
      process.kill(pid, "SIGCONT");
      wentOnAt = performance.now();
      Object.assign(struck, { isIn: true, isStruck: false });
    }
    await setTimeout(LOOK_MS);
  }
  return wentOnAt;
}

interface Load {
  /** Events whose delivery was answered with a 2xx. */
  readonly taken: ReadonlySet<number>;
  sent(): number;
  unansweredMs(): number;
  /** Sends nothing new. Resolves when all is answered, or after so long. */
  stop(latestMs: number): Promise<void>;
}

/** So many new deliveries a second, in turn to the processes; one without a 2xx goes to the next with the same id. */
function openLoad(all: readonly Struck<Subject>[], sender: Sender, perSecond: number): Load {
  const taken = new Set<number>();
  const over = new AbortController();
  const givenUp = new AbortController();
  let [sent, turn, unansweredMs] = [0, 0, 0];
  const deliver = async (n: number): Promise<void> => {
    const began = performance.now();
    while (!givenUp.signal.aborted) {
      const open = all.filter(({ isIn }) => isIn);
      const to = open[turn++ % open.length];
      if (to === undefined) throw new Error("no process is left to deliver to");
      const { port } = to.subject;
      const isDone = isTaken(await sender.send(port, n));
      unansweredMs = Math.max(unansweredMs, performance.now() - began);
      if (isDone) return void taken.add(n);
      if (to.isStruck) to.isIn = false;
      await setTimeout(AGAIN_MS);
    }
  };
  const sendAll = async (): Promise<void> => {
    const began = performance.now();
    const deliveries: Promise<void>[] = [];
    while (!over.signal.aborted) {
      deliveries.push(deliver(sent++));
      await setTimeout(Math.max(0, began + (sent / perSecond) * 1_000 - performance.now()));
    }
    await Promise.all(deliveries);
  };
  const ended = sendAll();
  return {
    taken,
    sent: () => sent,
    unansweredMs: () => unansweredMs,
    async stop(latestMs) {
      over.abort();
      const late = setTimeout(Math.max(0, latestMs), undefined, { ref: false }).then(() => givenUp.abort());
      await Promise.race([ended, late]);
      givenUp.abort();
      await ended;
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
