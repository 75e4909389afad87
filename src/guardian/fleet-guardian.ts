/**
 * The Guardian's interface over a fleet: over the stores of this process, and over those of the others by requests through the server. An
 * order that stops work is in the memory of every process before it is answered, or that process can store nothing more, or is named.
 */
import { sleep, type Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Fatal, isRetinueError, messageOf, Refused, Retryable, type RetinueError } from "../core/errors.ts";
import { isObject, parseJson, type JsonObject } from "../core/json.ts";
import type { Handle } from "../core/ids.ts";
import { asHandle } from "../core/ids.ts";
import { SECOND } from "../core/units.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { LISTED } from "../runtime/fleet-news.ts";
import type { LaunchedFleet } from "../runtime/launch-fleet.ts";
import type { StopOrder } from "../runtime/orders-meanwhile.ts";
import type { Caller } from "../store/orders.ts";
import type { FleetProcess } from "../store/postgres/fleet-view.ts";
import type { Membership } from "../store/postgres/membership.ts";
import { isConnectionLost } from "../store/postgres/server-errors.ts";
import type { GateAnswer } from "../webhooks/receiver/accept.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import { createGuardian, type Guardian } from "./guardian.ts";
import type { GuardianPart } from "./guardian-part.ts";
import { answerText } from "./answer-text.ts";
import { askProcesses, askQuestion, isProcessSilent, type Heard } from "./ask-processes.ts";
import type { Seen } from "./fleet-status.ts";
import { withStatusOfLost } from "./lost-fleet.ts";
import { movingGuardian } from "./moving-guardian.ts";
import { joinGuardians, nobodyAtWork } from "./join-guardians.ts";
import { carriedOut, newOrder } from "./record-orders.ts";
import type { OrderResult } from "./wake-waiting.ts";
import {
  describeError,
  errorFrom,
  isQuestion,
  isRequestName,
  performRequest,
  remoteGuardian,
  type RequestName,
} from "./remote-guardian.ts";

/** Time for another process to carry out an order; one that stops work has less, and then ends its sessions. */
const ORDER_MS = 10 * SECOND;
const STOP_MS = 0.8 * SECOND;
/** A delivery waits so long for a specialist that changes hands, and then comes again. */
const MOVED_MS = 4 * SECOND;
const MOVED_LOOK_MS = SECOND / 4;
/** Requests that must reach every process. */
const STOPS: ReadonlySet<string> = new Set(["halt", "pause"]);

/** The fleet as a member of it sees it. */
export function guardianOfFleet(launched: LaunchedFleet, caller: Caller): Guardian {
  const { fleet } = launched;
  const clock = launched.runtime.parts.clock;
  const seen = async (): Promise<Seen> => {
    const { view } = fleet;
    return {
      ...view,
      handles: async () => (await fleet.membership?.handlesOf(view)) ?? new Map(),
      hello: (processes) => greet(fleet.membership, processes, fleet.trouble?.message),
    };
  };
  /** Throws the error of a server that cannot be asked; where nobody works here, it says so. */
  const awayOrElse = (error: unknown): never => {
    throw error instanceof Retryable && fleet.parts.length === 0 ? nobodyWorks(error.message, error) : error;
  };
  const parts = async (): Promise<readonly GuardianPart[]> => {
    await fleet.look().catch(awayOrElse);
    const { session } = fleet;
    return [...ownParts(launched, caller), ...(session === undefined ? [] : othersOf(session, fleet.others(), caller, clock))];
  };
  const guardian = movingGuardian({
    parts,
    seen,
    clock,
    whyNobody: () => nobodyWorks(fleet.trouble?.message),
    moving: async () => (await fleet.session?.movingWrites()) ?? [],
    isKnown: async (handle) =>
      launched.roster.definitions.some(({ specialist }) => specialist.handle === handle) ||
      (await fleet.session?.knows(asHandle(handle)).catch(awayOrElse)) === true,
    async reachable() {
      try {
        return await parts();
      } catch (error) {
        const own = ownParts(launched, caller); // its writers may still reach the server
        if (own.length === 0) throw error;
        return own;
      }
    },
    onUnlisted(name, query, message) {
      fleet.orders.list(newOrder(caller, name, query, clock.now()), carriedOut(message));
      if (fleet.allParts.length === 0) launched.log.warn(message, defined({ reason: query.reason })); // a store logs it itself
    },
    async keep(order) {
      fleet.orders.note(order);
      const wasHeld = order.kind === "halt" && order.stop === undefined && fleet.orders.release(order.scope);
      const { hasEnded, unreached } = await keepOrder(fleet.session, order, fleet.trouble?.message);
      if (unreached === undefined || wasHeld) return { hasEnded };
      if (order.kind !== "halt" || order.stop === undefined) return awayOrElse(unreached);
      fleet.orders.hold({ scope: order.scope, reason: order.stop.reason, since: order.stop.at });
      const hint = `it holds in process ${process.pid}, which stores it once the server answers and tells the others; until then others that still reach the server do not know of it: give it again there`;
      return { notKept: { message: `the halt is not kept: ${unreached.message}`, hint } };
    },
  });
  return withStatusOfLost(guardian, launched);
}

