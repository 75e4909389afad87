/** Why something waits, was refused or is parked: which rule, since when, until when, and what can be done. */
import { isOperationName } from "../contract/operations.ts";
import type { Observation } from "../contract/reading/pins.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import { knownSentAt, lastWentOnAt } from "../outbox/sent-at.ts";
import { asOf, type Intent } from "../outbox/intent.ts";
import { mayHaveHappened } from "../outbox/reconcile.ts";
import { EVERYONE } from "../limits/admission.ts";
import { freezeReason, GUARDIAN, scopeOf } from "../limits/spending.ts";
import { remedyFor, unfreezeCommand } from "../limits/wait-rules.ts";
import type { Store } from "../store/store.ts";
import type { Member } from "../gateway/member.ts";
import type { Dependencies } from "../runtime/dependencies.ts";
import type { ApprovalShown, Explanation, Reason } from "./explanation.ts";
import { APPROVAL_WANTED, showApproval, showEvent, waitForWord } from "./proposals.ts";
import { showSpecialist, type ParkedShown, type SourceShown, type WaitShown } from "./status.ts";
import type { OpenBreaker } from "../gateway/classify-refusal.ts";
import { storedBreakers, type Breakers } from "../gateway/breakers.ts";
import type { Frozen } from "../store/controls.ts";
import type { EventRow } from "../store/history.ts";

export interface Asking {
  readonly store: Store;
  readonly clock: Clock;
  /** Where a runtime is at work. */
  readonly parts?: Dependencies;
  readonly memberOf: (handle: string) => Promise<Member | undefined>;
}

/** Takes the id of an intent, the id of an event, a handle, or the name of an operation. Throws `Refused` (`nothing_found`). */
export async function explain(asking: Asking, id: string): Promise<Explanation> {
  const intent = await asking.store.findIntent(id);
  if (intent !== undefined) return explainIntent(asking, intent);
  const [event] = await asking.store.findEvents(id, 1);
  if (event !== undefined) return explainEvent(event);
  // One that has sent nothing yet has no row of its own.
  if ((await asking.store.handles()).includes(asHandle(id)) || (asking.parts !== undefined && (await asking.memberOf(id)) !== undefined))
    return explainSpecialist(asking, id);
  const operation = await explainOperation(asking, id);
  if (operation !== undefined) return operation;
  throw new Refused("nothing_found", `there is nothing called "${id}"`, {
    hint: "ids of actions are in retinue log, what is parked is in retinue status; a handle or an operation works too",
  });
}

