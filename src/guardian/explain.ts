/** Explains why something waits, was refused or is parked: the rule, since when, until when, and the remedy. */
import { isOperationName } from "../contract/operations.ts";
import type { Observation } from "../contract/reading/pinned-fields.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { foreignCode } from "../core/error-codes.ts";
import { Refused } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import { knownSentAt, lastWentOnAt } from "../outbox/sent-at.ts";
import { asOf, GOES_FIRST, UNSENT, type Intent } from "../outbox/intent.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { freezeReason } from "../limits/spending.ts";
import { endsByTime, isStop } from "../limits/wait-rules.ts";
import type { Store } from "../store/store.ts";
import type { LostStore } from "../store/store-lost.ts";
import type { Member } from "../gateway/member.ts";
import type { Dependencies } from "../runtime/dependencies.ts";
import type { ApprovalShown, Explanation, Reason } from "./explanation.ts";
import { APPROVAL_WANTED, showApproval, showEvent, waitForWord } from "./proposals.ts";
import { frozenFor, hintFor, remedyOf, type Subject } from "./remedy.ts";
import { stopsInForce } from "./stops-in-force.ts";
import { showSpecialists, type SourceShown, type WaitShown } from "./status.ts";
import type { ParkedShown } from "./parked-shown.ts";
import type { OpenBreaker } from "../gateway/breaker.ts";
import { storedBreakers, type Breakers } from "../gateway/network-breakers.ts";
import type { EventRow } from "../store/history.ts";
import { explainEvent, reasonOfFailing, showFailing } from "./failures.ts";
import { explainObject } from "./explain-object.ts";
import { withHeld } from "./held.ts";

export interface Asking {
  readonly store: Store;
  readonly clock: Clock;
  /** Set if a runtime is running. */
  readonly parts?: Dependencies;
  readonly memberOf: (handle: string) => Promise<Member | undefined>;
}

/** One event may reach many specialists. */
const MAX_SAME_EVENT = 50;

/** Takes the id of an intent, an event, or an object of the network, a handle, or the name of an operation. Throws `Refused` (`nothing_found`). */
export async function explain(asking: Asking, id: string): Promise<Explanation> {
  const intent = await asking.store.findIntent(id);
  if (intent !== undefined) return explainIntent(asking, intent);
  const events = await asking.store.reads.findEvents(id, MAX_SAME_EVENT);
  if (events.length > 0) return explainEvents(events);
  // A specialist that has sent nothing yet has no row.
  if (
    asking.parts?.keptOut?.().has(asHandle(id)) === true ||
    (await asking.store.reads.handles()).includes(asHandle(id)) ||
    (asking.parts !== undefined && (await asking.memberOf(id)) !== undefined)
  )
    return explainSpecialist(asking, id);
  const operation = await explainOperation(asking, id);
  if (operation !== undefined) return operation;
  const object = await explainObject(asking, id, (row) => explainIntent(asking, row));
  if (object !== undefined) return object;
  throw new Refused("nothing_found", `there is nothing called "${id}"`, {
    hint: "ids of actions are in retinue log, what is parked is in retinue status; a handle, an operation, or an id of the network that was handled here works too",
  });
}

/** The state at the specialist with the worst result, and at the others. */
function explainEvents(events: readonly EventRow[]): Explanation {
  const rank = ({ state, failure }: EventRow): number => (state === "done" ? 2 : failure === undefined && state !== "parked" ? 1 : 0);
  const [first, ...others] = events
    .toSorted((a, b) => rank(a) - rank(b))
    .map((event) => explainEvent(event, events.length === 1 ? event.id : `${event.id} --as ${event.specialist}`));
  if (first === undefined) throw new Refused("nothing_found", "there is no such event");
  return others.length === 0 ? first : { ...first, found: others };
}

