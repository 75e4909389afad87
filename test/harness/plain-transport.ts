/** The way to a local network without sockets, on which nothing is lost. */
import type { Transport, WireRequest } from "../../src/client/transport.ts";
import type { EndpointSet } from "../../src/contract/operations.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";

const ELAPSED_MS = 1;

/** `onSend` is told of every request before it arrives. */
export function plainLink(network: LocalNetwork, set: EndpointSet, onSend: (request: WireRequest) => void = () => undefined): Transport {
  return async (request) => {
    onSend(request);
    const { method, path, headers, body = "" } = request;
    const [name = "", search = ""] = path.split("?", 2);
    const query = Object.fromEntries(new URLSearchParams(search));
    const reply = await network.handle(set, { method, path: name, query, headers, body });
    return { kind: "answer", status: reply.status, headers: reply.headers, text: reply.body, elapsedMs: ELAPSED_MS };
  };
}