/** The fleet as a command sees it that is no member. */
export function guardianOfProcesses(membership: Membership, clock: Clock, caller: Caller): Guardian {
  const seen = async (): Promise<Seen> => {
    const view = await membership.look();
    return { ...view, handles: () => membership.handlesOf(view), hello: (processes) => greet(membership, processes) };
  };
  const parts = async (): Promise<readonly GuardianPart[]> => othersOf(membership, (await membership.look()).processes, caller, clock);
  return movingGuardian({
    parts,
    reachable: parts,
    seen,
    clock,
    whyNobody: nobodyAtWork,
    moving: () => membership.movingWrites(),
    isKnown: (handle) => membership.knows(asHandle(handle)),
    async keep(order) {
      const { hasEnded, unreached } = await keepOrder(membership, order);
      if (unreached !== undefined) throw unreached;
      return { hasEnded };
    },
  });
}

/**
 * Asks the other processes if they work. Without those that have ended by then; without any if the server cannot be asked, which the statuses
 * tell.
 */
async function greet(membership: Membership | undefined, processes: readonly FleetProcess[], trouble?: string): ReturnType<Seen["hello"]> {
  const others = processes.filter(({ number }) => number !== membership?.number);
  if (membership === undefined) return new Map();
  const isOwn = others.length < processes.length && trouble !== undefined;
  const own: readonly (readonly [number, Heard])[] = isOwn ? [[membership.number, { answers: true, trouble }]] : [];
  if (others.length === 0) return new Map(own);
  try {
    const heard = await askProcesses(membership, others);
    if ([...heard.values()].every(({ answers }) => answers)) return new Map([...own, ...heard]);
    const living = new Set((await membership.look()).processes.map(({ number }) => number));
    return new Map([...own, ...[...heard].filter(([number]) => living.has(number))]);
  } catch (error) {
    if (isConnectionLost(error)) return new Map();
    throw error;
  }
}

/** Stores the stop, or ends a stored one, for whoever takes the specialists later. `unreached` is the error if the server cannot be asked. */
async function keepOrder(
  session: Membership | undefined,
  { kind, scope, stop }: StopOrder,
  trouble = "this process has no session on the server",
): Promise<{ readonly hasEnded: boolean; readonly unreached?: Error }> {
  try {
    if (session === undefined) return { hasEnded: false, unreached: new Retryable("store_connection_lost", trouble) };
    if (stop === undefined) return { hasEnded: await session.dropStop(kind, scope) };
    await session.keepStop(kind, scope, stop.reason, stop.at);
    return { hasEnded: false };
  } catch (error) {
    const unreached = isRetinueError(error) ? error : new Retryable("store_connection_lost", messageOf(error), { cause: error });
    return { hasEnded: false, unreached };
  }
}

/** The error where nobody is at work. `trouble`: the reason why the server of the store cannot be used. */
function nobodyWorks(trouble: string | undefined, cause?: RetinueError): RetinueError {
  if (trouble === undefined) return nobodyAtWork();
  return new Retryable("store_connection_lost", `the server of the store cannot be used: ${trouble}`, {
    hint: "this process sends nothing meanwhile; it tries again each second, and retinue fleet shows when it is back",
    cause,
  });
}

/** The stores of this process, also those that begin or end: their writes may be under way. */
function ownParts({ fleet, runtime, baseUrl }: LaunchedFleet, caller: Caller): readonly GuardianPart[] {
  const { clock } = runtime.parts;
  const { name = `the process ${process.pid}`, startedAt } = fleet.own ?? {};
  return fleet.allParts.map((part) => {
    const live = { runtime: part.runtime, startedAt: startedAt ?? part.startedAt, baseUrl, has: (one: Handle) => part.has(one) };
    const guardian = createGuardian({ store: part.store, clock, caller, live });
    const why: Guardian["why"] = async (query) => {
      const told = await guardian.why(query);
      return part.has(asHandle(told.handle)) ? { ...told, process: { name, since: part.startedAt } } : told;
    };
    // A store that ends still has writes under way, and its reads may end in the middle.
    const isHere = (request: RequestName): boolean => (isQuestion(request) ? fleet.parts : fleet.allParts).includes(part);
    return { name, guardian: untilGone({ ...guardian, why }, isHere) };
  });
}

