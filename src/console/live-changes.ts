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

export interface LiveOptions {
  readonly clock: Clock;
  readonly announcer: Announcer;
  /** Number of matters that wait for a person. */
  readonly needs: () => Promise<number>;
  /** True while other processes have specialists too: of theirs nothing is announced here. Default: never. */
  readonly hasOthers?: () => boolean;
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

export class LiveChanges {
  readonly #options: LiveOptions;
  readonly #readers = new Set<LiveReader>();
  /** Those whose session is being checked. */
  readonly #asked = new Set<LiveReader>();
  /** Numbers go on after a restart: an older process had lower ones. */
  #number: number;
  #kept: readonly { readonly number: number; readonly changed: Changed }[] = [];
  /** Undefined if everything may have changed. */
  #pending: Set<string> | undefined = new Set();
  #total = 0;
  #nextAt = 0;
  #leftAt = 0;
  #timer: Timer | undefined;
  #heartbeat: Timer;
  #stops: readonly (() => void)[] = [];
  #isClosed = false;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#number = options.clock.now();
    this.#heartbeat = this.#beatLater();
  }

  get count(): number {
    return this.#readers.size;
  }

  /**
   * Sends a page what changed since an event, then each change. Throws `Retryable` (`streams_full`). Returns the function that ends it.
   */
  open(reader: LiveReader, lastId: number | undefined): () => void {
    const { clock } = this.#options;
    if (this.#isClosed) throw new Retryable("streams_full", "the console ends", { retryAt: clock.now() + RETRY_S * SECOND });
    if (this.#readers.size >= MAX_STREAMS)
      throw new Retryable("streams_full", `${MAX_STREAMS} pages follow the console already`, {
        hint: "close some of them: the tabs of one browser share one",
        retryAt: clock.now() + RETRY_S * SECOND,
      });
    this.#watch();
    this.#readers.add(reader);
    const missed = this.#missedSince(lastId);
    void this.#count().then(() => {
      if (this.#readers.has(reader)) send(reader, this.#eventOf(missed));
    });
    this.#plan();
    return () => {
      this.#readers.delete(reader);
      this.#leftAt = clock.monotonic();
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#heartbeat.cancel();
    this.#unwatch();
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  #touch(handle: string): void {
    this.#options.onChange();
    if (handle === "" || this.#pending?.size === MAX_NAMED) this.#pending = undefined;
    else this.#pending?.add(handle);
    if (this.#timer === undefined) this.#plan();
  }

  #plan(): void {
    const { clock } = this.#options;
    if (this.#isClosed || this.#readers.size === 0 || this.#pending?.size === 0) return;
    this.#timer ??= clock.after(Math.max(0, this.#nextAt - clock.monotonic()), () => void this.#flush());
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    this.#nextAt = this.#options.clock.monotonic() + APART_MS;
    const changed: Changed = this.#pending;
    this.#pending = new Set();
    await this.#count();
    this.#number++;
    this.#kept = [...this.#kept.slice(1 - MAX_KEPT), { number: this.#number, changed }];
    const event = this.#eventOf(changed);
    for (const reader of this.#readers) send(reader, event);
  }

  async #count(): Promise<void> {
    if (this.#isClosed) return;
    try {
      this.#total = await this.#options.needs();
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #eventOf(changed: Changed): string {
    const which = changed === undefined ? { handles: [], all: true } : { handles: [...changed] };
    const data = { at: this.#options.clock.now(), needs: this.#total, ...which };
    return `id: ${this.#number}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`;
  }

  /** The changes that a page has missed; everything, if they are not known. */
  #missedSince(lastId: number | undefined): Changed {
    const oldest = this.#kept[0]?.number ?? this.#number + 1;
    if (lastId === undefined || lastId > this.#number || lastId < oldest - 1) return undefined;
    const missed = this.#kept.filter(({ number }) => number > lastId).map(({ changed }) => changed);
    const names = new Set(missed.flatMap((changed) => (changed === undefined ? [] : [...changed])));
    return missed.includes(undefined) || names.size > MAX_NAMED ? undefined : names;
  }

  #beatLater(): Timer {
    return this.#options.clock.after(HEARTBEAT_MS, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    this.#heartbeat = this.#beatLater();
    for (const reader of this.#readers) void this.#keep(reader);
    const before = this.#total;
    if (this.#readers.size > 0) await this.#count();
    else if (this.#options.clock.monotonic() - this.#leftAt > UNWATCHED_MS) this.#unwatch();
    const mayHaveChanged = this.#readers.size > 0 && this.#options.hasOthers?.() === true;
    if (this.#total !== before || mayHaveChanged) this.#touch(""); // time alone changes it, as when an approval expires
  }

  /** Each page for itself: one whose check takes long holds up no other. */
  async #keep(reader: LiveReader): Promise<void> {
    if (this.#asked.has(reader)) return;
    this.#asked.add(reader);
    const may = await reader.mayRead();
    this.#asked.delete(reader);
    if (!this.#readers.has(reader)) return;
    if (may) send(reader, ": live\n\n");
    else reader.end();
  }

  #watch(): void {
    if (this.#stops.length > 0) return;
    this.#stops = ANNOUNCEMENT_NAMES.map((name) => subscribe(this.#options.announcer, name, ({ handle }) => this.#touch(handle)));
  }

  #unwatch(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#kept = []; // what happens from now on is not seen
    this.#number++;
  }
}

function send(reader: LiveReader, text: string): void {
  if (reader.write(text) > MAX_BEHIND_BYTES) reader.end();
}
