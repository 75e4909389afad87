/**
 * The Guardian over parts that come and go, as shards move from process to process: an order that stops work is kept first, so that it holds
 * for whoever takes a specialist later, and then given to all. Who has gone meanwhile is no failure.
 */
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import type { AnyCode } from "../core/error-codes.ts";
import { isRetinueError, messageOf, Retryable, type RetinueError } from "../core/errors.ts";
import { EVERYONE } from "../limits/verdict.ts";
import type { StopOrder } from "../runtime/orders-meanwhile.ts";
import type { GuardianPart } from "./guardian-part.ts";
import type { Guardian } from "./guardian.ts";
import type { HaltResult } from "./halt-and-pause.ts";
import { homelessIn, homelessText, statusOfFleet, type Seen } from "./fleet-status.ts";
import { joinGuardians, NOTHING_TO_END } from "./join-guardians.ts";
import type { Page } from "./page.ts";
import { performRequest, remoteGuardian } from "./remote-guardian.ts";
import { isConnectionLost } from "../store/postgres/server-errors.ts";
import type { OrderResult } from "./wake-waiting.ts";

type StopName = "halt" | "pause" | "lift" | "resume";
type StopQuery = { readonly handle?: string; readonly reason?: string };

export interface KeptStop {
  /** The reason if it is kept in memory alone. */
  readonly notKept?: HaltResult["notKept"];
  /** A kept stop has ended. */
  readonly hasEnded?: boolean;
}

export interface MovingOptions {
  readonly parts: () => Promise<readonly GuardianPart[]>;
  /** The same, and the own ones alone where the server cannot be asked for the others: for an order that is not kept. */
  readonly reachable: () => Promise<readonly GuardianPart[]>;
  /** The living processes. */
  readonly seen: () => Promise<Seen>;
  readonly clock: Clock;
  readonly whyNobody: () => RetinueError;
  /** True if a process has a definition of the specialist. */
  readonly isKnown: (handle: string) => Promise<boolean>;
  /** Keeps a stop, or its end, for the stores that are opened from now on. */
  readonly keep: (order: StopOrder) => Promise<KeptStop>;
  /** Called with a stop, or its end, of which no store has a row because none is at work, and its result. Default: nothing. */
  readonly onUnlisted?: (name: StopName, query: StopQuery, message: string) => void;
  /** The requests of specialists that go from one process to another. */
  readonly moving: () => Promise<HaltResult["inFlight"]>;
}

/** The Guardian over parts that come and go: its stops hold for all of them, also if nobody is at work. */
export function movingGuardian({ parts, reachable, seen, clock, whyNobody, isKnown, keep, moving, onUnlisted }: MovingOptions): Guardian {
  const nobody = new WeakSet<RetinueError>();
  const why = (): RetinueError => {
    const error = whyNobody();
    nobody.add(error);
    return error;
  };
  const joined = joinGuardians(parts, why);
  const alone = joinGuardians(reachable, why);
  /** An order to stop, or to go on: kept first, then given to all. */
  const give = async <Result extends OrderResult>(
    name: StopName,
    { query, ...order }: Omit<StopOrder, "scope"> & { readonly query: StopQuery },
    giveTo: (all: Guardian, asksServer: boolean) => Promise<Result>,
  ): Promise<Result | (OrderResult & Pick<HaltResult, "notKept">)> => {
    const { handle } = query;
    if (handle !== undefined && !(await isKnown(handle))) return giveTo(joined, true); // whoever has run it before has it, or says that nobody knows it
    const { notKept, hasEnded } = await keep({ ...order, scope: handle ?? EVERYONE });
    try {
      const result = await (notKept === undefined ? giveTo(joined, true) : giveTo(alone, false));
      // A lost store has no row of it. The server may have kept it all the same.
      const isUnlisted = "notKept" in result && result.notKept !== undefined;
      if (isUnlisted) onUnlisted?.(name, query, result.message);
      if (isUnlisted || notKept !== undefined) return { ...result, notKept };
      // A store that is being opened ends it by itself, and has nothing to end when it is asked.
      return hasEnded === true && NOTHING_TO_END.test(result.message) ? { ...result, message: keptText(order, handle) } : result;
    } catch (error) {
      if (!isRetinueError(error)) throw error;
      const isGivenToNobody = notKept !== undefined || nobody.has(error) || UNANSWERED.has(error.code);
      if (!isGivenToNobody) throw unheard(error, order, handle);
      const message = `${keptText(order, handle)}; ${error.message}`;
      if (error.code !== "specialist_unknown") onUnlisted?.(name, query, message);
      return defined({ message, notKept });
    }
  };
  const stop = (reason: string): NonNullable<StopOrder["stop"]> => ({ reason, at: clock.now() });
  const all: Guardian = {
    ...joined,
    status: async () => statusOfFleet(await parts(), seen, whyNobody),
    log: (query) => whole(joined.log(query), seen),
    events: (query) => whole(joined.events(query), seen),
    deliveries: (query) => whole(joined.deliveries(query), seen),
    halt: async (query) => {
      const order = { kind: "halt", stop: stop(query.reason ?? "the Guardian ordered it") } as const;
      let between: Between = { inFlight: [] };
      const halted = await give("halt", { ...order, query }, async (to, asksServer) => {
        // Before the others are asked: whoever has taken a specialist by then answers for it.
        if (asksServer) between = await inBetween(moving, query.handle);
        return to.halt(query);
      });
      const { message } = halted;
      return {
        ...halted,
        message: between.unknown === undefined ? message : `${message}; ${between.unknown}`,
        inFlight: together("inFlight" in halted ? halted.inFlight : [], between.inFlight),
      };
    },
    pause: (query) =>
      give("pause", { kind: "pause", stop: stop(query.reason ?? "the Guardian paused it"), query }, (to) => to.pause(query)),
    lift: (query) => give("lift", { kind: "halt", query }, (to) => to.lift(query)),
    resume: (query) => give("resume", { kind: "pause", query }, (to) => to.resume(query)),
  };
  return sayingWhoMoves(all, isKnown, seen);
}

