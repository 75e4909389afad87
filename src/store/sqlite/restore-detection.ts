/**
 * Detects a store restored from a copy: its rows lack everything done after the copy was made.
 *
 * It is recognised by a mark in the copies that `backup` writes, and for other copies by a number that grows while the store is at work and
 * is stored beside it too: rows that lag behind that number, or have none beside them, are older than the last run here. From then on,
 * everything that may have been done between the copy and its return is in doubt first.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { isObject, numberIn } from "../../core/json.ts";
import { DAY, MINUTE } from "../../core/units.ts";
import { syncFolder } from "./schema.ts";
import { createMetadata, type Metadata } from "./metadata.ts";
import { jsonOf, textOf } from "./columns.ts";
import { SCHEDULE_PREFIX } from "../../contract/event-kinds.ts";

/** The span of the unknown. */
export interface RestoreDetection {
  /** Earliest time at which the copy was made. */
  readonly from: number;
  /** Time at which the copy was first used. */
  readonly at: number;
}

/** The name of the time at which a copy was made, among the metadata. */
export const COPIED_AT = "copied_at";
const RESTORED = "restored";
const BEAT = "beat";
/** Events this shortly after the return may be older by the network's clock than by ours. */
const CLOCKS_DIFFER_MS = 5 * MINUTE;
/** Events without a time count as old for this long. */
const UNTIMED_MS = DAY;
/** Kinds whose payload states a time. A changed job is as old as its listing, which proves nothing. */
const TIMED: readonly string[] = ["post.created", "reply.created", "mention.created", "job.listed"];

export const RESTORED_CODE = "restored";
export const RESTORED_MESSAGE = "the store was restored from a copy: this may have been done already";

/** Marks a closed copy, so that it is recognised when it is used. */
export function markCopy(file: string, now: number): void {
  const copy = new DatabaseSync(file);
  try {
    createMetadata(copy).set(COPIED_AT, String(now));
    copy.exec("PRAGMA journal_mode = DELETE"); // one file, without a log beside it
  } finally {
    copy.close();
  }
}

/** Makes a closed copy the store itself: nothing was done since it was made. */
export function forgetCopying(db: DatabaseSync): void {
  const meta = createMetadata(db);
  meta.remove(COPIED_AT);
  meta.remove(BEAT);
}

/** The store's record of a restore. */
export class RestoredTable {
  readonly #meta: Metadata;
  readonly #event: StatementSync;
  readonly #markFile: string | undefined;
  #known: RestoreDetection | undefined;
  #read = false;

  /** `path` is the store's file; a store in memory has no copies. */
  constructor(db: DatabaseSync, path: string | undefined) {
    this.#meta = createMetadata(db);
    this.#event = db.prepare("SELECT kind, payload FROM event WHERE seq = ?");
    this.#markFile = path === undefined ? undefined : `${path}-beat`;
  }

  /** Called inside the recovery's transaction. Returns the restore if this store was just put back. */
  begin(now: number): RestoreDetection | undefined {
    const from = this.#copiedAt() ?? this.#laggingSince();
    this.#meta.remove(COPIED_AT);
    if (from === undefined) return undefined;
    const restored = { from: Math.min(from, now), at: now };
    this.#meta.set(RESTORED, JSON.stringify(restored));
    this.forget();
    return restored;
  }

  /** Advances the number, inside a transaction. Call `noteBeat` once it is on disk. */
  beat(now: number): void {
    this.#meta.set(BEAT, JSON.stringify({ count: this.#beats().count + 1, at: now }));
  }

  /** Writes the number to disk beside the store. */
  noteBeat(): void {
    if (this.#markFile === undefined) return;
    writeFileSync(`${this.#markFile}-new`, String(this.#beats().count), { mode: 0o600, flush: true });
    renameSync(`${this.#markFile}-new`, this.#markFile);
    syncFolder(this.#markFile); // without its directory entry a power cut would remove it, as if a copy had been restored
  }

  /** The restore, if consequences of an event may have been done before it. */
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

  /** Time at which the rows were last known to be the newest, if they no longer are. */
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
