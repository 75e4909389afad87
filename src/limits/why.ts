/** What a person can do about a rule that makes something wait: the last line of `retinue why`. */
import { GUARDIAN, ownerOf, type Scope } from "./spending.ts";

/** What ends a wait that no time ends, or ends it sooner. */
export function remedyFor(rule: string, { handle, id }: { readonly handle: string; readonly id: string }): string | undefined {
  switch (rule) {
    case "halted":
      return `retinue halt --lift, or retinue halt ${handle} --lift`;
    case "paused":
      return `retinue resume, or retinue resume ${handle}`;
    case "approval_wanted":
      return `retinue approve ${id}, or retinue reject ${id}`;
    case "key_unusable":
      return "put a working key into the environment or its file: it is read anew by itself";
    case "spend_cap":
      return "wait, or raise the cap under spend";
    case "obligations_full":
      return "nothing: a job has to be delivered or given up first";
    case "drift":
      return "retinue doctor --diff says what changed";
    default:
      return undefined;
  }
}

/** The Guardian's word that an account may spend again. */
export function thawCommand(scope: Scope): string {
  return `retinue thaw ${scope === GUARDIAN ? "" : `${ownerOf(scope)} `}--reason '<what you found>'`;
}
