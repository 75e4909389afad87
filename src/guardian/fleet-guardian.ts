/**
 * The Guardian's interface over a fleet: over the stores of this process, and over those of the others by requests through the server. An
 * order that stops work is in the memory of every process before it is answered, or that process can store nothing more.
 */
import type { Clock } from "../core/clock.ts";
import { Fatal, isRetinueError, Refused } from "../core/errors.ts";
import { isObject, parseJson, type JsonObject } from "../core/json.ts";
import type { Handle } from "../core/ids.ts";
import { asHandle } from "../core/ids.ts";
import { SECOND } from "../core/units.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { LISTED } from "../runtime/fleet-news.ts";
import type { LaunchedFleet } from "../runtime/launch-fleet.ts";
import type { Caller } from "../store/orders.ts";
import type { FleetProcess, Membership } from "../store/postgres/membership.ts";
import type { GateAnswer } from "../webhooks/receiver/accept.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import { createGuardian, type Guardian } from "./guardian.ts";
import type { GuardianPart } from "./guardian-part.ts";
import { statusOfFleet, type Seen } from "./fleet-status.ts";
import { joinGuardians } from "./join-guardians.ts";
import type { OrderResult } from "./wake-waiting.ts";
import { describeError, errorFrom, isRequestName, performRequest, remoteGuardian } from "./remote-guardian.ts";

/** Time for another process to answer; an order that stops work has less, and then ends its sessions. */
const ANSWER_MS = 10 * SECOND;
const STOP_MS = 0.8 * SECOND;
/** Requests that must reach every process. */
const STOPS: ReadonlySet<string> = new Set(["halt", "pause"]);

/** The fleet as a member of it sees it. */
export function guardianOfFleet(launched: LaunchedFleet, caller: Caller): Guardian {
  const { fleet } = launched;
  const clock = launched.runtime.parts.clock;
  const seen = async (): Promise<Seen> => {
    const { processes } = fleet.view;
    return { processes, handles: async () => (await fleet.membership?.handlesOf(processes)) ?? new Map() };
  };
  const parts = async (): Promise<readonly GuardianPart[]> => {
    await fleet.look();
    const { membership } = fleet;
    return [...ownParts(launched, caller), ...(membership === undefined ? [] : othersOf(membership, fleet.others(), caller))];
  };
  return overParts(parts, {
    clock,
    seen,
    keep: async (kind, scope, reason, now) => {
      const isKnown = scope === EVERYONE || launched.roster.definitions.some(({ specialist }) => specialist.handle === scope);
      if (isKnown) await fleet.membership?.keepStop(kind, scope, reason, now);
    },
  });
}

/** The fleet as a command sees it that is no member. */
export function guardianOfProcesses(membership: Membership, clock: Clock, caller: Caller): Guardian {
  const parts = async (): Promise<readonly GuardianPart[]> => othersOf(membership, (await membership.look()).processes, caller);
  const seen = async (): Promise<Seen> => {
    const { processes } = await membership.look();
    return { processes, handles: () => membership.handlesOf(processes) };
  };
  return overParts(parts, {
    clock,
    seen,
    keep: (kind, scope, reason, now) => (scope === EVERYONE ? membership.keepStop(kind, scope, reason, now) : Promise.resolve()),
  });
}

interface Keeping {
  readonly clock: Clock;
  readonly seen: () => Promise<Seen>;
  /** Stores a stop for the stores that are being opened now. */
  readonly keep: (kind: "halt" | "pause", scope: string, reason: string, now: number) => Promise<void>;
}

function overParts(parts: () => Promise<readonly GuardianPart[]>, { clock, seen, keep }: Keeping): Guardian {
  const joined = joinGuardians(parts);
  return {
    ...joined,
    status: async () => statusOfFleet(await parts(), seen),
    async halt(query) {
      await keep("halt", query.handle ?? EVERYONE, query.reason ?? "the Guardian ordered it", clock.now());
      return joined.halt(query);
    },
    async pause(query) {
      await keep("pause", query.handle ?? EVERYONE, query.reason ?? "the Guardian paused it", clock.now());
      return joined.pause(query);
    },
  };
}