async function explainIntent(asking: Asking, row: Intent): Promise<Explanation> {
  const { store, clock, parts } = asking;
  const intent = asOf(row, clock.now());
  const [event, asked] = await Promise.all([store.eventOf(intent), store.approvalOf(intent.id)]);
  const member = parts === undefined ? undefined : await asking.memberOf(intent.specialist);
  const approval = asked === undefined ? undefined : showApproval(intent, asked, clock.now(), parts && { profile: parts.profile, member });
  const reasons = await reasonsOf(asking, intent, member, approval);
  const hint = (await remedyOf(store, reasons, intent.specialist, intent.id)) ?? hintFor(intent);
  return defined({
    id: intent.id,
    about: "intent",
    handle: intent.specialist,
    what: intent.operation,
    state: intent.state,
    since: lastWentOnAt(intent),
    reasons,
    input: intent.input,
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
            rule: intent.code ?? intent.state,
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
          ...(await stopsFor(store, intent.specialist)),
          ...(await standingFor(asking, intent.specialist, intent.operation)),
          ...word,
          ...own,
          notRunning(parts),
        ];
      const held = [...(await heldBy(parts, member, intent)).filter(({ rule }) => rule !== APPROVAL_WANTED), ...word];
      if (first.length > 0 || held.length > 0) return [...first, ...held];
      return own.length > 0 ? own : [{ rule: "next", message: "nothing stands in its way: it goes out next", lane: intent.lane }];
    }
    case "in_doubt":
      return [
        {
          rule: intent.code ?? "outcome_unknown",
          message: `${intent.message ?? "no complete answer came back"}; it is looked for on the network, and what else is about the same waits`,
          lane: intent.lane,
          ...sentSince(intent),
          until: intent.nextAt,
        },
      ];
    case "sending":
      return [
        {
          rule: "sending",
          message: "it is on its way, and its answer is waited for",
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

/** Nobody sends: the process is not there, or the specialist is none of its any more. */
function notRunning(parts: Dependencies | undefined): Reason {
  return parts === undefined
    ? { rule: "not_running", message: "nothing runs on this store now" }
    : { rule: "not_defined", message: "what runs has no definition of the specialist any more" };
}

/** What the door says of it now. */
async function heldBy({ gateway }: Dependencies, member: Member, intent: Intent): Promise<Reason[]> {
  const verdict = await gateway.explain(member, intent);
  if (verdict.kind === "refuse") return [{ rule: verdict.code, message: verdict.message, lane: verdict.lane, since: verdict.since }];
  const lined = member.waits?.get(intent.lane);
  if (verdict.kind === "admit") return lined === undefined ? [] : [{ ...lined, lane: intent.lane }];
  const { rule, message, lane, window, since, until } = verdict;
  return [defined({ rule, message, lane, since, window, until })];
}

const MAX_LOOKED_AT = 1_000;

/** What goes out before it: the action whose object it is about, and the earlier ones of the same handling. */
async function goesFirst(store: Store, intent: Intent): Promise<Reason[]> {
  const { specialist, eventSeq, seq, target, targetIntent, createdAt: since, lane } = intent;
  if (targetIntent !== undefined && target === undefined) {
    const about = await store.findIntent(targetIntent);
    const state = about === undefined ? "" : `, which is ${about.state}`;
    return [{ rule: "depends_on", message: `it is about what ${targetIntent} creates${state}`, lane, since }];
  }
  const open = await store.intents({ specialist, states: ["ready", "sending"], limit: MAX_LOOKED_AT });
  const before = open.findLast((other) => other.eventSeq === eventSeq && other.seq < seq);
  if (before === undefined) return [];
  const message = `${before.id} (${before.operation}) was decided before it in the same handling and goes first; it is ${before.state}`;
  return [{ rule: "order", message, lane, since }];
}

/** What a person can do about the first rule, where there is something. */
async function remedyOf(store: Store, [first]: readonly Reason[], handle: string, id: string): Promise<string | undefined> {
  if (first === undefined) return undefined;
  if (first.rule === "spend_frozen") {
    const [mine] = await frozenFor(store, handle);
    return mine === undefined ? undefined : unfreezeCommand(mine.scope);
  }
  const { halts, pauses } = await store.stops();
  const isEveryones = (first.rule === "halted" ? halts : pauses).some(({ scope }) => scope === EVERYONE);
  return remedyFor(first.rule, { handle: isEveryones ? undefined : handle, id });
}

async function frozenFor(store: Store, handle: string): Promise<readonly Frozen[]> {
  return (await store.frozen()).filter(({ scope }) => scope === GUARDIAN || scope === scopeOf(asHandle(handle)));
}

async function stopsFor(store: Store, handle: string): Promise<Reason[]> {
  const { halts, pauses } = await store.stops();
  const mine = (scope: string): boolean => scope === EVERYONE || scope === handle;
  return [
    ...halts.filter(({ scope }) => mine(scope)).map(({ reason, since }) => ({ rule: "halted", message: `halted: ${reason}`, since })),
    ...pauses.filter(({ scope }) => mine(scope)).map(({ reason, since }) => ({ rule: "paused", message: `paused: ${reason}`, since })),
  ];
}

function hintFor(intent: Intent): string | undefined {
  const { state, id } = intent;
  switch (state) {
    case "proposed":
      return remedyFor("approval_wanted", { handle: undefined, id });
    case "parked":
      return mayHaveHappened(intent)
        ? `look on the network, then: retinue settle ${id} --happened, --did-not or --give-up`
        : `retinue retry ${id}, or retinue settle ${id} --give-up`;
    case "in_doubt":
      return `the network is read back by itself; if you know better: retinue settle ${id} --happened or --did-not`;
    case "pending":
      return `the network waits for its own Guardian: decide there, and where no webhook tells of it: retinue settle ${id} --happened or --give-up`;
    default:
      return undefined;
  }
}

function explainEvent(event: EventRow): Explanation {
  const { state, note, notBefore, attempts } = event;
  const waits = state === "ready" && note !== undefined;
  return {
    id: event.id,
    about: "event",
    handle: event.specialist,
    what: event.kind,
    state,
    since: event.doneAt ?? event.createdAt,
    reasons:
      state === "parked" || waits
        ? [
            {
              rule: state === "parked" ? "handler_failed" : "suspended",
              message: `${note ?? ""}${attempts > 0 ? ` (failed ${times(attempts)})` : ""}`,
              ...(waits ? { until: notBefore } : {}),
            },
          ]
        : [],
    ...(state === "parked" ? { hint: `mend the behaviour, then: retinue retry ${event.id}` } : {}),
  };
}

/** What the network made us stop that concerns one specialist (or everyone), as far as one operation where it is named. */
async function standingFor(asking: Asking, handle: string, operation?: string): Promise<Reason[]> {
  const stops = (await standingOf(asking)).stops();
  return reasonsOfStops(
    stops
      .filter((stop) => stop.handle === undefined || stop.handle === handle)
      .filter((stop) => operation === undefined || stop.operation === undefined || stop.operation === operation),
  );
}

function reasonsOfStops(stops: readonly OpenBreaker[]): Reason[] {
  return stops.map(({ code, message, since, probeAt }) => defined({ rule: code, message, since, until: probeAt }));
}

async function standingOf({ store, clock, parts }: Asking): Promise<Breakers> {
  return parts?.breakers ?? storedBreakers(store, clock);
}

/** An operation by name: what stops it, and how its answers departed from what was seen before. */
async function explainOperation(asking: Asking, name: string): Promise<Explanation | undefined> {
  const standing = await standingOf(asking);
  const stops = reasonsOfStops(standing.stops().filter(({ operation }) => operation === name));
  const drift = standing.drift().filter(({ operation }) => operation === name);
  const isKnown = isOperationName(name) || asking.parts?.profile.operations.has(name) === true;
  if (!isKnown && drift.length === 0 && stops.length === 0) return undefined;
  const changes = drift.map(({ severity, kind, path, type, firstSeenMs, count }) => ({
    rule: `drift_${severity}`,
    message: `${changed(kind, path, type)}, seen ${times(count)}`,
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
      : { hint: `retinue doctor --diff says what changed${stops.length === 0 ? "" : `; once it is mended: retinue retry ${name}`}` }),
  };
}

/** Told already, since its stop is; and what only asks again after a while has no time at which it ends. */
const STOPPED: readonly string[] = ["halted", "paused"];
const WITHOUT_END: readonly string[] = ["key_unusable", "token_unavailable"];

function waitsOf(waits: readonly WaitShown[]): readonly Reason[] {
  return waits
    .filter(({ rule }) => !STOPPED.includes(rule))
    .map(({ lane, rule, message, since, until }) => ({ rule, message, lane, since, ...(WITHOUT_END.includes(rule) ? {} : { until }) }));
}

function reasonOfPark({ code, message, since, probeAt }: ParkedShown): Reason {
  return defined({ rule: code, message, since, until: probeAt });
}

function unreadOf(sources: readonly SourceShown[]): readonly Reason[] {
  return sources.flatMap(({ name, readFailure }) =>
    readFailure === undefined
      ? []
      : [{ rule: "list_unread", message: `${name} cannot be read: ${readFailure.message}`, since: readFailure.since }],
  );
}

function changed(kind: Observation["kind"], path: string, type: string): string {
  switch (kind) {
    case "new-field":
      return `${path} (${type}) is new`;
    case "missing-field":
      return `${path} is not there any more`;
    case "type-change":
      return `${path} comes as a different type now (${type})`;
    case "winner-change":
      return `${path} (${type}) is where it is found now`;
    case "oldest-first":
      return "it shows the oldest first, so what is new is not on the pages that are read: ask for the newest first by its query in the profile";
    case "new-status":
      return `${path} says something unknown`;
  }
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

async function explainSpecialist(asking: Asking, handle: string): Promise<Explanation> {
  const { store, clock, memberOf } = asking;
  const member = await memberOf(handle);
  const shown = await showSpecialist(store, clock, handle, member);
  const parked = shown.parked === undefined ? [] : [reasonOfPark(shown.parked)];
  const told =
    shown.cooldown === undefined
      ? []
      : [{ rule: "key_parked", message: `the network asked to wait: ${shown.cooldown.reason}`, until: shown.cooldown.until }];
  const stops = await standingFor(asking, handle);
  const frozen = (await frozenFor(store, handle)).map(({ scope, currency, reason, since }) => ({
    rule: "spend_frozen",
    message: freezeReason(scope, currency, reason),
    since,
  }));
  const absent = asking.parts === undefined || member === undefined ? [notRunning(asking.parts)] : [];
  const reasons: readonly Reason[] = [
    ...(await stopsFor(store, handle)),
    ...frozen,
    ...stops,
    ...parked,
    ...told,
    ...waitsOf(shown.waits),
    ...unreadOf(shown.sources),
    ...absent,
  ];
  const hint = await remedyOf(store, reasons, handle, handle);
  return defined({
    id: handle,
    about: "specialist",
    handle,
    what: "specialist",
    state: reasons.length === 0 ? "working" : "waiting",
    since: clock.now(),
    reasons,
    hint,
  });
}

function sentSince(intent: Intent): { readonly since?: number } {
  const since = knownSentAt(intent);
  return since === undefined ? {} : { since };
}