/** A store that ends while it is asked knows nothing of a thing: whoever takes its shards does. A call may have left before its end. */
function untilGone(guardian: Guardian, isHere: (request: RequestName) => boolean): Guardian {
  return remoteGuardian(async (name, query) => {
    try {
      return await performRequest(guardian, name, query);
    } catch (error) {
      if (isHere(name)) throw error;
      if (name === "call" && isRetinueError(error) && error.code === "store_lost")
        throw new Retryable("process_silent", "it may have been carried out: its specialist has just gone to another process", {
          hint: "retinue log shows whether it was",
          cause: error,
        });
      throw new Refused("nothing_found", "its specialists have just gone to another process", { cause: error });
    }
  });
}

function othersOf(membership: Membership, processes: readonly FleetProcess[], caller: Caller, clock: Clock): readonly GuardianPart[] {
  return processes
    .filter(({ shards, number }) => shards.length > 0 && number !== membership.number)
    .map((process) => ({
      name: process.name,
      guardian: remoteGuardian((name, query) => ask(membership, process, { name, query, caller, clock })),
    }));
}

async function ask(
  membership: Membership,
  process: FleetProcess,
  {
    name,
    query,
    caller: { who, from },
    clock,
  }: { readonly name: RequestName; readonly query: object; readonly caller: Caller; readonly clock: Clock },
): Promise<unknown> {
  const request = JSON.stringify({ do: name, with: query, by: who, from });
  if (isQuestion(name)) return readAnswer(await askQuestion(membership, process, request, clock));
  const isStop = STOPS.has(name);
  try {
    return readAnswer(await membership.ask(process, request, isStop ? STOP_MS : ORDER_MS));
  } catch (error) {
    if (!isStop || !isProcessSilent(error)) throw error;
    const inFlight = await membership.endSessions(process);
    return { message: `${process.name} did not answer: its sessions are ended, so that it begins nothing more`, inFlight };
  }
}

/** Asks a process to give its specialists to the others, of which there may be none. */
export async function drainProcess(
  membership: Membership,
  process: FleetProcess,
  { all, by }: { readonly all: readonly FleetProcess[]; readonly by: string },
): Promise<OrderResult> {
  readAnswer(await membership.ask(process, JSON.stringify({ do: "drain", by }), ORDER_MS));
  if (process.draining) return { message: `${process.name} was drained before, and takes none until it is started again` };
  const isLast = all.every((one) => one.draining || one.number === process.number);
  return {
    message: isLast
      ? `${process.name} gives up its specialists, and no process is left that takes them: nothing is done until one is started with retinue run`
      : `${process.name} gives its specialists to the others, and takes none until it is started again`,
  };
}

function readAnswer(text: string): unknown {
  const answer = parseJson(text);
  if (!isObject(answer)) throw new Fatal("unexpected", "the answer of another process cannot be read");
  if (isObject(answer["error"]) && answer["result"] === undefined) throw errorFrom(answer["error"]);
  return answer["result"];
}

/** Answers a request of another process, over the stores of this one; undefined if nobody waits for it. Never rejects. */
export async function answerRequest(launched: LaunchedFleet, body: string, leftMs: number): Promise<string | undefined> {
  try {
    const request = parseJson(body);
    if (!isObject(request)) throw new Refused("request_unknown", "the request cannot be read");
    if (request["do"] === LISTED) {
      await launched.runtime.hear(request["with"]);
      return undefined;
    }
    return answerText(await perform(launched, request, leftMs), { name: textIn(request, "do") ?? "", log: launched.log });
  } catch (error) {
    return JSON.stringify({ error: describeError(error) });
  }
}

