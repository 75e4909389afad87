/** Admission and completion over facts: decisions read memory; a request is a row before its socket opens. */
import type { DatabaseSync } from "node:sqlite";
import { defined } from "../../core/defined.ts";
import type { KeyId } from "../../core/ids.ts";
import { HOUR } from "../../core/units.ts";
import type { LiveAttempt, Present } from "../../live/present.ts";
import { setOf, type LiveIntent } from "../../live/live-intent.ts";
import type { AdmissionRequest, AdmissionView, OwnLimitUse } from "../../limits/verdict.ts";
import { originsOf, type Attempt } from "../../outbox/intent.ts";
import type { Admission, AdmissionStore, Admit, Decide, Completion } from "../admission.ts";
import type { OpenAttempt, WriteInFlight } from "../controls.ts";
import type { Commits } from "./commits.ts";
import type { ControlTable } from "./control-table.ts";
import type { Obligations } from "./obligations.ts";
import type { QuotaTable } from "./quota.ts";
import type { SpendingTable } from "./spending.ts";
import { RESTORED_CODE } from "./restore-detection.ts";
import { maybeNumber, numberOf } from "./columns.ts";
import type { WatchWriter } from "./sources.ts";
import type { InsertEvent } from "./inbox.ts";
import type { FactLog } from "./fact-log.ts";
import type { Changes } from "./outbox.ts";

export interface AdmissionParts {
  readonly present: Present;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  readonly owed: Obligations;
  readonly soon: Obligations;
  readonly changes: Changes;
  readonly insertEvent: InsertEvent;
  readonly writer: WatchWriter;
}

/** Longest duration of a request. */
const LONGEST_REQUEST_MS = HOUR;

export function createAdmission(db: DatabaseSync, parts: AdmissionParts): AdmissionStore {
  const { present, commits, log, quota, spending, changes, insertEvent, writer } = parts;
  const uses = createLimitedUses(db, () => quota.lagMs());
  const viewOf = createView(parts, uses);

  const admit = (wanted: Admit, decide: Decide): Admission => {
    const { request, intent, deadlineAt } = wanted;
    if (intent !== undefined && !isAdmissible(present.intents.get(intent.seq))) return { kind: "gone" };
    commits.begin();
    const view = viewOf(wanted);
    const verdict = decide(view);
    if (verdict.kind !== "admit") return verdict;
    const { lane, cost } = verdict.charge;
    const { hold } = verdict;
    if (hold !== undefined && intent !== undefined)
      commits.undoable(() =>
        spending.hold({ id: intent.id, specialist: request.specialist, ...hold, expiresAt: wanted.holdExpiresAt }, view.now),
      );
    quota.charge(request.key, lane, cost, view.now);
    const { specialist, key, operation } = request;
    const about = { specialist, operation, lane, cost, deadlineAt };
    const seq = log.next;
    log.add({ seq, fact: "attempt", at: view.now, intent: intent?.seq, target: wanted.target, key, ...about });
    if (isLimited(request)) commits.add(() => uses.begin(key, operation, seq, { at: view.now, deadlineAt }));
    return { kind: "admitted", attempt: { seq, keyId: key, startedAt: view.now, ...about } };
  };

  const settle = (settlement: Completion): void => {
    const { attempt, outcome, status, note, now, intent, heard, end, events, watches, paid } = settlement;
    commits.begin();
    if (heard !== undefined || end.ending === "answered") quota.heed(heard, now);
    if (!present.attempts.has(attempt.seq)) return; // counted at recovery already
    const { countedAt } = quota.end(end, now);
    const live = intent === undefined ? undefined : present.intents.get(intent.seq);
    const moves = live !== undefined && intent !== undefined && originsOf("answer", intent.change.state).includes(live.state);
    const set = moves ? setOf(live, intent.change, now, RESTORED_CODE) : undefined;
    log.add({ seq: log.next, fact: "answer", at: now, attempt: attempt.seq, outcome, status, note: note?.slice(0, 500), countedAt, set });
    commits.add(() => uses.end(attempt, countedAt));
    if (!moves) return;
    changes.follow(live, paid, now);
    for (const event of events) insertEvent(event, now);
    if (watches.length > 0) commits.add(() => watches.forEach((watch) => writer.watch(watch, now)));
  };

  return {
    admit(wanted, decide) {
      const admission = admit(wanted, decide);
      return admission.kind === "admitted" ? commits.synced(admission) : Promise.resolve(admission);
    },
    async explain(wanted, decide) {
      if (!commits.lost) commits.begin();
      return decide(viewOf(wanted));
    },
    // A completion lost in a power cut leaves its attempt open: counted, and in doubt.
    complete: settle,
  };
}

function isAdmissible(intent: LiveIntent | undefined): boolean {
  return intent !== undefined && originsOf("admission", "sending").includes(intent.state);
}

function isLimited({ ownLimits }: AdmissionRequest): boolean {
  return ownLimits !== undefined && ownLimits.length > 0;
}

