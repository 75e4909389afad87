/** Findings of the doctor, and helpers shared by its steps. */
import type { Call, Outcome } from "../contract/call.ts";
import { parseExactJson } from "../contract/reading/exact-json.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Json } from "../core/json.ts";
import type { Exchange } from "../client/client.ts";

export const STEPS = ["reach", "key", "document", "set", "shapes", "errors", "paging", "order", "clock", "latency", "limits"] as const;
export type Step = (typeof STEPS)[number];

/** A proposed value at a path of the profile. */
export interface Proposal {
  readonly path: readonly string[];
  readonly value: Json;
  /** A person should check it. */
  readonly isDoubtful: boolean;
  /** The reason to doubt it, such as `empty in each of 20 objects`. */
  readonly because?: string;
}

export interface Finding {
  readonly step: Step;
  /** `problem`: the network cannot be used as the profile says; `warning`: a part of it cannot. */
  readonly severity: "ok" | "note" | "warning" | "problem";
  /** Paths, types, counts and times; never a value from the network. */
  readonly message: string;
  readonly proposals: readonly Proposal[];
}

export function finding(step: Step, severity: Finding["severity"], message: string, proposals: readonly Proposal[] = []): Finding {
  return { step, severity, message, proposals };
}

/** A charged read under a profile. Undefined once the examination has used its calls. */
export type Ask = (call: Call, profile?: Profile) => Promise<Exchange | undefined>;

/** The body of an answer as JSON; undefined if it has none. */
export function bodyOf({ wire }: Exchange): Json | undefined {
  return wire.kind === "answer" ? parseExactJson(wire.text) : undefined;
}

/** True if a success came, readable or not. */
export function succeeded({ wire }: Exchange): boolean {
  return wire.kind === "answer" && wire.status >= 200 && wire.status < 300;
}

/** The class of an outcome and its status, for messages. */
export function shown(outcome: Outcome): string {
  const status = "status" in outcome && outcome.status !== undefined ? ` (${outcome.status})` : "";
  return outcome.class + status;
}

/** Ids of a page, in the order sent. */
export function idsOf(outcome: Outcome): string[] {
  const items = outcome.class === "confirmed" ? (outcome.items ?? []) : [];
  return items.flatMap((item) => ("id" in item && item.id !== undefined ? [item.id] : []));
}
