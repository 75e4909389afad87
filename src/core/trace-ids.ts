/** Ids of traces, derived from the events and actions they are about: a trace goes on after a restart, and nothing is stored for it. */
import { sha256 } from "./json.ts";

/** The place where the OpenTelemetry API keeps its registered parts, in whatever copy of the package: its major version is 1. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const TRACE_ID_LENGTH = 32;
const SPAN_ID_LENGTH = 16;

/** True once an SDK has registered a provider of tracers in this process. */
export function isTraced(): boolean {
  const parts: unknown = Reflect.get(globalThis, REGISTERED);
  return typeof parts === "object" && parts !== null && "trace" in parts;
}

/** The trace of a subject: of a specialist's event, or of an action without one. */
export function traceIdOf(handle: string, subject: string): string {
  return sha256(["trace", handle, subject]).slice(0, TRACE_ID_LENGTH);
}

/** The span of a subject as a whole, which is the parent of all spans of its trace. It is named and never sent: an SDK chooses the ids it sends. */
export function spanIdOf(handle: string, subject: string): string {
  return sha256(["span", handle, subject]).slice(0, SPAN_ID_LENGTH);
}