async function perform(launched: LaunchedFleet, request: JsonObject, leftMs: number): Promise<unknown> {
  const { fleet } = launched;
  const name = textIn(request, "do") ?? "";
  const query = isObject(request["with"]) ? request["with"] : {};
  if (name === "deliver") return takeDelivery(launched, query);
  if (name === "hello") return { message: "here", ...(await heardOf(launched)) };
  if (name === "drain") {
    void fleet.drain(textIn(request, "by") ?? "someone");
    return { message: "it gives its specialists to the others" };
  }
  if (!isRequestName(name)) throw new Refused("request_unknown", `there is no request "${name}"`);
  const { clock } = launched.runtime.parts;
  const until = clock.monotonic() + leftMs;
  const order = orderOf(name, query, clock.now());
  if (order === undefined) await fleet.settled();
  else fleet.orders.note(order); // a store that is being opened may have read the stops already
  if (order === undefined && !isQuestion(name) && clock.monotonic() > until)
    throw new Retryable("process_silent", "a store was being opened until the time for the order was over: nothing of it is done");
  const caller = { who: textIn(request, "by") ?? "someone", from: request["from"] === "console" ? "console" : "command" } as const;
  return performRequest(
    joinGuardians(
      () => Promise.resolve(ownParts(launched, caller)),
      () => nobodyWorks(fleet.trouble?.message),
    ),
    name,
    query,
  );
}

/** The answer to `retinue fleet`. */
async function heardOf({ fleet, runtime }: LaunchedFleet): Promise<Omit<Heard, "answers">> {
  const { clock } = runtime.parts;
  const { events, oldestEventAt } = await runtime.backlogNow();
  return {
    aheadOfServerMs: fleet.aheadOfServerMs,
    definitions: runtime.digest,
    events,
    ...defined({
      oldestEventMs: oldestEventAt === undefined ? undefined : Math.max(0, clock.now() - oldestEventAt),
      trouble: fleet.trouble?.message,
    }),
  };
}

/** The order to stop or to go on that such a request is. */
function orderOf(name: string, query: JsonObject, at: number): StopOrder | undefined {
  const scope = textIn(query, "handle") ?? EVERYONE;
  const stop = { reason: textIn(query, "reason") ?? "the Guardian ordered it", at };
  switch (name) {
    case "halt":
    case "pause":
      return { kind: name, scope, stop };
    case "lift":
      return { kind: "halt", scope };
    case "resume":
      return { kind: "pause", scope };
    default:
      return undefined;
  }
}

function textIn(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/** Passes a delivery to the process that has its specialist, or is about to have it. */
export async function passOn({ fleet, runtime }: LaunchedFleet, handle: Handle, raw: RawDelivery): Promise<GateAnswer> {
  const { headers, body, token } = raw;
  try {
    const { membership } = fleet;
    const { clock } = runtime.parts;
    const until = clock.monotonic() + MOVED_MS;
    const shard = membership === undefined ? undefined : await membership.shardOf(handle);
    const ownerNow = (): FleetProcess | undefined => fleet.others().find(({ shards }) => shard !== undefined && shards.includes(shard));
    if (ownerNow() === undefined) await fleet.look();
    const delivery = { handle, headers, body: Buffer.from(body).toString("base64"), ...(token === undefined ? {} : { token }) };
    // It may be changing hands; this process looks anyhow.
    for (; clock.monotonic() < until; await sleep(clock, MOVED_LOOK_MS)) {
      const taken = await runtime.accept(handle, raw);
      if (taken !== undefined) return taken;
      const owner = ownerNow();
      if (membership === undefined || owner === undefined) continue;
      const answer = await answerOf(membership.ask(owner, JSON.stringify({ do: "deliver", with: delivery }), MOVED_MS));
      if (answer !== undefined && (answer.status !== COME_BACK.status || answer.verified)) return answer;
    }
    return COME_BACK;
  } catch {
    return COME_BACK; // the network sends it again
  }
}

/** The answer to a delivery that was passed on; undefined if none came. */
async function answerOf(asked: Promise<string>): Promise<GateAnswer | undefined> {
  try {
    const answer = readAnswer(await asked);
    return isObject(answer) && typeof answer["status"] === "number" ? (answer as never) : undefined;
  } catch (error) {
    if (isRetinueError(error)) return undefined; // it is gone or silent: whoever takes its place is asked next
    throw error;
  }
}

const COME_BACK: GateAnswer = { status: 503, retryAfterS: 5, verified: false };

async function takeDelivery({ runtime }: LaunchedFleet, query: JsonObject): Promise<GateAnswer> {
  const { handle, body, token, headers } = query;
  if (typeof handle !== "string" || typeof body !== "string" || !isObject(headers)) return COME_BACK;
  const given: RawDelivery = {
    headers: Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))),
    body: Buffer.from(body, "base64"),
    ...(typeof token === "string" ? { token } : {}),
  };
  return (await runtime.accept(asHandle(handle), given)) ?? COME_BACK;
}
