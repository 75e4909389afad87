/** The gateway's answer to one request: what the network said, or the reason for which nothing was sent. */
import type { AnyCode } from "../core/error-codes.ts";
import type { WireAnswer } from "../client/transport.ts";
import type { Outcome } from "../contract/call.ts";
import type { Lane } from "../contract/operations.ts";
import type { WaitRule } from "../limits/wait-rules.ts";

export type GatewayAnswer =
  | {
      readonly kind: "answered";
      readonly outcome: Outcome;
      /** The raw answer, for an examination. */
      readonly wire?: WireAnswer;
    }
  | {
      readonly kind: "waits";
      /** Time of the next try. */
      readonly until: number;
      /** True if no time ends the wait, but a person or another intent's outcome. */
      readonly open?: boolean;
      readonly rule: WaitRule;
      readonly message: string;
      readonly lane: Lane;
    }
  | { readonly kind: "refused"; readonly code: AnyCode; readonly message: string }
  /** Another attempt took the intent. */
  | { readonly kind: "gone" };
