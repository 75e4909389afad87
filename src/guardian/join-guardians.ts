/**
 * One Guardian over several stores, each with a Guardian of its own: of one process and of others. A question is answered by all, or by the
 * one that knows; an order that stops work reaches all before it is answered, or the answer names those that have not confirmed it.
 */
import { joinAdvice } from "../config/handle-advice.ts";
import { defined } from "../core/defined.ts";
import { isRetinueError, messageOf, Misconfigured, Refused, Retryable, type RetinueError } from "../core/errors.ts";
import type { AnyCode } from "../core/error-codes.ts";
import type { Guardian } from "./guardian.ts";
import type { GuardianPart } from "./guardian-part.ts";
import type { HaltResult } from "./halt-and-pause.ts";
import type { Explanation } from "./explanation.ts";
import { severalParked } from "./failures.ts";
import { failedAt, isWhole, joinExplanations } from "./join-explanations.ts";
import { joinDeliveries, joinEvents, joinLog, joinOrders } from "./join-pages.ts";
import { joinStatuses } from "./join-statuses.ts";
import type { OrderResult } from "./wake-waiting.ts";
import { NOT_HERE } from "../store/orders.ts";
import type { UsageHour } from "../store/usage-hours.ts";

type Parts = readonly GuardianPart[];

const NOT_MINE: ReadonlySet<AnyCode> = new Set(NOT_HERE);

/**
 * Codes by which a part cannot say if it knows of a thing: another one may. A silent process may have carried out its order: the owner of an
 * action refuses a second decision, but a second call would be sent.
 */
const CANNOT_CALL: ReadonlySet<AnyCode> = new Set<AnyCode>(["past_unread"]);
const CANNOT_SAY: ReadonlySet<AnyCode> = new Set<AnyCode>([...CANNOT_CALL, "process_silent"]);

/** `parts` is asked on each call: parts come and go. With one part, every call is its own. `whyNobody` is thrown where there is none. */
export function joinGuardians(parts: () => Promise<Parts>, whyNobody: () => RetinueError = nobodyAtWork): Guardian {
  const over: Over = (alone, joined) => async (query) => {
    const all = await parts();
    const [only] = all;
    if (only === undefined) throw whyNobody();
    return all.length === 1 ? alone(only.guardian, query) : joined(all, query);
  };
  return { ...joinLists(over), ...joinAnswers(over), ...joinOrdersGiven(over) };
}

/** The error of a question that nobody can answer. */
export function nobodyAtWork(): RetinueError {
  return new Retryable("nobody_at_work", "no specialist is at work in any process now", {
    hint: "retinue fleet shows the processes; one that was drained takes specialists again once it is started anew",
  });
}

/** A method over all parts: asked of the only one, or joined. */
type Over = <Query, Result>(
  alone: (guardian: Guardian, query: Query) => Promise<Result>,
  joined: (parts: Parts, query: Query) => Promise<Result>,
) => (query: Query) => Promise<Result>;

type Lists = "status" | "log" | "orders" | "events" | "deliveries" | "jobs" | "inbox" | "usage";
type Stopping = "retry" | "pause" | "resume" | "lift" | "unfreeze" | "halt" | "backup";

/** Answers that all have a part of. */
function joinLists(over: Over): Pick<Guardian, Lists> {
  return {
    status: over(
      (guardian, query) => guardian.status(query),
      async (all) => joinStatuses(await Promise.all(all.map(({ guardian }) => guardian.status({})))),
    ),
    log: over((guardian, query) => guardian.log(query), joinLog),
    orders: over((guardian, query) => guardian.orders(query), joinOrders),
    events: over((guardian, query) => guardian.events(query), joinEvents),
    deliveries: over((guardian, query) => guardian.deliveries(query), joinDeliveries),
    jobs: over(
      (guardian, query) => guardian.jobs(query),
      async (all, query) => {
        const boards = await knowing(all, (guardian) => guardian.jobs(query));
        const size = ({ columns }: (typeof boards)[number]): number => columns.reduce((sum, { count }) => sum + count, 0);
        return firstOf(boards.toSorted((a, b) => size(b) - size(a)));
      },
    ),
    inbox: over(
      (guardian, query) => guardian.inbox(query),
      async (all, query) => {
        const entries = (await knowing(all, (guardian) => guardian.inbox(query))).flat();
        return entries.toSorted((a, b) => b.at - a.at).slice(0, query.limit);
      },
    ),
    usage: over(
      (guardian, query) => guardian.usage(query),
      async (all, query) => ({ hours: joinHours((await knowing(all, (guardian) => guardian.usage(query))).flatMap(({ hours }) => hours)) }),
    ),
  };
}

