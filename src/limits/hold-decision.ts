/** The decision on a hold for a model call: halt, pause and money, as a pure function. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Money } from "../core/units.ts";
import { holdable, ownerOf, type Account, type Cap } from "./spending.ts";
import type { Stop } from "./verdict.ts";
import type { WaitRule } from "./wait-rules.ts";

/** Everything a hold depends on, as rows of one moment. */
export interface HoldView {
  readonly now: number;
  /** The highest cost. */
  readonly money: Money;
  readonly halt: Stop | undefined;
  readonly pause: Stop | undefined;
  /** Specialist first. */
  readonly accounts: readonly Account[];
  readonly caps: readonly Cap[];
}

export type HoldVerdict =
  | { readonly kind: "hold" }
  /** `until` is the time at which a window frees enough; undefined if a person ends it. */
  | { readonly kind: "wait"; readonly rule: WaitRule; readonly message: string; readonly until: number | undefined }
  | { readonly kind: "refuse"; readonly code: AnyCode; readonly message: string };

export function decideHold({ now, money, halt, pause, accounts, caps }: HoldView): HoldVerdict {
  const wait = (rule: WaitRule, message: string, until?: number): HoldVerdict => ({ kind: "wait", rule, message, until });
  if (halt !== undefined) return wait("halted", `halted: ${halt.reason}`);
  if (pause !== undefined) return wait("paused", `paused: ${pause.reason}`);
  const held = holdable(accounts, caps, money, now);
  if (held.ok) return { kind: "hold" };
  const message = `${ownerOf(held.scope)}: ${held.message}`;
  if (held.code === "spend_frozen") return wait(held.code, held.message);
  return held.code === "spend_cap" ? wait(held.code, message, held.until) : { kind: "refuse", code: held.code, message };
}