/** Loads the values an admission depends on, and no others. */
function createView(
  { present, quota, spending, guardian, owed, soon }: AdmissionParts,
  uses: LimitedUses,
): (wanted: Admit) => AdmissionView {
  return ({ request, intent, now, known }) => {
    quota.passTime(now);
    const { specialist, price, key } = request;
    const clash = intent === undefined ? undefined : present.conflict(intent.conflictKey, intent.seq);
    const priced = price.kind === "priced" ? price.worst.currency : undefined;
    const hold = priced === undefined || intent === undefined ? undefined : spending.find(intent.id);
    return {
      now,
      request,
      halt: known.halt ?? guardian.stopped("halt", specialist),
      pause: guardian.stopped("pause", specialist),
      conflict: clash === undefined ? undefined : { intent: clash.id, since: clash.sentAt ?? clash.createdAt },
      may: known.may,
      caps: known.caps,
      review: known.review && intent !== undefined,
      approval: known.review && intent !== undefined ? guardian.approval(intent.id) : undefined,
      quota: quota.load(key),
      ownUses: isLimited(request) ? uses.of(request, now) : undefined,
      obligations: owed(key, now),
      soon: request.promises === undefined || request.promises === 0 ? undefined : soon(key, now),
      accounts: priced === undefined ? undefined : spending.chain(specialist, priced, now),
      held: hold?.state === "open" ? hold.money : undefined,
    };
  };
}

interface LimitedUses {
  begin(key: KeyId, operation: string, attempt: number, times: { readonly at: number; readonly deadlineAt: number }): void;
  /** `countedAt` is the time from which the request ages; undefined if it never left. */
  end(attempt: Attempt, countedAt: number | undefined): void;
  of(request: AdmissionRequest, now: number): readonly OwnLimitUse[];
}

/** A request counts from its admission until the limit's length after its answer, because the network counts it somewhere in between. */
function createLimitedUses(db: DatabaseSync, lagMs: () => number): LimitedUses {
  const begin = db.prepare("INSERT INTO limited_use (key_id, operation, attempt, started_at, deadline_at) VALUES (?, ?, ?, ?, ?)");
  const end = db.prepare("UPDATE limited_use SET ended_at = ? WHERE key_id = ? AND operation = ? AND attempt = ?");
  const drop = db.prepare("DELETE FROM limited_use WHERE key_id = ? AND operation = ? AND attempt = ?");
  const any = db.prepare("SELECT 1 FROM limited_use LIMIT 1");
  const count = db.prepare(`
    SELECT count(*) AS used, min(coalesce(ended_at, deadline_at)) AS oldest FROM limited_use
    WHERE (key_id = ?1 OR ?6) AND operation IN (SELECT value FROM json_each(?2)) AND started_at > ?3 AND coalesce(ended_at, ?4) > ?5`);
  /** Most networks have no such limits: then no answer needs a statement. */
  let isUsed = any.get() !== undefined;
  return {
    begin(key, operation, attempt, { at, deadlineAt }) {
      isUsed = true;
      begin.run(key, operation, attempt, at - lagMs(), deadlineAt - lagMs());
    },
    end({ keyId, operation, seq }, countedAt) {
      if (!isUsed) return;
      if (countedAt === undefined) drop.run(keyId, operation, seq);
      else end.run(countedAt, keyId, operation, seq);
    },
    of({ key, ownLimits = [] }, now) {
      const at = now - lagMs();
      return ownLimits.map((limit) => {
        const operations = JSON.stringify(limit.operations);
        const earliest = at - limit.perMs;
        const row = count.get(key, operations, earliest - LONGEST_REQUEST_MS, at, earliest, Number(limit.ofAllKeys === true));
        const used = row === undefined ? 0 : numberOf(row, "used");
        const oldest = row === undefined ? undefined : maybeNumber(row, "oldest");
        return { limit, used, freesAt: (oldest ?? at) + limit.perMs + lagMs() };
      });
    },
  };
}

/** Actions in doubt. */
export function writesInDoubt(present: Present): readonly WriteInFlight[] {
  const found: WriteInFlight[] = [];
  for (const { id, state, specialist, operation, target, sentAt, createdAt, nextAt } of present.intents.values())
    if (state === "in_doubt")
      found.push(defined({ id, handle: specialist, operation, target, startedAt: sentAt ?? createdAt, deadlineAt: nextAt }));
  return found;
}

/** Requests without an answer, oldest first. */
export function openAttempts(present: Present): readonly OpenAttempt[] {
  return [...present.attempts.values()].map(
    ({ seq, specialist, key, intent, operation, target, lane, cost, at, deadlineAt }: LiveAttempt) => ({
      seq,
      specialist,
      keyId: key,
      operation,
      target,
      lane,
      cost,
      startedAt: at,
      deadlineAt,
      intent: intent === undefined ? undefined : present.intents.get(intent)?.id,
    }),
  );
}
