/** The optional package by which traces leave: the API of OpenTelemetry. The SDK behind it is the user's. */
import type * as Otel from "@opentelemetry/api";
import { loadPeer, type Peer } from "../core/peer.ts";

export type TraceApi = Pick<typeof Otel, "trace" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode" | "TraceFlags">;

export const TRACE_PEER: Peer = { name: "@opentelemetry/api", version: "1.10.0" };

/** Throws `Misconfigured` (`peer_missing`). */
export function loadTraceApi(): Promise<TraceApi> {
  return loadPeer(TRACE_PEER, () => import("@opentelemetry/api"));
}