async function explainIntent(asking: Asking, row: Intent): Promise<Explanation> {
  const { store, clock, parts } = asking;
  const intent = asOf(row, clock.now());
  const [event, asked] = await Promise.all([store.reads.eventOf(intent), store.approvalOf(intent.id)]);
  const member = parts === undefined ? undefined : await asking.memberOf(intent.specialist);
  const approval = asked === undefined ? undefined : showApproval(intent, asked, clock.now(), parts && { profile: parts.profile, member });
  const reasons = await reasonsOf(asking, intent, member, approval);
  const subject = { id: intent.id, handle: intent.specialist, operation: intent.operation };
  // The code of what is over may be the network's own word.
  const remedy = UNSENT.includes(intent.state) ? await firstRemedy(asking, reasons, subject) : undefined;
  const hint = remedy ?? hintFor(intent);
  return defined({
    id: intent.id,
    about: "intent",
    handle: intent.specialist,
    what: intent.operation,
    state: intent.state,
    since: lastWentOnAt(intent),
    reasons,
    input: intent.input,
    created: intent.createdRef,
    event: event === undefined ? undefined : showEvent(event),
    approval,
    target: intent.target,
    hint,
  });
}

async function reasonsOf(
  asking: Asking,
  intent: Intent,
  member: Member | undefined,
  approval: ApprovalShown | undefined,
): Promise<Reason[]> {
  const { store, parts, clock } = asking;
  const own: Reason[] =
    intent.code === undefined && intent.message === undefined
      ? []
      : [
          {
            rule: foreignCode(intent.code ?? intent.state),
            message: intent.message ?? "",
            lane: intent.lane,
            ...(intent.nextAt > clock.now() ? { until: intent.nextAt } : {}),
          },
        ];
  switch (intent.state) {
    case "ready":
    case "proposed": {
      const first = await goesFirst(store, intent);
      const word = intent.state === "proposed" ? [waitForWord(intent, approval)] : [];
      if (parts === undefined || member === undefined)
        return [
          ...first,
          ...(await stopsFor(asking, intent.specialist)),
          ...(await standingFor(asking, intent.specialist, intent.operation)),
          ...word,
          ...own,
          notRunning(parts, intent.specialist),
        ];
      const held = [...(await heldBy(parts, member, intent)).filter(({ rule }) => rule !== APPROVAL_WANTED), ...word];
      if (first.length > 0 || held.length > 0) return [...first, ...held];
      return own.length > 0 ? own : [{ rule: "next", message: "nothing blocks it: it is sent next", lane: intent.lane }];
    }
    case "in_doubt":
      return [
        {
          rule: intent.code === undefined ? "outcome_unknown" : foreignCode(intent.code),
          message: `${intent.message ?? "no complete answer came back"}; the network is read back, and other actions on the same object wait`,
          lane: intent.lane,
          ...sentSince(intent),
          until: intent.nextAt,
        },
      ];
    case "sending":
      return [
        {
          rule: "sending",
          message: "it is in flight, and its answer is awaited",
          lane: intent.lane,
          ...sentSince(intent),
        },
      ];
    case "confirmed":
    case "refused":
    case "cancelled":
    case "pending":
    case "parked":
      return own;
  }
}

/** The reason if nothing can send: the process is not running, or the specialist is not one of its own. */
function notRunning(parts: Dependencies | undefined, handle: string): Reason {
  const kept = parts?.keptOut?.().get(asHandle(handle));
  if (kept !== undefined) return reasonOfPark(kept);
  return parts === undefined
    ? { rule: "not_running", message: "no runtime uses this store now" }
    : { rule: "not_defined", message: "the running process has no definition of the specialist" };
}

const RETIRED: Reason = {
  rule: "not_defined",
  message: "its definition was removed: what it has begun goes on, and it begins nothing new",
};

/** The gateway's present verdict. */
async function heldBy({ gateway, storeLost }: Dependencies, member: Member, intent: Intent): Promise<Reason[]> {
  const lost = storeLost();
  if (lost !== undefined) return [reasonOfLoss(lost)];
  const verdict = await gateway.explain(member, intent);
  if (verdict.kind === "refuse") return [{ rule: verdict.code, message: verdict.message, lane: verdict.lane, since: verdict.since }];
  const lined = member.waits?.get(intent.lane);
  if (verdict.kind === "admit") return lined === undefined ? [] : [{ ...lined, lane: intent.lane }];
  const { rule, message, lane, window, since, until } = verdict;
  return [defined({ rule, message, lane, since, window, until })];
}

/** Nothing is admitted without a row. */
function reasonOfLoss({ error, since }: LostStore): Reason {
  return { rule: error.code, message: `${error.message}; nothing is sent`, since };
}

const MAX_CHECKED = 1_000;

