/** The tables of approvals, halts and pauses. The caller owns the transaction. */
import type { DatabaseSync } from "node:sqlite";
import { asIntentId, type Handle, type IntentId } from "../../core/ids.ts";
import type { Approval } from "../../limits/approvals.ts";
import { APPROVALS_KEPT_MS, PRUNE_BATCH } from "../../limits/row-lifetimes.ts";
import { EVERYONE, type Stop } from "../../limits/verdict.ts";
import type { Word } from "../controls.ts";

export type StopKind = "halt" | "pause";

export class ControlTable {
  readonly #sql: ReturnType<typeof statements>;
  #known: Map<string, Stop> | undefined;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  /**
   * Asks for approval of an intent. Asking again changes nothing, unless the payload changed: the question then starts over. A rejection
   * stays.
   */
  ask({ intent, payloadHash, amount, askedAt, expiresAt }: Omit<Approval, "state" | "decidedAt" | "reason">, specialist: Handle): void {
    this.#sql.ask.run(intent, specialist, payloadHash, amount?.currency ?? null, amount?.micros ?? null, askedAt, expiresAt);
  }

  approval(intent: IntentId): Approval | undefined {
    const row = this.#sql.approval.get(intent);
    return row === undefined ? undefined : approvalOf(row);
  }

  /**
   * Records the Guardian's answer; an approval holds for what was shown. False if nothing was asked, it was answered already, or it has
   * expired.
   */
  answer(intent: IntentId, word: Word, now: number): boolean {
    const shown = word.verdict === "approved" ? word.shown : undefined;
    const { changes } = this.#sql.answer.run(
      word.verdict,
      now,
      word.reason ?? null,
      shown?.payloadHash ?? null,
      shown?.amount?.currency ?? null,
      shown?.amount?.micros ?? null,
      intent,
      now,
    );
    return Number(changes) > 0;
  }

  /** Stops one handle, or {@link EVERYONE}. Effective for every admission after the commit. */
  stop(kind: StopKind, scope: string, reason: string, now: number): void {
    this.#sql.stop.run(kind, scope, now, reason);
    this.#known = undefined;
  }

  /** Ends a stop. False if there was none. */
  lift(kind: StopKind, scope: string): boolean {
    this.#known = undefined;
    return Number(this.#sql.lift.run(kind, scope).changes) > 0;
  }

  /** The stop that applies to a specialist, everyone's first. */
  stopped(kind: StopKind, specialist: Handle): Stop | undefined {
    const stops = this.#stops();
    if (stops.size === 0) return undefined;
    return stops.get(`${kind} ${EVERYONE}`) ?? stops.get(`${kind} ${specialist}`);
  }

  stops(kind: StopKind): Stop[] {
    return [...this.#stops()].filter(([name]) => name.startsWith(`${kind} `)).map(([, stop]) => stop);
  }

  forget(): void {
    this.#known = undefined;
  }

  prune(now: number): number {
    return Number(this.#sql.prune.run(now - APPROVALS_KEPT_MS, now - APPROVALS_KEPT_MS, PRUNE_BATCH).changes);
  }

  /** Few rows, read at every admission, so kept in memory. */
  #stops(): Map<string, Stop> {
    this.#known ??= new Map(
      this.#sql.stops.all().map((row) => {
        const scope = String(row["scope"]);
        return [`${String(row["kind"])} ${scope}`, { scope, since: Number(row["since"]), reason: String(row["reason"]) }];
      }),
    );
    return this.#known;
  }
}

export function approvalOf(row: Record<string, unknown>): Approval {
  const { state, decided_at: decidedAt, currency, amount, reason } = row;
  return {
    intent: asIntentId(String(row["intent"])),
    payloadHash: String(row["payload_hash"]),
    amount: typeof currency === "string" ? { currency, micros: Number(amount) } : undefined,
    state: state === "approved" || state === "rejected" ? state : "asked",
    askedAt: Number(row["asked_at"]),
    decidedAt: typeof decidedAt === "number" ? decidedAt : undefined,
    expiresAt: Number(row["expires_at"]),
    reason: typeof reason === "string" ? reason : undefined,
  };
}

function statements(db: DatabaseSync) {
  return {
    ask: db.prepare(`
      INSERT INTO approval (intent, specialist, payload_hash, currency, amount, state, asked_at, expires_at) VALUES (?, ?, ?, ?, ?, 'asked', ?, ?)
      ON CONFLICT DO UPDATE SET payload_hash = excluded.payload_hash, currency = excluded.currency, amount = excluded.amount, state = 'asked',
        asked_at = excluded.asked_at, expires_at = excluded.expires_at, decided_at = NULL, reason = NULL
      WHERE payload_hash <> excluded.payload_hash AND state <> 'rejected'`),
    approval: db.prepare("SELECT * FROM approval WHERE intent = ?"),
    answer: db.prepare(`
      UPDATE approval SET state = ?1, decided_at = ?2, reason = ?3, payload_hash = coalesce(?4, payload_hash),
        currency = iif(?1 = 'approved', ?5, currency), amount = iif(?1 = 'approved', ?6, amount)
      WHERE intent = ?7 AND state = 'asked' AND expires_at > ?8`),
    stops: db.prepare("SELECT kind, scope, since, reason FROM stop"),
    stop: db.prepare("INSERT INTO stop (kind, scope, since, reason) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"),
    lift: db.prepare("DELETE FROM stop WHERE kind = ? AND scope = ?"),
    prune: db.prepare(
      "DELETE FROM approval WHERE intent IN (SELECT intent FROM approval WHERE decided_at < ? OR (state = 'asked' AND expires_at < ?) LIMIT 0 + ?)",
    ),
  };
}
