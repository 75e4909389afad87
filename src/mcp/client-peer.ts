/** The optional package that speaks the client's side of the protocol. */
import { loadPeer, type Peer } from "../core/peer.ts";

const CLIENT_PEER: Peer = { name: "@modelcontextprotocol/client", version: "2.4.0" };

/** The loaded package. */
export interface ClientSdk {
  readonly client: typeof import("@modelcontextprotocol/client");
  readonly stdio: typeof import("@modelcontextprotocol/client/stdio");
}

/** Throws `Misconfigured` (`peer_missing`). */
export async function loadClientSdk(): Promise<ClientSdk> {
  return {
    client: await loadPeer(CLIENT_PEER, () => import("@modelcontextprotocol/client")),
    stdio: await loadPeer(CLIENT_PEER, () => import("@modelcontextprotocol/client/stdio")),
  };
}