/** Intents that must go first: the one that creates its target, and the earlier ones of the same handling. */
async function goesFirst(store: Store, intent: Intent): Promise<Reason[]> {
  const { specialist, eventSeq, seq, target, targetIntent, createdAt: since, lane } = intent;
  if (targetIntent !== undefined && target === undefined) {
    const about = await store.findIntent(targetIntent);
    const state = about === undefined ? "" : `, which is ${about.state}`;
    return [{ rule: "depends_on", message: `its target is the object that ${targetIntent} creates${state}`, lane, since }];
  }
  const open = await store.reads.intents({ specialist, states: GOES_FIRST, limit: MAX_CHECKED });
  const before = open.findLast((other) => other.eventSeq === eventSeq && other.seq < seq);
  if (before === undefined) return [];
  const message = `${before.id} (${before.operation}) was decided before it in the same handling and goes first; it is ${before.state}`;
  return [{ rule: "order", message, lane, since }];
}

async function stopsFor({ store, parts }: Asking, handle: string): Promise<Reason[]> {
  const { halts, pauses } = await stopsInForce(store, parts?.unkeptHalts);
  const mine = (scope: string): boolean => scope === EVERYONE || scope === handle;
  return [
    ...halts
      .filter(({ scope }) => mine(scope))
      .map(({ reason, since }) => ({ rule: "halted" as const, message: `halted: ${reason}`, since })),
    ...pauses
      .filter(({ scope }) => mine(scope))
      .map(({ reason, since }) => ({ rule: "paused" as const, message: `paused: ${reason}`, since })),
  ];
}

/** Open breakers that concern one specialist (or everyone), for one operation if it is named. */
async function standingFor(asking: Asking, handle: string, operation?: string): Promise<Reason[]> {
  return reasonsOfStops(await breakersFor(asking, handle, operation));
}

async function firstRemedy(asking: Asking, [first]: readonly Reason[], about: Omit<Subject, "breakers">): Promise<string | undefined> {
  if (first === undefined) return undefined;
  return remedyOf(asking.store, first.rule, { ...about, breakers: await breakersFor(asking, about.handle, about.operation) });
}

async function breakersFor(asking: Asking, handle: string, operation?: string): Promise<readonly OpenBreaker[]> {
  return (await breakersOf(asking))
    .stops()
    .filter((stop) => stop.handle === undefined || stop.handle === handle)
    .filter((stop) => operation === undefined || stop.operation === undefined || stop.operation === operation);
}

function reasonsOfStops(stops: readonly OpenBreaker[]): Reason[] {
  return stops.map(({ code, message, since, probeAt }) => defined({ rule: code, message, since, until: probeAt }));
}

async function breakersOf({ store, clock, parts }: Asking): Promise<Breakers> {
  return parts?.breakers ?? storedBreakers(store, clock);
}

/** Explains an operation: its breakers, and the changes in its answers. */
async function explainOperation(asking: Asking, name: string): Promise<Explanation | undefined> {
  const breakers = await breakersOf(asking);
  const stops = reasonsOfStops(breakers.stops().filter(({ operation }) => operation === name));
  const drift = breakers.drift().filter(({ operation }) => operation === name);
  const isKnown = isOperationName(name) || asking.parts?.profile.operations.has(name) === true;
  if (!isKnown && drift.length === 0 && stops.length === 0) return undefined;
  const changes = drift.map(({ severity, kind, path, type, firstSeenMs, count }) => ({
    rule: `drift_${severity}` as const,
    message: `${changeText({ kind, path, type })}, seen ${times(count)}`,
    since: firstSeenMs,
  }));
  const reasons = [...stops, ...changes];
  return {
    id: name,
    about: "operation",
    handle: "",
    what: name,
    state: stops.length > 0 ? "stopped" : drift.length > 0 ? "changed" : "open",
    since: Math.min(asking.clock.now(), ...reasons.map(({ since = Infinity }) => since)),
    reasons,
    ...(reasons.length === 0
      ? {}
      : { hint: `retinue doctor --diff shows what changed${stops.length === 0 ? "" : `; once it is fixed: retinue retry ${name}`}` }),
  };
}

