/** Pacing: concurrency of one key's requests and the distance between their starts. The ledger handles hours and days. */
import Bottleneck from "bottleneck";
import type { Clock } from "../core/clock.ts";
import { Misconfigured, Retryable } from "../core/errors.ts";
import type { KeyId } from "../core/ids.ts";

export interface PacingOptions {
  /** Requests of one key at a time. Default 2. */
  readonly concurrency?: number;
  /** Milliseconds between two starts of one key. Default 50. With 0, pacing is off. */
  readonly spacingMs?: number;
}

export const DEFAULT_PACING = { concurrency: 2, spacingMs: 50 } as const;
/** Most waiting tasks of one key; more are refused. Admission comes last, so no long queue should form here. */
export const MAX_WAITING = 1_000;

/** Runs the tasks of one key in order, paced. A task includes its admission: nothing queues after it. */
export interface Pacer {
  run<Result>(key: KeyId, task: () => Promise<Result>): Promise<Result>;
  /** Number of keys with a running or waiting task. */
  busy(): number;
}

function checked(options: PacingOptions): Required<PacingOptions> {
  const { concurrency, spacingMs } = { ...DEFAULT_PACING, ...options };
  if (!Number.isSafeInteger(concurrency) || concurrency < 1 || concurrency > 100)
    throw new Misconfigured("pacing_invalid", `expected a concurrency from 1 to 100, got ${concurrency}`);
  if (!Number.isFinite(spacingMs) || spacingMs < 0 || spacingMs > 60_000)
    throw new Misconfigured("pacing_invalid", `expected a spacing from 0 to 60000 ms, got ${spacingMs}`);
  return { concurrency, spacingMs };
}

const UNPACED: Pacer = { busy: () => 0, run: (_key, task) => task() };

interface Paced {
  /** Created when a second request arrives while the first still counts: most requests of an idle key are alone. */
  limiter: Bottleneck | undefined;
  /** The first request, while there is no limiter. */
  first: Promise<unknown> | undefined;
  waiting: number;
  startedAt: number;
}

/**
 * Live pacing by bottleneck: spacing and concurrency only. Its reservoir, groups, chaining, changed settings and retries are known to lose
 * counts, so none is used. A key's limiter is created when two requests meet, which costs 0.3 ms, and is dropped once it is idle and its
 * spacing has passed; one timer does that for all keys.
 */
export function livePacer(clock: Clock, options: PacingOptions = {}): Pacer {
  const { concurrency, spacingMs } = checked(options);
  if (spacingMs === 0) return UNPACED;
  const keys = new Map<KeyId, Paced>();
  let sweeping = false;

  const sweep = (): void => {
    sweeping = false;
    let idle = false;
    for (const [key, { waiting, startedAt }] of keys)
      if (waiting === 0 && clock.monotonic() - startedAt >= spacingMs) keys.delete(key);
      else idle ||= waiting === 0;
    if (idle) sweepLater();
  };
  const sweepLater = (): void => {
    if (sweeping) return;
    sweeping = true;
    clock.after(spacingMs, sweep);
  };

  const limiterOf = (paced: Paced): Bottleneck => {
    if (paced.limiter !== undefined) return paced.limiter;
    const limiter = new Bottleneck({ maxConcurrent: concurrency, minTime: spacingMs });
    paced.limiter = limiter;
    // The first request takes a slot in the limiter too, as if it began now: spacing errs on the long side.
    void limiter.schedule(() => Promise.allSettled([paced.first]));
    return limiter;
  };
  const start = <Result>(paced: Paced, task: () => Promise<Result>): Promise<Result> => {
    const began = (): Promise<Result> => {
      paced.startedAt = clock.monotonic();
      return task();
    };
    const alone = paced.limiter === undefined && paced.waiting === 1 && clock.monotonic() - paced.startedAt >= spacingMs;
    if (!alone) return limiterOf(paced).schedule(began);
    const running = began();
    paced.first = running;
    return running;
  };

  return {
    busy: () => keys.size,
    async run(key, task) {
      let paced = keys.get(key);
      if (paced === undefined) {
        paced = { limiter: undefined, first: undefined, waiting: 0, startedAt: -Infinity };
        keys.set(key, paced);
      }
      const mine = paced;
      if (mine.waiting >= MAX_WAITING) throw tooMany();
      mine.waiting++;
      try {
        return await start(mine, task);
      } finally {
        if (--mine.waiting === 0) sweepLater();
      }
    },
  };
}

interface Lined {
  readonly line: (() => void)[];
  running: number;
  /** Earliest next start (monotonic). */
  freeAt: number;
  armed: boolean;
}

/** The same pacing on any clock, for simulation: bottleneck reads the real time itself. */
export function virtualPacer(clock: Clock, options: PacingOptions = {}): Pacer {
  const { concurrency, spacingMs } = checked(options);
  if (spacingMs === 0) return UNPACED;
  const keys = new Map<KeyId, Lined>();

  const pump = (key: KeyId, lined: Lined): void => {
    if (lined.armed || lined.running >= concurrency) return;
    const now = clock.monotonic();
    if (lined.line.length === 0 && lined.running === 0 && now >= lined.freeAt) keys.delete(key);
    if (lined.line.length === 0 && (lined.running > 0 || now >= lined.freeAt)) return;
    if (now < lined.freeAt) {
      lined.armed = true;
      clock.after(lined.freeAt - now, () => {
        lined.armed = false;
        pump(key, lined);
      });
      return;
    }
    lined.running++;
    lined.freeAt = now + spacingMs;
    lined.line.shift()?.();
    pump(key, lined);
  };

  return {
    busy: () => keys.size,
    async run(key, task) {
      let lined = keys.get(key);
      if (lined === undefined) keys.set(key, (lined = { line: [], running: 0, freeAt: 0, armed: false }));
      const mine = lined;
      if (mine.line.length >= MAX_WAITING) throw tooMany();
      await new Promise<void>((go) => {
        mine.line.push(go);
        pump(key, mine);
      });
      try {
        return await task();
      } finally {
        mine.running--;
        pump(key, mine);
      }
    },
  };
}

function tooMany(): Retryable {
  return new Retryable("pacing_full", `more than ${MAX_WAITING} requests wait on one key`);
}
