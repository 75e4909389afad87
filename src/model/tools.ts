/** The tools of a model: the writes that its specialist may do about one event. */
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import { callName, callSchema, targetArgument } from "../contract/call-schema.ts";
import { SCHEDULE_PREFIX } from "../contract/event-kinds.ts";
import { isObject, textIn, type Json, type JsonObject } from "../core/json.ts";
import type { ModelAction } from "../specialist/model-call.ts";

/** An event as a model is asked about it. */
export interface AskedEvent {
  readonly kind: string;
  readonly payload: Json;
}

export interface ModelTool {
  /** As providers take it: without a dot. */
  readonly name: string;
  readonly operation: string;
  readonly purpose: string;
  /** JSON schema of its input. */
  readonly schema: JsonObject;
  /** The object of the event, which no text of others can replace; undefined if the model names one, or there is none. */
  readonly target: string | undefined;
  /** The argument by which the model names the object; undefined if it does not. */
  readonly argument: string | undefined;
}

export interface ToolsFor {
  readonly may: readonly string[];
  readonly profile: Profile;
  readonly event: AskedEvent;
}

const MAX_TOOLS = 64;

/** One tool for each permitted write that this network has. Accounts, keys and webhooks are no business of a model. */
export function toolsFor({ may, profile, event }: ToolsFor): readonly ModelTool[] {
  return may
    .flatMap((name) => profile.operations.get(name) ?? [])
    .filter(
      ({ effect, unsupported, target }) => effect !== "read" && unsupported === undefined && target !== "agent" && target !== "webhook",
    )
    .slice(0, MAX_TOOLS)
    .map((operation) => toolOf(operation, event));
}

function toolOf(operation: ProfileOperation, { payload }: AskedEvent): ModelTool {
  const { name, target } = operation;
  const ofEvent = isObject(payload) && target !== undefined && payload["kind"] === target ? textIn(payload, "id") : undefined;
  const argument = ofEvent === undefined ? targetArgument(operation) : undefined;
  const schema = callSchema(operation, argument);
  return { name: callName(name), operation: name, purpose: operation.purpose, schema, target: ofEvent, argument };
}

/** The action that a use of a tool stands for; a text with the reason if there is none. */
export function actionOf(tools: readonly ModelTool[], name: string, given: unknown): ModelAction | string {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return "there is no such tool";
  if (!isObject(given)) return "its input is no JSON object";
  const { operation, argument, target } = tool;
  if (argument === undefined) return { operation, input: given, ...(target === undefined ? {} : { target }) };
  const { [argument]: named, ...input } = given;
  return typeof named === "string" && named !== "" ? { operation, target: named, input } : "it names no object";
}

/** The action that a plain text stands for: the reply to the post, the delivery of the assigned job, the post of a schedule. */
export function textAction({
  may,
  event: { kind, payload },
}: Pick<ToolsFor, "may" | "event">): ((text: string) => ModelAction) | undefined {
  const record = isObject(payload) ? payload : {};
  const target = textIn(record, "id");
  if (record["kind"] === "post" && target !== undefined && may.includes("posts.reply"))
    return (content) => ({ operation: "posts.reply", target, input: { content } });
  if (kind === "job.assigned" && target !== undefined && may.includes("jobs.submit"))
    return (deliverable) => ({ operation: "jobs.submit", target, input: { deliverable } });
  if (kind.startsWith(SCHEDULE_PREFIX) && may.includes("posts.create"))
    return (content) => ({ operation: "posts.create", input: { content } });
  return undefined;
}