/** Waits of lanes, without those of a stop, which is a separate reason. */
function waitsOf(waits: readonly WaitShown[]): readonly Reason[] {
  return waits
    .filter(({ rule }) => !isStop(rule))
    .map(({ lane, rule, message, since, until }) => ({ rule, message, lane, since, ...(endsByTime(rule) ? { until } : {}) }));
}

function reasonOfPark({ code, message, since, probeAt }: ParkedShown): Reason {
  return defined({ rule: code, message, since, until: probeAt });
}

function unreadOf(sources: readonly SourceShown[]): readonly Reason[] {
  return sources.flatMap(({ name, readFailure }) =>
    readFailure === undefined
      ? []
      : [{ rule: "list_unread" as const, message: `${name} cannot be read: ${readFailure.message}`, since: readFailure.since }],
  );
}

/** A change in the answers of the network. */
export function changeText({ kind, path, type }: Pick<Observation, "kind" | "path" | "type">): string {
  switch (kind) {
    case "new-field":
      return `${path} (${type}) is new`;
    case "missing-field":
      return `${path} is missing`;
    case "type-change":
      return `${path} now has a different type (${type})`;
    case "winner-change":
      return `${path} (${type}) is its new place`;
    case "oldest-first":
      return "it lists the oldest first, so new items are not on the pages that are read: request the newest first by its query in the profile";
    case "new-status":
      return `${path} has an unknown value`;
  }
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

async function explainSpecialist(asking: Asking, handle: string): Promise<Explanation> {
  const { store, clock, parts, memberOf } = asking;
  // Where nothing runs, its rows say more than its definition: a member that never ran has no trouble.
  const member = parts === undefined ? undefined : await memberOf(handle);
  const keptOut = parts?.keptOut?.();
  const [shown] = await showSpecialists(store, clock, { handle, keptOut, ...(member === undefined ? {} : { members: [member] }) });
  if (shown === undefined) throw new Refused("nothing_found", `there is no specialist "${handle}"`);
  const parked = shown.parked === undefined ? [] : [reasonOfPark(shown.parked)];
  const told =
    shown.cooldown === undefined
      ? []
      : [{ rule: "key_parked" as const, message: `the network asked to wait: ${shown.cooldown.reason}`, until: shown.cooldown.until }];
  const stops = await standingFor(asking, handle);
  const frozen = (await frozenFor(store, handle)).map(({ scope, currency, reason, since }) => ({
    rule: "spend_frozen" as const,
    message: freezeReason(scope, currency, reason),
    since,
  }));
  const { failing } = await showFailing(store, asHandle(handle));
  const absent = member === undefined && keptOut?.has(asHandle(handle)) !== true ? [notRunning(parts, handle)] : [];
  const left = member?.retired === true ? [RETIRED] : [];
  const lost = parts?.storeLost();
  const own: readonly Reason[] = [
    ...(lost === undefined ? [] : [reasonOfLoss(lost)]),
    ...(await stopsFor(asking, handle)),
    ...frozen,
    ...stops,
    ...parked,
    ...told,
    ...failing.map(reasonOfFailing),
    ...waitsOf(shown.waits),
    ...modelWaitsOf(asking, member),
    ...unreadOf(shown.sources),
    ...absent,
    ...left,
  ];
  const reasons = withHeld(own, shown.held);
  const hint = (await firstRemedy(asking, own, { id: handle, handle })) ?? failing[0]?.hint;
  return defined({
    id: handle,
    about: "specialist",
    handle,
    what: "specialist",
    state: reasons.length === 0 ? "working" : reasons[0]?.rule === "handler_failed" ? "failing" : "waiting",
    since: clock.now(),
    reasons,
    hint,
  });
}

/** Models that its behaviours ask, and that cannot be asked now. */
function modelWaitsOf({ parts }: Asking, member: Member | undefined): readonly Reason[] {
  const uses = member?.specialist.models ?? [];
  if (uses.length === 0) return [];
  const waits = parts?.models?.waits() ?? [];
  return waits
    .filter(
      ({ model, handle }) => uses.some((use) => use.model === model) && (handle === undefined || handle === member?.specialist.handle),
    )
    .map(({ code, message, since, until }) => ({ rule: code, message, since, until }));
}

function sentSince(intent: Intent): { readonly since?: number } {
  const since = knownSentAt(intent);
  return since === undefined ? {} : { since };
}
