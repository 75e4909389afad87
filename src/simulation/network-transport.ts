/** The wire of a simulated run: takes requests to the local network's core through virtual time, and loses what the faults say. */
import type { WireAnswer, WireRequest } from "../client/transport.ts";
import type { Clock } from "../core/clock.ts";
import type { EndpointSet } from "../contract/operations.ts";
import type { Random } from "../core/random.ts";
import { MINUTE, SECOND, showDuration } from "../core/units.ts";
import { ConnectionLost, type NetworkReply, type NetworkRequest } from "../local-network/server/exchange.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import type { FaultRates } from "./faults.ts";

export interface NetworkTransportOptions {
  /** The world's. */
  readonly clock: Clock;
  readonly random: Random;
  readonly network: LocalNetwork;
  readonly set: EndpointSet;
  /** Read for every request, since they change while the run goes on. */
  readonly rates: () => FaultRates;
  /** While true nothing gets through. */
  readonly down: () => boolean;
  /** How late a request may still land, counted from its deadline. */
  readonly lateLandingMs: number;
  /** Whether a vote is never sent again after a doubt, so that it may land later than that. */
  readonly votesOnce?: boolean;
  /** Called as a request leaves, and round its arrival at the network. */
  readonly onSend: (request: WireRequest) => void;
  readonly aroundArrival: (request: WireRequest, arrive: () => Promise<NetworkReply>, passage: Arrival) => Promise<NetworkReply>;
  readonly onAnswer: (request: WireRequest, answer: WireAnswer) => void;
}

export interface Arrival {
  /** It lands later than the network states, where no quota of ours can count it any more. */
  readonly beyondBound: boolean;
}

const RESET: WireAnswer = { kind: "unknown", reason: "ECONNRESET: the connection was reset" };
const REFUSED: WireAnswer = { kind: "never-left", reason: "ECONNREFUSED: the connection was refused" };
const ONE_WAY_MS = { least: 3, most: 120 };
const SLOW_MS = 50 * SECOND;
const BEYOND_MS = 30 * MINUTE;
/** What is submitted is never sent again after a doubt; the network takes one application from each. */
const TAKEN_ONCE = /\/(?:submit|complete|apply)$/;
const VOTE = /\/(?:vote|like)$/;

/** What befalls one request: when it arrives and when its answer does, if at all. */
interface Passage extends Arrival {
  readonly refused: boolean;
  readonly arrivesAfterMs: number | undefined;
  readonly returnsAfterMs: number | undefined;
  /** When the sender sees a reset; undefined for silence until its deadline. */
  readonly resetAfterMs: number | undefined;
}

export function createNetworkTransport(options: NetworkTransportOptions): (request: WireRequest) => Promise<WireAnswer> {
  const { clock, network, set } = options;
  return (request) =>
    new Promise((resolve) => {
      options.onSend(request);
      const startedAt = clock.monotonic();
      let settled = false;
      const settle = (answer: WireAnswer): void => {
        if (settled) return;
        settled = true;
        deadline.cancel();
        request.signal?.removeEventListener("abort", abort);
        options.onAnswer(request, answer);
        resolve(answer);
      };
      const abort = (): void => settle({ kind: "unknown", reason: "aborted" });
      const deadline = clock.after(request.deadlineMs, () =>
        settle({ kind: "unknown", reason: `no complete answer within ${showDuration(request.deadlineMs)}` }),
      );
      if (request.signal?.aborted === true) return settle({ kind: "never-left", reason: "aborted" });
      request.signal?.addEventListener("abort", abort, { once: true });

      const passage = passageOf(request, options);
      if (passage.refused) return settle(REFUSED);
      if (passage.resetAfterMs !== undefined) clock.after(passage.resetAfterMs, () => settle(RESET));
      if (passage.arrivesAfterMs === undefined) return;
      clock.after(passage.arrivesAfterMs, () => {
        options
          .aroundArrival(request, () => network.handle(set, toNetwork(request)), passage)
          .then(
            (reply) => {
              if (passage.returnsAfterMs === undefined || settled) return;
              // An outage cuts off what is under way as well.
              clock.after(passage.returnsAfterMs, () => options.down() || settle(toWire(reply, clock.monotonic() - startedAt)));
            },
            (error: unknown) => {
              if (!(error instanceof ConnectionLost)) throw error;
              settle(RESET);
            },
          );
      });
    });
}

function passageOf(
  { deadlineMs, path }: WireRequest,
  { random, rates, down, lateLandingMs, votesOnce = false }: NetworkTransportOptions,
): Passage {
  const wayMs = (): number => ONE_WAY_MS.least + random.int(ONE_WAY_MS.most);
  const way = { refused: false, beyondBound: false, arrivesAfterMs: wayMs(), returnsAfterMs: wayMs(), resetAfterMs: undefined };
  if (down()) return { ...way, refused: random.next() < 0.5, arrivesAfterMs: undefined, resetAfterMs: random.next() < 0.5 ? 0 : undefined };
  const { refusedConnections, lostRequests, lostReplies, lateLandings, veryLateLandings, slowReplies } = rates();
  let draw = random.next();
  const befalls = (share: number): boolean => {
    draw -= share;
    return draw < 0;
  };
  /** Half of what breaks is seen as a reset, the other half as silence. */
  const breaks = (): number | undefined => (random.next() < 0.5 ? random.int(2 * SECOND) : undefined);
  if (befalls(refusedConnections)) return { ...way, refused: true };
  if (befalls(lostRequests)) return { ...way, arrivesAfterMs: undefined, resetAfterMs: breaks() };
  if (befalls(lostReplies)) return { ...way, returnsAfterMs: undefined, resetAfterMs: breaks() };
  if (befalls(lateLandings))
    return { ...way, arrivesAfterMs: random.int(deadlineMs + lateLandingMs), returnsAfterMs: undefined, resetAfterMs: breaks() };
  if ((TAKEN_ONCE.test(path) || (votesOnce && VOTE.test(path))) && befalls(veryLateLandings)) {
    const arrivesAfterMs = deadlineMs + lateLandingMs + random.int(BEYOND_MS);
    return { ...way, beyondBound: true, arrivesAfterMs, returnsAfterMs: undefined, resetAfterMs: breaks() };
  }
  if (befalls(slowReplies)) return { ...way, returnsAfterMs: random.int(SLOW_MS) };
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