/** Questions and orders about a thing that one of them has. */
function joinAnswers(over: Over): Omit<Guardian, Lists | Stopping> {
  const oneOf =
    (cannotSay: ReadonlySet<AnyCode>) =>
    <Query, Result>(ask: (guardian: Guardian, query: Query) => Promise<Result>) =>
      over(ask, (all, query) => firstThatKnows(all, cannotSay, (guardian) => ask(guardian, query)));
  const [thing, call] = [oneOf(CANNOT_SAY), oneOf(CANNOT_CALL)];
  return {
    why: over((guardian, query) => guardian.why(query), explainAll),
    recording: thing((guardian, query) => guardian.recording(query)),
    delivery: thing((guardian, query) => guardian.delivery(query)),
    approve: thing((guardian, query) => guardian.approve(query)),
    reject: thing((guardian, query) => guardian.reject(query)),
    settle: thing((guardian, query) => guardian.settle(query)),
    call: call((guardian, query) => guardian.call(query)),
  };
}

/** The answer of one that had no such stop. */
export const NOTHING_TO_END = / was not (halted|paused|frozen)/;

/** Orders to all of them. */
function joinOrdersGiven(over: Over): Pick<Guardian, Stopping> {
  const each = <Query, Result extends OrderResult>(
    give: (guardian: Guardian, query: Query) => Promise<Result>,
    check?: (all: Parts, query: Query) => Promise<void>,
  ) =>
    over(give, async (all, query) => {
      await check?.(all, query);
      return firstOf(await fromEach(all, (guardian) => give(guardian, query)));
    });
  /** A stop of one specialist may be in force in several, or in one alone. */
  const ended = <Query>(give: (guardian: Guardian, query: Query) => Promise<OrderResult>) =>
    over(give, async (all, query) => {
      const results = await fromEach(all, (guardian) => give(guardian, query));
      return results.find(({ message }) => !NOTHING_TO_END.test(message)) ?? firstOf(results);
    });
  return {
    // A name may be that of an operation, whose breaker is open in several.
    retry: each((guardian, query) => guardian.retry(query), refuseSeveral),
    pause: each((guardian, query) => guardian.pause(query)),
    resume: ended((guardian, query) => guardian.resume(query)),
    lift: ended((guardian, query) => guardian.lift(query)),
    unfreeze: ended((guardian, query) => guardian.unfreeze(query)),
    halt: over(
      (guardian, query) => guardian.halt(query),
      async (all, query) => joinHalts(await giveToAll(all, (guardian) => guardian.halt(query))),
    ),
    backup: over(
      (guardian, query) => guardian.backup(query),
      () =>
        Promise.reject(
          new Refused("backup_failed", "several processes share this store", { hint: "use the server's own backups, such as pg_dump" }),
        ),
    ),
  };
}

function isNotMine(error: unknown): error is RetinueError {
  return isRetinueError(error) && NOT_MINE.has(error.code);
}

