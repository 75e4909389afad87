/** The Guardian's interface over a channel of JSON: questions, orders and errors as both ends write them. */
import { defined } from "../core/defined.ts";
import { foreignCode } from "../core/error-codes.ts";
import {
  errorClass,
  Fatal,
  isRetinueError,
  messageOf,
  Misconfigured,
  Refused,
  Retryable,
  type ErrorClass,
  type RetinueError,
} from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Guardian } from "./guardian.ts";

export type RequestName = keyof Guardian;

/** Each question and order of the Guardian: a command that is missing here does not compile. */
const REQUESTS: { readonly [name in RequestName]: "question" | "order" } = {
  status: "question",
  log: "question",
  orders: "question",
  events: "question",
  jobs: "question",
  usage: "question",
  inbox: "question",
  deliveries: "question",
  recording: "question",
  delivery: "question",
  why: "question",
  approve: "order",
  reject: "order",
  pause: "order",
  resume: "order",
  halt: "order",
  lift: "order",
  unfreeze: "order",
  retry: "order",
  settle: "order",
  call: "order",
  backup: "order",
};

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(REQUESTS, name);
}

/** True for a request that changes nothing. */
export function isQuestion(name: RequestName): boolean {
  return REQUESTS[name] === "question";
}

/** Both ends use one protocol: messages have the shape that was sent. */
export function performRequest(guardian: Guardian, name: RequestName, query: object): Promise<unknown> {
  const perform = guardian[name] as (query: object) => Promise<unknown>;
  return perform(query);
}

/** An error as an answer. */
export function describeError(error: unknown): object {
  if (!isRetinueError(error)) return { class: "Fatal", code: "unexpected", message: messageOf(error) };
  const { cause: _cause, ...details } = error.details;
  return { class: errorClass(error) ?? "Fatal", code: error.code, message: error.message, ...details };
}

/** Both ends use one protocol, so an answer has the shape its request defines. */
export function remoteGuardian(ask: (name: RequestName, query: object) => Promise<unknown>): Guardian {
  const names = Object.keys(REQUESTS) as readonly RequestName[];
  return Object.fromEntries(names.map((name) => [name, (query: object) => ask(name, query)])) as { readonly [name in RequestName]: never };
}

const CLASSES = { Refused, Retryable, Misconfigured, Fatal } satisfies { readonly [name in ErrorClass]: unknown };

/** The error of such an answer. */
export function errorFrom(answer: JsonObject): RetinueError {
  const text = (name: string): string | undefined => (typeof answer[name] === "string" ? answer[name] : undefined);
  const name = text("class") ?? "";
  const Class = Object.hasOwn(CLASSES, name) ? CLASSES[name as ErrorClass] : Fatal;
  const [hint, file, expected] = [text("hint"), text("file"), text("expected")];
  return new Class(foreignCode(text("code") ?? "unexpected"), text("message") ?? "the runtime refused", defined({ hint, file, expected }));
}
