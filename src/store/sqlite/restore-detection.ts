/**
 * A store that was put back from a copy: what was done after the copy was made is not in its rows.
 *
 * It is recognised by a mark in the copies that `backup` writes, and for other copies by a number that grows while the
 * store is at work and is kept beside it too: rows that lag behind that number, or lie where there is none, are older
 * than what ran here. From then on whatever may have been done between the copy and its return is in doubt first.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { isObject, numberIn } from "../../core/json.ts";
import { DAY, MINUTE } from "../../core/units.ts";
import { syncFolder } from "./database.ts";
import { createMetadata, type Metadata } from "./metadata.ts";
import { jsonOf, textOf } from "./rows.ts";
import { SCHEDULE_PREFIX } from "../../contract/event-kinds.ts";

/** What was done in between is unknown. */
export interface RestoreDetection {
  /** When the copy was made, at the earliest. */
  readonly from: number;
  /** When it was put to work. */
  readonly at: number;
}

const COPIED_AT = "copied_at";
const RESTORED = "restored";
const BEAT = "beat";
/** What happened so shortly after the return may be older by the network's clock than by ours. */
const CLOCKS_DIFFER_MS = 5 * MINUTE;
/** What has no time of its own is taken for old for so long. */
const UNTIMED_MS = DAY;
/** Their payload says when it happened. Jobs that change are as old as their listing, which says nothing. */
const TIMED: readonly string[] = ["post.created", "reply.created", "mention.created", "job.listed"];

export const RESTORED_CODE = "restored";
export const RESTORED_MESSAGE = "the store was put back from a copy: this may have been done already";

/** Marks a closed copy, so that it is known for one when it is put to work. */
export function markCopy(file: string, now: number): void {
  const copy = new DatabaseSync(file);
  try {
    createMetadata(copy).set(COPIED_AT, String(now));
    copy.exec("PRAGMA journal_mode = DELETE"); // one file, without a log beside it
  } finally {
    copy.close();
  }
}

/** The store's own knowledge of whether it is a copy that was put back. */
export class RestoredTable {
  readonly #meta: Metadata;
  readonly #event: StatementSync;
  readonly #markFile: string | undefined;
  #known: RestoreDetection | undefined;
  #read = false;

  /** `path` is the store's file; without one there are no copies of it. */
  constructor(db: DatabaseSync, path: string | undefined) {
    this.#meta = createMetadata(db);
    this.#event = db.prepare("SELECT kind, payload FROM event WHERE seq = ?");
    this.#markFile = path === undefined ? undefined : `${path}-beat`;
  }

  /** Inside the transaction of the recovery. Answers when the copy was made, where this store is one that was just put back. */
  begin(now: number): RestoreDetection | undefined {
    const from = this.#copiedAt() ?? this.#laggingSince();
    this.#meta.remove(COPIED_AT);
    if (from === undefined) return undefined;
    const restored = { from: Math.min(from, now), at: now };
    this.#meta.set(RESTORED, JSON.stringify(restored));
    this.forget();
    return restored;
  }

  /** Inside a transaction: counts on. `noteBeat` must follow once it is on disk. */
  beat(now: number): void {
    this.#meta.set(BEAT, JSON.stringify({ count: this.#beats().count + 1, at: now }));
  }

  /** Puts the number on disk beside the store. */
  noteBeat(): void {
    if (this.#markFile === undefined) return;
    writeFileSync(`${this.#markFile}-new`, String(this.#beats().count), { mode: 0o600, flush: true });
    renameSync(`${this.#markFile}-new`, this.#markFile);
    syncFolder(this.#markFile); // without its name it would be gone after a power cut, as in a copy that was put back
  }

  /** Where what follows from an event may have been done before the copy was put back. */
  doubtful(seq: number, now: number): RestoreDetection | undefined {
    const restored = this.#restored();
    if (restored === undefined) return undefined;
    const row = this.#event.get(seq);
    if (row === undefined) return restored;
    const kind = textOf(row, "kind");
    const payload = jsonOf(row, "payload");
    const time = (name: string): number | undefined => (isObject(payload) ? numberIn(payload, name) : undefined);
    const scheduledAt = kind.startsWith(SCHEDULE_PREFIX) ? time("scheduledAt") : undefined;
    if (scheduledAt !== undefined) return scheduledAt < restored.at ? restored : undefined;
    const happenedAt = TIMED.includes(kind) ? time("createdAtMs") : undefined;
    if (happenedAt !== undefined) return happenedAt < restored.at + CLOCKS_DIFFER_MS ? restored : undefined;
    return now < restored.at + UNTIMED_MS ? restored : undefined;
  }

  forget(): void {
    this.#read = false;
  }

  #restored(): RestoreDetection | undefined {
    if (this.#read) return this.#known;
    const { from, at } = this.#meta.getObject(RESTORED);
    this.#known = typeof from === "number" && typeof at === "number" ? { from, at } : undefined;
    this.#read = true;
    return this.#known;
  }

  #copiedAt(): number | undefined {
    const at = this.#meta.get(COPIED_AT);
    return at === undefined ? undefined : Number(at);
  }

  /** When the rows were last known to be the newest, where they are not any more. */
  #laggingSince(): number | undefined {
    const { count, at } = this.#beats();
    if (this.#markFile === undefined || count === 0) return undefined;
    const beside = existsSync(this.#markFile) ? Number(readFileSync(this.#markFile, "utf8")) : Infinity;
    return beside > count ? at : undefined;
  }

  #beats(): { readonly count: number; readonly at: number } {
    const { count, at } = this.#meta.getObject(BEAT);
    return typeof count === "number" && typeof at === "number" ? { count, at } : { count: 0, at: 0 };
  }
}
