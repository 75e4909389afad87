/**
 * Tells open pages what changes: numbered server-sent events, at most four a second, resumed by number.
 *
 * An event names the specialists that changed, never what changed: a page reads that itself. Everything here is bounded: the pages, the
 * events that are kept, the names in one, and the bytes that wait for a page that does not read.
 */
import type { Clock, Timer } from "../core/clock.ts";
import { ANNOUNCEMENT_NAMES, subscribe, type Announcer } from "../core/events.ts";
import { Retryable } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";

/** The connection of one page. */
export interface LiveReader {
  /** Sends text, and returns the number of bytes that are not sent yet. */
  write(text: string): number;
  end(): void;
  /** False once its session is over. */
  mayRead(): Promise<boolean>;
}

export interface LiveChanges {
  /** Sends a page what changed since an event, then each change. Throws `Retryable` (`streams_full`). Returns the function that ends it. */
  open(reader: LiveReader, lastId: number | undefined): () => void;
  readonly count: number;
  close(): void;
}

export interface LiveOptions {
  readonly clock: Clock;
  readonly announcer: Announcer;
  /** Number of matters that wait for a person. */
  readonly needs: () => Promise<number>;
  /** Called at each change, before anything is read. */
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

export const MAX_STREAMS = 100;
const APART_MS = SECOND / 4;
const HEARTBEAT_MS = 10 * SECOND;
/** Events kept for pages that come back: over a minute of a busy process. */
const MAX_KEPT = 300;
/** Specialists named in one event; with more, a page reads everything. */
const MAX_NAMED = 100;
/** Bytes that wait for one page. A page that falls behind is ended: it comes back by number once it reads. */
export const MAX_BEHIND_BYTES = 64 * 1_024;
const RETRY_S = 5;
/** Announcements are listened to for this long after the last page has left, so that it may come back by number. */
const UNWATCHED_MS = 60 * SECOND;

/** Names of specialists that changed; undefined if everything may have. */
type Changed = ReadonlySet<string> | undefined;

export function createLiveChanges({ clock, announcer, needs, onChange, onError }: LiveOptions): LiveChanges {
  const readers = new Set<LiveReader>();
  /** Numbers go on after a restart: an older process had lower ones. */
  let number = clock.now();
  let kept: { readonly number: number; readonly changed: Changed }[] = [];
  /** Undefined if everything may have changed. */
  let pending: Set<string> | undefined = new Set();
  let nextAt = 0;
  let timer: Timer | undefined;
  let total = 0;
  let stops: readonly (() => void)[] = [];
  let leftAt = 0;

  const send = (reader: LiveReader, text: string): void => {
    if (reader.write(text) > MAX_BEHIND_BYTES) reader.end();
  };
  const eventOf = (changed: Changed): string => {
    const data = { at: clock.now(), needs: total, ...(changed === undefined ? { handles: [], all: true } : { handles: [...changed] }) };
    return `id: ${number}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`;
  };
  const count = async (): Promise<void> => {
    try {
      total = await needs();
    } catch (error) {
      onError(error);
    }
  };
  const flush = async (): Promise<void> => {
    timer = undefined;
    nextAt = clock.monotonic() + APART_MS;
    const changed: Changed = pending;
    pending = new Set();
    await count();
    number++;
    kept = [...kept.slice(1 - MAX_KEPT), { number, changed }];
    const event = eventOf(changed);
    for (const reader of readers) send(reader, event);
  };
  const plan = (): void => {
    if (readers.size === 0 || pending?.size === 0) return;
    timer ??= clock.after(Math.max(0, nextAt - clock.monotonic()), () => void flush());
  };
  const touch = (handle: string): void => {
    onChange();
    if (handle === "" || pending?.size === MAX_NAMED) pending = undefined;
    else pending?.add(handle);
    if (timer === undefined) plan();
  };
  /** What a page has missed; everything, if that is not known. */
  const missedSince = (lastId: number | undefined): Changed => {
    const oldest = kept[0]?.number ?? number + 1;
    if (lastId === undefined || lastId > number || lastId < oldest - 1) return undefined;
    const missed = kept.filter((one) => one.number > lastId).map(({ changed }) => changed);
    const names = missed.flatMap((changed) => (changed === undefined ? [] : [...changed]));
    return missed.includes(undefined) || names.length > MAX_NAMED ? undefined : new Set(names);
  };
  const beat = async (): Promise<void> => {
    const before = total;
    if (readers.size > 0) await count();
    else if (clock.monotonic() - leftAt > UNWATCHED_MS) unwatch();
    if (total !== before) touch(""); // time alone changes it, as when an approval expires
    await Promise.all(
      [...readers].map(async (reader) => {
        if (await reader.mayRead()) send(reader, ": live\n\n");
        else reader.end();
      }),
    );
    heartbeat = clock.after(HEARTBEAT_MS, () => void beat());
  };
  let heartbeat: Timer = clock.after(HEARTBEAT_MS, () => void beat());
  const watch = (): void => {
    if (stops.length === 0) stops = ANNOUNCEMENT_NAMES.map((name) => subscribe(announcer, name, ({ handle }) => touch(handle)));
  };
  const unwatch = (): void => {
    for (const stop of stops) stop();
    stops = [];
    kept = []; // what happens from now on is not seen
    number++;
  };

  return {
    open(reader, lastId) {
      if (readers.size >= MAX_STREAMS)
        throw new Retryable("streams_full", `${MAX_STREAMS} pages follow the console already`, {
          hint: "close some of them: the tabs of one browser share one",
          retryAt: clock.now() + RETRY_S * SECOND,
        });
      watch();
      readers.add(reader);
      const missed = missedSince(lastId);
      void count().then(() => {
        if (readers.has(reader)) send(reader, eventOf(missed));
      });
      plan();
      return () => {
        readers.delete(reader);
        leftAt = clock.monotonic();
      };
    },
    get count() {
      return readers.size;
    },
    close() {
      timer?.cancel();
      heartbeat.cancel();
      unwatch();
      for (const reader of readers) reader.end();
      readers.clear();
    },
  };
}
