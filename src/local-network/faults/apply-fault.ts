/** Applies a drawn fault to a request. */
import { OPERATIONS } from "../../contract/operations.ts";
import type { EndpointSet } from "../../contract/operations.ts";
import { sleep } from "../../core/clock.ts";
import type { Clock } from "../../core/clock.ts";
import { ConnectionLost } from "../server/exchange.ts";
import type { NetworkReply, NetworkRequest } from "../server/exchange.ts";
import type { RequestHandler } from "../server/handle.ts";
import type { FaultBook, Fault } from "./network-faults.ts";
import { failedReply, limitedReply, redirectReply, spoil, stoppedReply } from "./fault-responses.ts";

/** Seconds a 429 asks to wait if the fault does not state them. */
const DEFAULT_WAIT_S = 30;

export interface FaultDependencies {
  readonly clock: Clock;
  readonly desk: RequestHandler;
  readonly faults: FaultBook;
  /** Aborted when the network stops: a late request then has no effect. */
  readonly stopped: AbortSignal;
}

/** Draws a fault for the request and answers accordingly. Rejects with `ConnectionLost`. */
export async function answerWithFaults(parts: FaultDependencies, set: EndpointSet, request: NetworkRequest): Promise<NetworkReply> {
  const { desk, faults } = parts;
  const operation = desk.operationOf(set, request);
  const agent = desk.whose(set, request)?.handle ?? "";
  const writes = operation === undefined ? request.method !== "GET" : OPERATIONS[operation].effect !== "read";
  const fault = faults.draw({ set, operation: operation ?? "", agent, writes });
  return fault === undefined ? desk.process(set, request) : suffer(parts, set, request, fault);
}

async function suffer(parts: FaultDependencies, set: EndpointSet, request: NetworkRequest, fault: Fault): Promise<NetworkReply> {
  const { clock, desk } = parts;
  switch (fault.kind) {
    case "delay-reply": {
      const reply = desk.process(set, request);
      await late(parts, fault.ms);
      return reply;
    }
    case "delay-request":
      await late(parts, fault.ms);
      return desk.process(set, request);
    case "land-late":
      landLater(parts, set, request, fault.ms);
      throw new ConnectionLost("reset while the request was on its way");
    case "lose-request":
      throw new ConnectionLost("reset before the request arrived");
    case "lose-reply":
      desk.process(set, request);
      throw new ConnectionLost("reset before the answer arrived");
    case "twice":
      desk.process(set, request);
      return desk.process(set, request);
    case "limited":
      return limitedReply(fault.dialect, fault.seconds ?? DEFAULT_WAIT_S, clock.now());
    case "status":
      if (fault.when === "after") desk.process(set, request);
      return failedReply(fault.status);
    case "body":
      return spoil(desk.process(set, request), fault.body);
    case "redirect":
      return redirectReply(fault.to);
    case "account":
      return stoppedReply(fault.answer);
  }
}

/** Waits. Rejects with `ConnectionLost` if the network stops meanwhile. */
async function late({ clock, stopped }: FaultDependencies, ms: number): Promise<void> {
  await sleep(clock, ms, stopped);
  if (stopped.aborted) throw new ConnectionLost("the network has stopped");
}

function landLater({ clock, desk, stopped }: FaultDependencies, set: EndpointSet, request: NetworkRequest, ms: number): void {
  const giveUp = (): void => timer.cancel();
  const timer = clock.after(ms, () => {
    stopped.removeEventListener("abort", giveUp);
    desk.process(set, request);
  });
  stopped.addEventListener("abort", giveUp, { once: true });
}