/** The stores of this process. */
function ownParts({ fleet, runtime, baseUrl }: LaunchedFleet, caller: Caller): readonly GuardianPart[] {
  const { clock } = runtime.parts;
  const { name = `the process ${process.pid}`, startedAt } = fleet.own ?? {};
  return fleet.parts.map((part) => {
    const live = { runtime: part.runtime, startedAt: startedAt ?? part.startedAt, baseUrl };
    const guardian = createGuardian({ store: part.store, clock, caller, live });
    const why: Guardian["why"] = async (query) => {
      const told = await guardian.why(query);
      return part.has(asHandle(told.handle)) ? { ...told, process: { name, since: part.startedAt } } : told;
    };
    return { name, guardian: { ...guardian, why } };
  });
}

function othersOf(membership: Membership, processes: readonly FleetProcess[], caller: Caller): readonly GuardianPart[] {
  return processes
    .filter(({ shards, number }) => shards.length > 0 && number !== membership.number)
    .map((process) => ({
      name: process.name,
      guardian: remoteGuardian((name, query) => ask(membership, process, { name, query, caller })),
    }));
}

async function ask(
  membership: Membership,
  process: FleetProcess,
  { name, query, caller: { who, from } }: { readonly name: string; readonly query: object; readonly caller: Caller },
): Promise<unknown> {
  const isStop = STOPS.has(name);
  try {
    return readAnswer(
      await membership.ask(process, JSON.stringify({ do: name, with: query, by: who, from }), isStop ? STOP_MS : ANSWER_MS),
    );
  } catch (error) {
    if (!isStop || !isRetinueError(error) || error.code !== "process_silent") throw error;
    const inFlight = await membership.endSessions(process);
    return { message: `${process.name} did not answer: its sessions are ended, so that it begins nothing more`, inFlight };
  }
}

/** Asks a process to give its specialists to the others. */
export async function drainProcess(membership: Membership, process: FleetProcess, by: string): Promise<OrderResult> {
  readAnswer(await membership.ask(process, JSON.stringify({ do: "drain", by }), ANSWER_MS));
  return { message: `${process.name} gives its specialists to the others, and takes none until it is started again` };
}

function readAnswer(text: string): unknown {
  const answer = parseJson(text);
  if (!isObject(answer)) throw new Fatal("unexpected", "the answer of another process cannot be read");
  if (isObject(answer["error"])) throw errorFrom(answer["error"]);
  return answer["result"];
}

/** Answers a request of another process, over the stores of this one; undefined if nobody waits for it. Never rejects. */
export async function answerRequest(launched: LaunchedFleet, body: string): Promise<string | undefined> {
  try {
    const request = parseJson(body);
    if (!isObject(request)) throw new Refused("request_unknown", "the request cannot be read");
    if (request["do"] === LISTED) {
      await launched.runtime.hear(request["with"]);
      return undefined;
    }
    return JSON.stringify({ result: (await perform(launched, request)) ?? null });
  } catch (error) {
    return JSON.stringify({ error: describeError(error) });
  }
}

async function perform(launched: LaunchedFleet, request: JsonObject): Promise<unknown> {
  const { fleet } = launched;
  const name = textIn(request, "do") ?? "";
  const query = isObject(request["with"]) ? request["with"] : {};
  if (name === "deliver") return takeDelivery(launched, query);
  if (name === "hello") return { message: "here", aheadOfServerMs: fleet.aheadOfServerMs };
  if (name === "drain") {
    void fleet.drain(textIn(request, "by") ?? "someone");
    return { message: "it gives its specialists to the others" };
  }
  if (!isRequestName(name)) throw new Refused("request_unknown", `there is no request "${name}"`);
  await fleet.settled(); // a store that is being opened may have read the stops already
  const caller = { who: textIn(request, "by") ?? "someone", from: request["from"] === "console" ? "console" : "command" } as const;
  return performRequest(
    joinGuardians(() => Promise.resolve(ownParts(launched, caller))),
    name,
    query,
  );
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
    const shard = membership === undefined ? undefined : await membership.shardOf(handle);
    const ownerNow = (): FleetProcess | undefined => fleet.others().find(({ shards }) => shard !== undefined && shards.includes(shard));
    let owner = ownerNow();
    if (owner === undefined) {
      await fleet.look(); // it may have changed hands
      owner = ownerNow();
    }
    if (membership === undefined || owner === undefined) return (await runtime.accept(handle, raw)) ?? COME_BACK;
    const delivery = { handle, headers, body: Buffer.from(body).toString("base64"), ...(token === undefined ? {} : { token }) };
    const answer = readAnswer(await membership.ask(owner, JSON.stringify({ do: "deliver", with: delivery }), ANSWER_MS));
    return isObject(answer) && typeof answer["status"] === "number" ? (answer as never) : COME_BACK;
  } catch {
    return COME_BACK; // the network sends it again
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
