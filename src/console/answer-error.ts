/** An error as the answer to a request: its status, its code and message, and what to try. */
import type { FastifyReply } from "fastify";
import type { AnyCode } from "../core/error-codes.ts";
import { defined } from "../core/defined.ts";
import { errorClass, isRetinueError, messageOf, retryTime, type ErrorClass } from "../core/errors.ts";
import { statusOf } from "../core/http-status.ts";
import { SECOND } from "../core/units.ts";

/** The statuses of codes that have one of their own. */
const BY_CODE: { readonly [code: string]: number | undefined } = {
  token_missing: 403,
  token_wrong: 401,
  session_over: 401,
  csrf_wrong: 403,
  role_view: 403,
  host_refused: 403,
  origin_refused: 403,
  logins_slowed: 429,
  order_unknown: 404,
  nothing_found: 404,
  // Somebody else was first, or it changed since it was shown.
  approval_over: 409,
  changed_meanwhile: 409,
  nothing_parked: 409,
  not_in_doubt: 409,
  may_have_happened: 409,
};
/** The status of a body in another format. */
const UNSUPPORTED_MEDIA = 415;
const BY_CLASS: { readonly [name in ErrorClass]: number } = { Refused: 422, Misconfigured: 400, Retryable: 503, Fatal: 500 };

/** Sends an error. `now` is the present, for the time to wait. */
export function answerError(reply: FastifyReply, error: unknown, now: number, onError: (error: unknown) => void): FastifyReply {
  if (!isRetinueError(error)) {
    const status = statusOf(error);
    if (status >= 500) onError(error);
    if (status === UNSUPPORTED_MEDIA)
      return say(reply, status, "failed", "the body must be JSON", "send it with content-type: application/json");
    return say(reply, status, "failed", status >= 500 ? "the console failed; the log says why" : messageOf(error));
  }
  const status = BY_CODE[error.code] ?? BY_CLASS[errorClass(error) ?? "Fatal"];
  if (status >= 500 && status !== BY_CLASS.Retryable) onError(error);
  const retryAt = retryTime(error);
  if (retryAt !== undefined) void reply.header("retry-after", Math.max(1, Math.ceil((retryAt - now) / SECOND)));
  if (error.code === "token_wrong") void reply.header("www-authenticate", "Bearer");
  const { hint, expected } = error.details;
  return say(reply, status, error.code, expected === undefined ? error.message : `${error.message}; expected ${expected}`, hint);
}

export function say(reply: FastifyReply, status: number, code: AnyCode, message: string, hint?: string): FastifyReply {
  return reply.code(status).send({ error: defined({ code, message, hint }) });
}
