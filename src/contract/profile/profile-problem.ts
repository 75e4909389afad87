/** What is wrong with a profile, and where in its data. */
import { Misconfigured } from "../../core/errors.ts";

/** One thing that is wrong with a profile, and where. */
export interface ProfileProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** A name that nothing has, and those it may have been meant for. */
  readonly mistyped?: { readonly name: string; readonly known: readonly string[] };
}

/** A profile that cannot work. `problems` has all that was found, so that a file is mended in one go. */
export class ProfileInvalid extends Misconfigured {
  readonly problems: readonly ProfileProblem[];

  constructor(problems: readonly ProfileProblem[]) {
    const [first] = problems;
    const where = first === undefined || first.path.length === 0 ? "the profile" : first.path.join(".");
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    super("profile_invalid", `${where}: ${first?.message ?? "cannot be read"}${more}`, { hint: "mend the profile file at that place" });
    this.problems = problems;
  }
}
