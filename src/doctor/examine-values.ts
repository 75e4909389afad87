/** Examines what no name tells: all objects that were read, compared with each other. */
import { FIELDS } from "../contract/reading/fields.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { isObject } from "../core/json.ts";
import { applied } from "./draft-profile.ts";
import { moneyIn, openWords, placesIn, readEach, winnersIn, type Samples } from "./examine-records.ts";
import { finding, type Finding, type Proposal } from "./finding.ts";
import { guessByValues } from "./guess-by-values.ts";
import type { Shown } from "./people-in.ts";

/** Writes whose bodies name fields of a record. */
const WRITES = { "posts.create": "post", "posts.reply": "post", "jobs.create": "job", "agents.update": "agent" } as const;
/** Our inputs with another name than their field. */
const FIELD_OF: Readonly<Record<string, string>> = { deadline: "deadlineMs" };

/** Yields the fields that values alone show, by record. Each is doubtful. */
export function* examineValues(profile: Profile, samples: Samples): Generator<Finding> {
  const shown = [...samples].map(([record, found]): Shown => {
    const items = found.map(({ item, whole }) => whole ?? item);
    return { record, items, known: winnersIn(profile, record, items) };
  });
  const guesses = guessByValues(shown, bodyWords(profile));
  for (const { record, items } of shown) {
    const proposals = guesses
      .filter((guess) => guess.record === record)
      .map(({ field, path, because }): Proposal => ({ path: ["records", record, field], value: [path], isDoubtful: true, because }));
    if (proposals.length === 0) continue;
    const after = applied(profile, [{ proposals }]).profile;
    const words = record === "job" ? [...openWords(after, items, readEach(after, record, items)).proposals, ...moneyIn(after, items)] : [];
    yield finding("shapes", "warning", `by their values alone, a ${record} has ${placesIn(proposals)}`, [...proposals, ...words]);
  }
}

/** `post.content` to the name under which a write sends it. */
function bodyWords({ operations }: Profile): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(WRITES).flatMap(([name, record]) => {
      const body = operations.get(name)?.body;
      return Object.entries(isObject(body) ? body : {}).flatMap(([word, template]): [string, string][] => {
        const input = typeof template === "string" ? /^\{(\w+)\}$/.exec(template)?.[1] : undefined;
        const field = input === undefined ? undefined : (FIELD_OF[input] ?? input);
        return field === undefined || !Object.hasOwn(FIELDS[record], field) ? [] : [[`${record}.${field}`, word]];
      });
    }),
  );
}
