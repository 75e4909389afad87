/** Runs the doctor inside the runtime: its reads go through the gateway, charged and paced like any other. */
import { examine } from "./examine.ts";
import type { Exchange } from "../client/client.ts";
import type { Finding } from "./finding.ts";
import type { EndpointSet } from "../contract/operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { Retryable } from "../core/errors.ts";
import type { Member } from "../gateway/member.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { notAnswered, readError } from "../gateway/read-result.ts";

export interface Examination {
  /** The profile to check the network against. */
  readonly profile: Profile;
  /** The set whose key prefix matches the key in use. */
  readonly keySet?: EndpointSet;
  /** Default and maximum: `MAX_DOCTOR_CALLS`. */
  readonly maxCalls?: number;
  /** Findings from elsewhere, such as a document. */
  readonly known?: readonly Finding[];
}

/** Dependencies of an examination. */
export interface ExaminationDependencies {
  readonly gateway: Gateway;
  /** Aborted when the time to drain is over: running work is interrupted. */
  readonly ending: AbortSignal;
}

export function examineNetwork(
  parts: ExaminationDependencies,
  member: Member,
  examination: Examination,
): AsyncGenerator<Finding, void, void> {
  return examine({
    ...examination,
    connect:
      (profile) =>
      async (call): Promise<Exchange> => {
        const answer = await parts.gateway.examine(member, call, profile, parts.ending);
        if (answer.kind === "answered") {
          if (answer.wire === undefined) throw new TypeError("expected an examination to return the raw answer");
          return { outcome: answer.outcome, wire: answer.wire };
        }
        const unread = notAnswered(answer);
        if (unread.kind !== "wait") throw readError(unread, call.operation);
        throw new Retryable("quota_waits", `the examination stops here: ${unread.message}`, {
          retryAt: unread.until,
          hint: `run it again after ${new Date(unread.until).toISOString()}; the findings so far are above`,
        });
      },
  });
}
