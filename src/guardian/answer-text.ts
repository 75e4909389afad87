/** The text of an answer to another process of a fleet. */
import { Retryable } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import { LONGEST_ANSWER } from "../store/postgres/requests.ts";

/** Throws `Retryable` (`answer_too_long`), which both processes tell. `name` is that of the request. */
export function answerText(result: unknown, { name, log }: { readonly name: string; readonly log: Pick<Logger, "warn"> }): string {
  const text = JSON.stringify({ result: result ?? null });
  if (text.length <= LONGEST_ANSWER) return text;
  const message = `the answer has ${text.length} characters, of which ${LONGEST_ANSWER} can be sent`;
  log.warn(message, { request: name });
  throw new Retryable("answer_too_long", message, {
    hint: "ask for less, such as fewer entries or one specialist, or ask in the folder of that process",
  });
}
