/** Answers that mean something else than their status, as a profile states them. */
import type { NetworkError } from "../contract/reading/network-error.ts";
import type { AnswerRule } from "../contract/profile/source.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";

export type Meaning = AnswerRule["means"];

/** The stated meaning of an answer; undefined if its status decides. */
export type AnswerRules = (status: number, said: NetworkError | undefined) => Meaning | undefined;

/** Meanings that only an action can have. */
const OF_ACTIONS: readonly Meaning[] = ["done", "pending"];

export function answerRules({ answers }: Pick<Profile, "answers">, { name, effect }: ProfileOperation): AnswerRules {
  const rules = answers.filter(
    ({ operations, means }) => (operations?.includes(name) ?? true) && (effect !== "read" || !OF_ACTIONS.includes(means)),
  );
  return rules.length === 0 ? () => undefined : (status, said) => rules.find((rule) => fits(rule, status, said))?.means;
}

function fits({ status, code, text }: AnswerRule, answered: number, said: NetworkError | undefined): boolean {
  if (status !== undefined && !(Array.isArray(status) ? status : [status]).includes(answered)) return false;
  if (code !== undefined && (said?.code === undefined || !code.includes(said.code))) return false;
  const message = said?.message.toLowerCase() ?? "";
  return text === undefined || text.some((part) => message.includes(part.toLowerCase()));
}
