/** One status for all who read it: it is made once for everybody, and not more often than the engine can spare. */
import { sleep, type Clock } from "../core/clock.ts";
import { Retryable } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";
import type { Snapshot } from "../guardian/status.ts";

export interface SharedStatus {
  /** The status after the last change; where nothing changed, one of the last second. */
  read(): Promise<Snapshot>;
  /** The same; but where the next cannot be made yet, the newest that is there, of the last seconds and after the last order. */
  newest(): Promise<Snapshot>;
  /** States that something has changed. */
  changed(): void;
  /** States that an order was carried out here: whoever gave it sees what it did. */
  ordered(): void;
  /** A part of the newest status as JSON, made once for each status. `name` says which part. */
  text(name: string, part: (status: Snapshot) => unknown): Promise<string>;
  /** Begins none from now on, and resolves when the one under way has ended: the store may then be closed. */
  close(): Promise<void>;
}

export interface SharedStatusOptions {
  readonly clock: Clock;
  readonly status: () => Promise<Snapshot>;
}

/** Time decides about some of it, such as what has expired. */
const MAX_AGE_MS = SECOND;
/** Least time between the starts of two. */
const MIN_APART_MS = 200;
/** Making one takes at most this part of the time: nearly all of it is spent in the thread that reads for people. */
const SHARE = 1 / 4;
const LONGEST_APART_MS = 2 * SECOND;
/** Age up to which a status is shown before the next: a page hears of a change once there is a status after it. */
const SHOWN_MS = 5 * SECOND;
/** Texts stored of one status; searches make more, which are made each time. */
const MAX_TEXTS = 50;

export function createSharedStatus({ clock, status }: SharedStatusOptions): SharedStatus {
  let version = 0;
  let last: { readonly made: Promise<Snapshot>; readonly version: number; readonly at: number } | undefined;
  let done: { readonly snapshot: Snapshot; readonly version: number; readonly at: number } | undefined;
  /** The version after the last order. */
  let ordered = 0;
  let nextAt = 0;
  /** The one that will be made next, for all who wait for it. */
  let next: Promise<Snapshot> | undefined;
  const texts = new WeakMap<Snapshot, Map<string, string>>();

  let isClosed = false;
  const make = async (): Promise<Snapshot> => {
    const isFirst = last === undefined;
    await last?.made.catch(() => undefined); // its own readers hear of a failure
    while (clock.monotonic() < nextAt) await sleep(clock, nextAt - clock.monotonic());
    next = undefined;
    if (isClosed) throw new Retryable("read_failed", "the process ends, and reads its store no more");
    const at = clock.monotonic();
    nextAt = at + MIN_APART_MS;
    const made = status();
    const present = version;
    last = { made, version: present, at };
    try {
      const snapshot = await made;
      done = { snapshot, version: present, at };
      // The first one opens the store's reader: its time says nothing of the next, which a person waits for after the login.
      const tookMs = isFirst ? 0 : clock.monotonic() - at;
      nextAt = at + Math.min(LONGEST_APART_MS, Math.max(MIN_APART_MS, tookMs / SHARE));
      return snapshot;
    } catch (error) {
      last = undefined;
      throw error;
    }
  };
  const read = (): Promise<Snapshot> => {
    if (last !== undefined && last.version === version && clock.monotonic() - last.at < MAX_AGE_MS) return last.made;
    return (next ??= make());
  };
  const newest = async (): Promise<Snapshot> => {
    const now = clock.monotonic();
    const mustWait = next !== undefined || now < nextAt;
    return mustWait && done !== undefined && done.version >= ordered && now - done.at < SHOWN_MS ? done.snapshot : read();
  };
  return {
    read,
    newest,
    changed: () => void version++,
    ordered: () => void (ordered = ++version),
    async close() {
      isClosed = true;
      await last?.made.catch(() => undefined); // its own readers hear of a failure
    },
    async text(name, part) {
      const snapshot = await newest();
      const known = texts.get(snapshot) ?? new Map<string, string>();
      texts.set(snapshot, known);
      const text = known.get(name) ?? JSON.stringify(part(snapshot));
      if (known.size < MAX_TEXTS) known.set(name, text);
      return text;
    },
  };
}
