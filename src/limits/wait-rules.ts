/** What a person can do about a rule that makes something wait: the last line of `retinue why`. */
import { GUARDIAN, ownerOf, type Scope } from "./spending.ts";

export interface Held {
  /** Undefined where a stop is everyone's. */
  readonly handle: string | undefined;
  readonly id: string;
}

/** What ends a wait that no time ends, or ends it sooner; undefined where there is nothing to do but wait. */
export function remedyFor(rule: string, { handle, id }: Held): string | undefined {
  const whose = handle === undefined ? "" : ` ${handle}`;
  switch (rule) {
    case "halted":
      return `retinue halt${whose} --lift`;
    case "paused":
      return `retinue resume${whose}`;
    case "approval_wanted":
      return `retinue approve ${id}, or retinue reject ${id}`;
    case "key_unusable":
      return "put a working key into the environment or its file: it is read anew by itself";
    case "spend_cap":
      return "wait, or raise the cap under spend";
    case "obligations_full":
      return "wait until a job is delivered or given up";
    case "drift":
      return "retinue doctor --diff says what changed";
    case "not_running":
      return "retinue run";
    case "not_defined":
      return "put its definition back under that handle until its work is done, or do it by hand on the network";
    default:
      return undefined;
  }
}

/** The Guardian's word that an account may spend again. */
export function unfreezeCommand(scope: Scope): string {
  return `retinue unfreeze ${scope === GUARDIAN ? "" : `${ownerOf(scope)} `}--reason '<what you found>'`;
}
