/** A specialist of which nothing is sent until its key is mended, as its process knows it, or as its row says. */
import { defined } from "../core/defined.ts";
import { foreignCode, type AnyCode } from "../core/error-codes.ts";
import type { KeyTrouble, Member } from "../gateway/member.ts";
import type { SpecialistOverview } from "../store/overview.ts";

export interface ParkedShown {
  readonly code: AnyCode;
  readonly message: string;
  readonly since: number;
  /** Time of the runtime's next probe. */
  readonly probeAt?: number;
}

/** A running member is more current than its row; so is the reason for which a process keeps one out. */
export function parkedShown(
  { parked }: SpecialistOverview["row"],
  member: Pick<Member, "keyTrouble"> | undefined,
  keptOut: KeyTrouble | undefined,
): ParkedShown | undefined {
  const trouble = member === undefined ? keptOut : member.keyTrouble;
  if (trouble !== undefined) {
    const { code, message, since, circuit } = trouble;
    return defined({ code, message, since, probeAt: circuit?.probeAt });
  }
  if (member !== undefined || parked === undefined) return undefined;
  return { code: foreignCode(parked.code), message: parked.message, since: parked.at };
}