/** Asks all of them, unless one answer is whole: a silent process is not waited for then. */
function explainAll(parts: Parts, query: { readonly id: string }): Promise<Explanation> {
  const asked = parts.map(({ guardian }) => guardian.why(query));
  return new Promise((resolve, reject) => {
    for (const one of asked)
      one.then(
        (told) => void (isWhole(told) && resolve(told)),
        () => undefined, // told with the others
      );
    void Promise.allSettled(asked).then((all) => {
      const joined = joinExplanations(all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
      if (joined !== undefined) return resolve(joined);
      const errors = all.flatMap((one): readonly unknown[] => (one.status === "rejected" ? [one.reason] : []));
      return reject(errors.find((error) => !isNotMine(error)) ?? unknownToAll(errors) ?? nobodyAtWork());
    });
  });
}

/** Throws `Misconfigured` (`several_parked`) if an event waits for a person at specialists of several stores. */
async function refuseSeveral(parts: Parts, { id, handle }: Parameters<Guardian["retry"]>[0]): Promise<void> {
  if (handle !== undefined) return;
  const asked = await Promise.allSettled(parts.map(({ guardian }) => guardian.why({ id })));
  const handles = asked.flatMap((one) => (one.status === "fulfilled" ? failedAt(one.value) : []));
  if (handles.length > 1) throw severalParked(id, handles.toSorted());
}

/** One after the other, so that no order is given twice. */
async function firstThatKnows<Result>(
  parts: Parts,
  cannotSay: ReadonlySet<AnyCode>,
  ask: (guardian: Guardian) => Promise<Result>,
): Promise<Result> {
  const errors: RetinueError[] = [];
  for (const { guardian } of parts)
    try {
      return await ask(guardian);
    } catch (error) {
      if (!isRetinueError(error) || !(NOT_MINE.has(error.code) || cannotSay.has(error.code))) throw error;
      errors.push(error);
    }
  throw errors.find(({ code }) => cannotSay.has(code)) ?? unknownToAll(errors) ?? new Refused("nothing_found", "nobody knows it");
}

/** The answers of all that know the thing. Throws if none does, or if one fails. */
async function knowing<Result>(parts: Parts, ask: (guardian: Guardian) => Promise<Result>): Promise<readonly Result[]> {
  const asked = await Promise.allSettled(parts.map(({ guardian }) => ask(guardian)));
  const failed = asked.filter((one) => one.status === "rejected");
  const real = failed.find(({ reason }) => !isNotMine(reason)) ?? (failed.length === asked.length ? failed[0] : undefined);
  if (real !== undefined) throw real.reason;
  return asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/** The results of an order that was given to all, of which there is one at least. */
interface Given<Result> {
  readonly results: readonly Result[];
  /** Set if some have not confirmed it: each with its reason, and advice. */
  readonly incomplete?: NonNullable<HaltResult["incomplete"]>;
}

/** Gives an order to all. Throws if none obeys. */
async function giveToAll<Result>(parts: Parts, give: (guardian: Guardian) => Promise<Result>): Promise<Given<Result>> {
  const ends = await Promise.allSettled(parts.map(({ guardian }) => give(guardian)));
  const results = ends.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = ends.flatMap((one, i) =>
    one.status === "rejected" ? [{ name: parts[i]?.name ?? "", reason: one.reason as unknown }] : [],
  );
  const real = failed.filter(({ reason }) => !isNotMine(reason));
  const [only] = real;
  // Of a thing that one of them has, such as an action: its own words, with what to do.
  if (only !== undefined && real.length === 1 && results.length === 0 && isRetinueError(only.reason) && !(only.reason instanceof Retryable))
    throw only.reason;
  if (real.length === 0 && results.length === 0) throw unknownToAll(failed.map(({ reason }) => reason));
  if (real.length === 0) return { results };
  const hints = real.flatMap(({ reason }) => (isRetinueError(reason) ? (reason.details.hint ?? []) : []));
  const message = real.map(({ name, reason }) => `${name}: ${messageOf(reason)}`).join("; ");
  const incomplete = { message, hint: [...new Set(hints.length === 0 ? [GIVE_AGAIN] : hints)].join("; ") };
  if (results.length === 0) throw incompleteError(incomplete);
  return { results, incomplete };
}

const GIVE_AGAIN = "give the order again; retinue fleet shows the processes";

function incompleteError({ message, hint }: NonNullable<HaltResult["incomplete"]>): RetinueError {
  return new Retryable("order_incomplete", message, { hint });
}

/** Gives an order to all. Throws if one fails, and says that the others have obeyed. */
async function fromEach<Result>(parts: Parts, give: (guardian: Guardian) => Promise<Result>): Promise<readonly Result[]> {
  const { results, incomplete } = await giveToAll(parts, give);
  if (incomplete !== undefined) throw incompleteError({ ...incomplete, message: `${incomplete.message}; the other processes have obeyed` });
  return results;
}

/** The first error; of a specialist that no part knows, one about the specialists of all parts. */
function unknownToAll<Thrown>(errors: readonly Thrown[]): Thrown | Misconfigured | undefined {
  const [first] = errors;
  const unknown = errors.flatMap((error) => (isRetinueError(error) && error.code === "specialist_unknown" ? [error] : []));
  const [one] = unknown;
  if (one === undefined || unknown.length < 2) return first;
  return new Misconfigured("specialist_unknown", one.message, joinAdvice(unknown.map(({ details }) => details)));
}

function firstOf<Result>([first]: readonly Result[]): Result {
  if (first === undefined) throw new Refused("nothing_found", "nobody knows it");
  return first;
}

/** The writes of all that have confirmed a halt, also where others have not. */
function joinHalts({ results, incomplete }: Given<HaltResult>): HaltResult {
  const messages = results
    .map(({ message }) => message)
    .toSorted((a, b) => Number(b.startsWith("halted")) - Number(a.startsWith("halted")));
  const missing = [...results, { incomplete }].flatMap((one) => one.incomplete ?? []);
  const unconfirmed = missing.length === 0 ? [] : [UNCONFIRMED];
  return defined({
    message: joinedOnce([...unconfirmed, ...messages]),
    inFlight: results.flatMap(({ inFlight }) => inFlight),
    notKept: results.find((one) => one.notKept !== undefined)?.notKept,
    incomplete:
      missing.length === 0
        ? undefined
        : { message: joinedOnce(missing.map(({ message }) => message)), hint: joinedOnce(missing.map(({ hint }) => hint)) },
  });
}

const UNCONFIRMED = "not every process has confirmed it";
const BETWEEN = "; ";

/** Each sentence once: a process of several stores has joined theirs. */
function joinedOnce(texts: readonly string[]): string {
  return [...new Set(texts.flatMap((text) => text.split(BETWEEN)))].join(BETWEEN);
}

function joinHours(hours: readonly UsageHour[]): readonly UsageHour[] {
  const sums = new Map<number, UsageHour>();
  for (const hour of hours) {
    const sum = sums.get(hour.at);
    if (sum === undefined) sums.set(hour.at, hour);
    else {
      const money = { ...sum.money };
      for (const [currency, micros] of Object.entries(hour.money)) money[currency] = (money[currency] ?? 0) + micros;
      const late = { count: sum.late.count + hour.late.count, maxMs: Math.max(sum.late.maxMs, hour.late.maxMs) };
      sums.set(hour.at, { at: hour.at, requests: sum.requests + hour.requests, late, money });
    }
  }
  return [...sums.values()].toSorted((a, b) => a.at - b.at);
}
