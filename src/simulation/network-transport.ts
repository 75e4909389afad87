/** Carries requests of a simulated run to the local network in virtual time, and loses those that the faults choose. */
import type { WireAnswer, WireRequest } from "../client/transport.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { EndpointSet } from "../contract/operations.ts";
import type { Random } from "../core/random.ts";
import { MINUTE, SECOND, showDuration } from "../core/units.ts";
import { ConnectionLost, type NetworkReply, type NetworkRequest } from "../local-network/server/exchange.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import { isStoreLost } from "../store/store-lost.ts";
import type { FaultRates } from "./faults.ts";

export interface NetworkTransportOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  readonly random: Random;
  readonly network: LocalNetwork;
  readonly set: EndpointSet;
  /** Read for every request, because the rates change during a run. */
  readonly rates: () => FaultRates;
  /** Nothing gets through while this is true. */
  readonly down: () => boolean;
  /** The longest time after its deadline at which a request may take effect. */
  readonly lateLandingMs: number;
  /** A vote may take effect later than `lateLandingMs` if it is never resent. */
  readonly votesOnce?: boolean;
  /** Called as a request leaves, and around its arrival at the network. */
  readonly onSend: (request: WireRequest) => void;
  readonly aroundArrival: (request: WireRequest, arrive: () => Promise<NetworkReply>, fate: Arrival) => Promise<NetworkReply>;
  readonly onAnswer: (request: WireRequest, answer: WireAnswer) => void;
}

export interface Arrival {
  /** The request arrives later than the network states, when no quota of ours can count it. */
  readonly beyondBound: boolean;
}

const RESET: WireAnswer = { kind: "unknown", reason: "ECONNRESET: the connection was reset" };
const REFUSED: WireAnswer = { kind: "never-left", reason: "ECONNREFUSED: the connection was refused" };
const ONE_WAY_MS = { least: 3, most: 120 };
const SLOW_MS = 50 * SECOND;
const BEYOND_MS = 30 * MINUTE;
/** A submission is never resent; the network takes one application from each account. */
const TAKEN_ONCE = /\/(?:submit|complete|apply)$/;
const VOTE = /\/(?:vote|like)$/;

/** The fate of one request: the times at which it and its answer arrive, if they do. */
interface RequestFate extends Arrival {
  readonly refused: boolean;
  readonly arrivesAfterMs: number | undefined;
  readonly returnsAfterMs: number | undefined;
  /** The delay until the sender sees a reset; undefined for silence until the deadline. */
  readonly resetAfterMs: number | undefined;
}

/** `departs` resolves when a process that stopped right before the first byte goes on: it checks nothing more then, and sends. */
export type NetworkTransport = (request: WireRequest, departs?: Promise<void>) => Promise<WireAnswer>;

export function createNetworkTransport(options: NetworkTransportOptions): NetworkTransport {
  const { clock } = options;
  return (request, departs) =>
    new Promise((resolve) => {
      try {
        request.onLeaving?.();
      } catch (error) {
        if (!isStoreLost(error)) throw error; // the process has died
        return resolve({ kind: "never-left", reason: messageOf(error) });
      }
      options.onSend(request);
      const startedAt = clock.monotonic();
      let finished = false;
      const finish = (answer: WireAnswer): void => {
        if (finished) return;
        finished = true;
        deadline.cancel();
        request.signal?.removeEventListener("abort", abort);
        options.onAnswer(request, answer);
        resolve(answer);
      };
      const abort = (): void => finish({ kind: "unknown", reason: "aborted" });
      const deadline = clock.after(request.deadlineMs, () =>
        finish({ kind: "unknown", reason: `no complete answer within ${showDuration(request.deadlineMs)}` }),
      );
      if (request.signal?.aborted === true) return finish({ kind: "never-left", reason: "aborted" });
      request.signal?.addEventListener("abort", abort, { once: true });

      const leave = (): void => carry(request, { options, isLate: departs !== undefined, startedAt, isOver: () => finished, finish });
      if (departs === undefined) leave();
      else void departs.then(leave);
    });
}

