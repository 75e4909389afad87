/** The optional package that speaks the client's side of the protocol. */
import type * as Client from "@modelcontextprotocol/client";
import type * as Stdio from "@modelcontextprotocol/client/stdio";
import { loadPeer, type Peer } from "../core/peer.ts";

const CLIENT_PEER: Peer = { name: "@modelcontextprotocol/client", version: "2.4.0" };

/** The loaded package. */
export interface ClientSdk {
  readonly client: typeof Client;
  readonly stdio: typeof Stdio;
}

/** Throws `Misconfigured` (`peer_missing`). */
export async function loadClientSdk(): Promise<ClientSdk> {
  return {
    client: await loadPeer(CLIENT_PEER, () => import("@modelcontextprotocol/client")),
    stdio: await loadPeer(CLIENT_PEER, () => import("@modelcontextprotocol/client/stdio")),
  };
}
