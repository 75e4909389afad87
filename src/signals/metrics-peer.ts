/** The optional package that writes metrics. */
import type Prom from "prom-client";
import { loadPeer, type Peer } from "../core/peer.ts";

export const METRICS_PEER: Peer = { name: "prom-client", version: "15.1.3" };

/** Throws `Misconfigured` (`peer_missing`). */
export async function loadPromClient(): Promise<typeof Prom> {
  return (await loadPeer(METRICS_PEER, () => import("prom-client"))).default;
}
