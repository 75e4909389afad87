/** The optional package that speaks the server's side of the protocol. */
import { loadPeer, type Peer } from "../core/peer.ts";
import type { ServerSdk } from "./mcp-server.ts";

export const SERVER_PEER: Peer = { name: "@modelcontextprotocol/server", version: "2.4.0" };

/** Throws `Misconfigured` (`peer_missing`). */
export function loadServerSdk(): Promise<ServerSdk> {
  return loadPeer(SERVER_PEER, () => import("@modelcontextprotocol/server"));
}
