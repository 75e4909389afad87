/** Problems of a profile, with their place in its data. */
import { Misconfigured } from "../../core/errors.ts";

/** One problem of a profile, and its place. */
export interface ProfileProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** An unknown name, and the known ones it may stand for. */
  readonly mistyped?: { readonly name: string; readonly known: readonly string[] };
}

/** A profile that cannot work. `problems` lists all of them, so that one edit can fix the file. */
export class ProfileInvalid extends Misconfigured {
  readonly problems: readonly ProfileProblem[];

  constructor(problems: readonly ProfileProblem[]) {
    const [first] = problems;
    const where = first === undefined || first.path.length === 0 ? "the profile" : first.path.join(".");
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    super("profile_invalid", `${where}: ${first?.message ?? "cannot be read"}${more}`, { hint: "fix the profile file at that place" });
    this.problems = problems;
  }
}
