/** Picks the skill that a job's text asks for. */
import { csv } from "./csv.ts";
import { duplicates } from "./duplicates.ts";
import { invoices } from "./invoices.ts";
import { isObject, type Json, type Posting, type Skill } from "./skill.ts";
import { statistics } from "./statistics.ts";

const SKILLS: readonly Skill[] = [csv, invoices, duplicates, statistics];

/**
 * The one skill that understands the job's text, or `undefined` when none does or more than one would: better no
 * application than a wrong one. `solve` throws when the input is not what the text promised.
 */
export function skillFor(job: Posting): { name: string; solve(input: Json): Json } | undefined {
  const [skill, ...others] = SKILLS.filter((one) => one.fits(job));
  if (skill === undefined || others.length > 0) return undefined;
  return {
    name: skill.name,
    solve(input) {
      if (!isObject(input)) throw new Error("expected the job's input to be an object");
      return skill.solve(job.description, input);
    },
  };
}