interface Journey {
  readonly options: NetworkTransportOptions;
  /** It leaves later than its process checked that it may. */
  readonly isLate: boolean;
  readonly startedAt: number;
  readonly isOver: () => boolean;
  readonly finish: (answer: WireAnswer) => void;
}

function carry(request: WireRequest, { options, isLate, startedAt, isOver, finish }: Journey): void {
  const { clock, network, set } = options;
  const drawn = drawFate(request, options);
  const fate = isLate ? { ...drawn, beyondBound: true } : drawn;
  if (fate.refused) return finish(REFUSED);
  if (fate.resetAfterMs !== undefined) clock.after(fate.resetAfterMs, () => finish(RESET));
  if (fate.arrivesAfterMs === undefined) return;
  clock.after(fate.arrivesAfterMs, () => {
    options
      .aroundArrival(request, () => network.handle(set, toNetwork(request)), fate)
      .then(
        (reply) => {
          if (fate.returnsAfterMs === undefined || isOver()) return;
          // An outage also cuts off answers in flight.
          clock.after(fate.returnsAfterMs, () => options.down() || finish(toWire(reply, clock.monotonic() - startedAt)));
        },
        (error: unknown) => {
          if (!(error instanceof ConnectionLost)) throw error;
          finish(RESET);
        },
      );
  });
}

function drawFate(
  { deadlineMs, path }: WireRequest,
  { random, rates, down, lateLandingMs, votesOnce = false }: NetworkTransportOptions,
): RequestFate {
  const wayMs = (): number => ONE_WAY_MS.least + random.int(ONE_WAY_MS.most);
  const way = { refused: false, beyondBound: false, arrivesAfterMs: wayMs(), returnsAfterMs: wayMs(), resetAfterMs: undefined };
  if (down()) return { ...way, refused: random.next() < 0.5, arrivesAfterMs: undefined, resetAfterMs: random.next() < 0.5 ? 0 : undefined };
  const { refusedConnections, lostRequests, lostReplies, lateLandings, veryLateLandings, slowReplies } = rates();
  let draw = random.next();
  const isDrawn = (share: number): boolean => {
    draw -= share;
    return draw < 0;
  };
  /** The sender sees half of the failures as a reset, the other half as silence. */
  const breaks = (): number | undefined => (random.next() < 0.5 ? random.int(2 * SECOND) : undefined);
  if (isDrawn(refusedConnections)) return { ...way, refused: true };
  if (isDrawn(lostRequests)) return { ...way, arrivesAfterMs: undefined, resetAfterMs: breaks() };
  if (isDrawn(lostReplies)) return { ...way, returnsAfterMs: undefined, resetAfterMs: breaks() };
  if (isDrawn(lateLandings))
    return { ...way, arrivesAfterMs: random.int(deadlineMs + lateLandingMs), returnsAfterMs: undefined, resetAfterMs: breaks() };
  if ((TAKEN_ONCE.test(path) || (votesOnce && VOTE.test(path))) && isDrawn(veryLateLandings)) {
    const arrivesAfterMs = deadlineMs + lateLandingMs + random.int(BEYOND_MS);
    return { ...way, beyondBound: true, arrivesAfterMs, returnsAfterMs: undefined, resetAfterMs: breaks() };
  }
  if (isDrawn(slowReplies)) return { ...way, returnsAfterMs: random.int(SLOW_MS) };
  return way;
}

function toNetwork({ method, path, headers, body }: WireRequest): NetworkRequest {
  const [name = "", search = ""] = path.split("?", 2);
  return { method, path: name, query: search === "" ? {} : Object.fromEntries(new URLSearchParams(search)), headers, body: body ?? "" };
}

function toWire({ status, headers, body }: NetworkReply, elapsedMs: number): WireAnswer {
  const promised = headers["content-length"];
  if (promised !== undefined && Number(promised) !== Buffer.byteLength(body))
    return { kind: "unknown", reason: "the answer was cut short", status, headers };
  return { kind: "answer", status, headers, text: body, elapsedMs };
}
