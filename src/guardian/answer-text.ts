/** The text of an answer to another process of a fleet. */
import { defined } from "../core/defined.ts";
import { Retryable } from "../core/errors.ts";
import { isObject, textIn } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import { LONGEST_ANSWER } from "../store/postgres/requests.ts";
import { describeError } from "./remote-guardian.ts";

/**
 * An incomplete order has an error beside its result, for processes of a version that knows no incomplete ones. Throws `Retryable`
 * (`answer_too_long`), which both processes tell. `name` is that of the request.
 */
export function answerText(result: unknown, { name, log }: { readonly name: string; readonly log: Pick<Logger, "warn"> }): string {
  const text = JSON.stringify({ result: result ?? null, ...errorBeside(result) });
  if (text.length <= LONGEST_ANSWER) return text;
  const message = `the answer has ${text.length} characters, of which ${LONGEST_ANSWER} can be sent`;
  log.warn(message, { request: name });
  throw new Retryable("answer_too_long", message, {
    hint: "ask for less, such as fewer entries or one specialist, or ask in the folder of that process",
  });
}

function errorBeside(result: unknown): { readonly error?: object } {
  const incomplete = isObject(result) ? result["incomplete"] : undefined;
  if (!isObject(incomplete)) return {};
  return {
    error: describeError(
      new Retryable("order_incomplete", textIn(incomplete, "message") ?? "", defined({ hint: textIn(incomplete, "hint") })),
    ),
  };
}