/** The page, with the specialists whose entries are missing. */
async function whole<Entry>(asked: Promise<Page<Entry>>, seen: MovingOptions["seen"]): Promise<Page<Entry>> {
  const page = await asked;
  const homeless = await homelessIn(await seen());
  return homeless.length === 0 ? page : { ...page, unseen: `${homelessText(homeless)}, so what is theirs is missing here` };
}

/** The requests of specialists that no process answers for, as they go from one to another; `unknown` says why they cannot be read. */
interface Between extends Pick<HaltResult, "inFlight"> {
  readonly unknown?: string;
}

async function inBetween(moving: MovingOptions["moving"], only: string | undefined): Promise<Between> {
  try {
    return { inFlight: (await moving()).filter(({ handle }) => only === undefined || only === handle) };
  } catch (error) {
    return { inFlight: [], unknown: `requests of specialists that change hands are not listed: ${messageOf(error)}` };
  }
}

/** Each request once. */
function together(answered: HaltResult["inFlight"], listed: HaltResult["inFlight"]): HaltResult["inFlight"] {
  const known = new Set(answered.map(({ id }) => id));
  return [...answered, ...listed.filter(({ id }) => !known.has(id))];
}

/** Codes of an order that nobody at work could be given: it is kept all the same. */
const UNANSWERED: ReadonlySet<AnyCode> = new Set<AnyCode>(["nobody_at_work", "specialist_unknown"]);

/** The error of an order that is kept, and that processes at work may not have heard: the connection ended as they were asked. */
function unheard(error: RetinueError, order: Omit<StopOrder, "scope">, handle: string | undefined): RetinueError {
  if (!isConnectionLost(error)) return error;
  const who = `${keptText(order, handle)} for processes that begin or take specialists, and those at work may not have heard of it`;
  return new Retryable("order_incomplete", `${who}: ${error.message}`, { hint: "give the order again", cause: error });
}

function keptText({ kind, stop }: Omit<StopOrder, "scope">, handle: string | undefined): string {
  const who = handle ?? "everyone";
  const state = kind === "halt" ? "halted" : "paused";
  return stop === undefined ? `${who} is ${state} no longer` : `${who} is ${state}`;
}

/** A specialist that nobody has at this moment is not unknown: another process may be taking it over. */
function sayingWhoMoves(guardian: Guardian, isKnown: MovingOptions["isKnown"], seen: MovingOptions["seen"]): Guardian {
  return remoteGuardian(async (name, query: { readonly handle?: unknown; readonly id?: unknown }) => {
    try {
      return await performRequest(guardian, name, query);
    } catch (error) {
      if (!isRetinueError(error)) throw error;
      const isOfName = name === "why" && error.code === "nothing_found";
      const handle = error.code === "specialist_unknown" ? query.handle : isOfName ? query.id : undefined;
      if (typeof handle !== "string" || !(await isKnown(handle))) throw await unlessHomeless(error, seen);
      throw new Retryable("nobody_at_work", `no process has ${handle} now`, {
        hint: "ask again in a moment, if another is taking it over; retinue fleet shows the processes",
        cause: error,
      });
    }
  });
}

/** A thing that nobody at work knows may be of a specialist that nobody has. */
async function unlessHomeless(error: RetinueError, seen: MovingOptions["seen"]): Promise<RetinueError> {
  const homeless = error.code === "nothing_found" ? await homelessIn(await seen()) : [];
  if (homeless.length === 0) return error;
  return new Retryable("nobody_at_work", `${error.message} at any process; ${homelessText(homeless)}`, {
    hint: "ask again in a moment, if another process is taking them over; retinue fleet shows the processes",
    cause: error,
  });
}
