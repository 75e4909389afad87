/** The doctor inside the runtime: its reads go through the door, charged and paced like any other. */
import { examine } from "./examine.ts";
import type { Exchange } from "../client/client.ts";
import type { Finding } from "./finding.ts";
import type { EndpointSet } from "../contract/operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { Refused, Retryable } from "../core/errors.ts";
import type { Member } from "../gateway/member.ts";
import type { Gateway } from "../gateway/gateway.ts";

export interface Examination {
  /** What is thought to be known of the network; the doctor says where it differs. */
  readonly profile: Profile;
  /** The set whose keys look like the one in use. */
  readonly keySet?: EndpointSet;
  /** Default and highest: `MAX_DOCTOR_CALLS`. */
  readonly maxCalls?: number;
}

/** One finding after another. Throws `Retryable` (`quota_waits`) where the quota has no place for more reads now. */
/** The parts of the runtime that an examination uses. */
export interface ExaminationDependencies {
  readonly gateway: Gateway;
  /** Aborted when the time to drain is over: running work is cut short. */
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
        switch (answer.kind) {
          case "answered":
            if (answer.wire === undefined) throw new TypeError("expected an examination to show the answer as it came");
            return { outcome: answer.outcome, wire: answer.wire };
          case "waits":
            throw new Retryable("quota_waits", `the examination stops here: ${answer.message}`, {
              retryAt: answer.until,
              hint: `run it again after ${new Date(answer.until).toISOString()}; what was found so far is above`,
            });
          case "refused":
            throw new Refused(answer.code, answer.message);
          case "gone":
            throw new Retryable("read_lost", "the read was lost");
        }
      },
  });
}
