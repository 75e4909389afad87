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
import { statusOfFleet, type Seen } from "./fleet-status.ts";
import { joinGuardians } from "./join-guardians.ts";
import { performRequest, remoteGuardian } from "./remote-guardian.ts";
import type { OrderResult } from "./wake-waiting.ts";

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
  /** Keeps a stop, or its end, for the stores that are opened from now on. Returns the reason if it is kept in memory alone. */
  readonly keep: (order: StopOrder) => Promise<HaltResult["notKept"]>;
  /** Called with a stop, or its end, that reached no store, and its result. Default: nothing. */
  readonly onUnlisted?: (order: StopOrder, message: string) => void;
  /** The requests of specialists that go from one process to another. */
  readonly moving: () => Promise<HaltResult["inFlight"]>;
}

/** The Guardian over parts that come and go: its stops hold for all of them, also if nobody is at work. */
export function movingGuardian({ parts, reachable, seen, clock, whyNobody, isKnown, keep, moving, onUnlisted }: MovingOptions): Guardian {
  const joined = joinGuardians(parts, whyNobody);
  const alone = joinGuardians(reachable, whyNobody);
  /** An order to stop, or to go on: kept first, then given to all. */
  const give = async <Result extends OrderResult>(
    order: Omit<StopOrder, "scope">,
    handle: string | undefined,
    giveTo: (all: Guardian, asksServer: boolean) => Promise<Result>,
  ): Promise<Result | (OrderResult & Pick<HaltResult, "notKept">)> => {
    if (handle !== undefined && !(await isKnown(handle))) return giveTo(joined, true); // whoever has run it before has it, or says that nobody knows it
    const notKept = await keep({ ...order, scope: handle ?? EVERYONE });
    try {
      const result = await (notKept === undefined ? giveTo(joined, true) : giveTo(alone, false));
      return notKept === undefined ? result : { ...result, notKept };
    } catch (error) {
      if (!isRetinueError(error) || (notKept === undefined && !UNANSWERED.has(error.code))) throw error;
      const message = `${keptText(order, handle)}; ${error.message}`;
      onUnlisted?.({ ...order, scope: handle ?? EVERYONE }, message);
      return defined({ message, notKept });
    }
  };
  const stop = (reason: string): NonNullable<StopOrder["stop"]> => ({ reason, at: clock.now() });
  const all: Guardian = {
    ...joined,
    status: async () => statusOfFleet(await parts(), seen, whyNobody),
    halt: async (query) => {
      const order = { kind: "halt", stop: stop(query.reason ?? "the Guardian ordered it") } as const;
      let between: Between = { inFlight: [] };
      const halted = await give(order, query.handle, async (to, asksServer) => {
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
    pause: (query) => give({ kind: "pause", stop: stop(query.reason ?? "the Guardian paused it") }, query.handle, (to) => to.pause(query)),
    lift: (query) => give({ kind: "halt" }, query.handle, (to) => to.lift(query)),
    resume: (query) => give({ kind: "pause" }, query.handle, (to) => to.resume(query)),
  };
  return sayingWhoMoves(all, isKnown);
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

/** Codes of an order that nobody at work could be given: it is kept all the same, on the server or, whatever the error, in memory. */
const UNANSWERED: ReadonlySet<AnyCode> = new Set<AnyCode>(["nobody_at_work", "store_connection_lost", "specialist_unknown"]);

function keptText({ kind, stop }: Omit<StopOrder, "scope">, handle: string | undefined): string {
  const who = handle ?? "everyone";
  const state = kind === "halt" ? "halted" : "paused";
  return stop === undefined ? `${who} is ${state} no longer` : `${who} is ${state}`;
}

/** A specialist that nobody has at this moment is not unknown: another process may be taking it over. */
function sayingWhoMoves(guardian: Guardian, isKnown: MovingOptions["isKnown"]): Guardian {
  return remoteGuardian(async (name, query: { readonly handle?: unknown; readonly id?: unknown }) => {
    try {
      return await performRequest(guardian, name, query);
    } catch (error) {
      if (!isRetinueError(error)) throw error;
      const isOfName = name === "why" && error.code === "nothing_found";
      const handle = error.code === "specialist_unknown" ? query.handle : isOfName ? query.id : undefined;
      if (typeof handle !== "string" || !(await isKnown(handle))) throw error;
      throw new Retryable("nobody_at_work", `no process has ${handle} now`, {
        hint: "ask again in a moment, if another is taking it over; retinue fleet shows the processes",
        cause: error,
      });
    }
  });
}
