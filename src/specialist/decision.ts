/** Facts of one decision: its object, its text, who is addressed, its label. */
import { Refused, Retryable } from "../core/errors.ts";
import { fieldPaths, firstAt } from "../contract/reading/field-path.ts";
import { isObject, sha256, type Json, type JsonObject } from "../core/json.ts";
import type { DraftIntent, IntentRefusal } from "./intent-draft.ts";
import type { GivenInput, OperationRule } from "./operation-rules.ts";
import type { IntentRef, Target } from "./act.ts";
import { storable, type RunRequest } from "./run-request.ts";

const MAX_DATA_BYTES = 16 * 1024;

/** Collects the facts that the brakes need about a text: its thread, its addressee, its hash; and the reason for a refusal. */
export function speech(
  request: RunRequest,
  operation: string,
  target: Target | undefined,
  wanted: ResolvedTarget,
  input: JsonObject,
  rule: OperationRule,
): Pick<DraftIntent, "thread" | "author" | "textHash" | "refusal"> {
  const said = typeof input["content"] === "string" ? input["content"] : undefined;
  const textHash = said === undefined ? undefined : sha256(said.trim().toLowerCase());
  if (operation !== "posts.reply") return { textHash, refusal: rule.refusal };
  const post = postOf(target) ?? (wanted.id === undefined ? undefined : eventPost(request.event.payload, wanted.id));
  return {
    textHash,
    thread: post?.threadId ?? post?.parentId ?? wanted.id,
    author: post?.authorId ?? post?.authorHandle,
    refusal: rule.refusal ?? selfReply(request.me, post),
  };
}

export interface ResolvedTarget {
  readonly id?: string;
  readonly intent?: IntentRef["intent"];
}

export function resolveTarget(rule: OperationRule, operation: string, target: Target | undefined): ResolvedTarget {
  if (rule.targetBy === undefined) return {};
  if (typeof target === "string" && target !== "") return { id: target };
  if (typeof target === "object" && "intent" in target) return { intent: target.intent };
  if (typeof target === "object") {
    const named = rule.targetBy === "handle" && "handle" in target && typeof target.handle === "string" ? target.handle : target.id;
    if (typeof named === "string" && named !== "") return { id: named };
  }
  throw new Refused("target_missing", `${operation} needs an object: its record, its id, or the intent that creates it`);
}

/** The input, and what the record acted on gives of it: the one passed to the action, or the event's own. */
export function withRecord(
  { event }: RunRequest,
  { from = {} }: OperationRule,
  target: Target | undefined,
  { id }: ResolvedTarget,
  input: GivenInput,
): GivenInput {
  const wanted = Object.entries(from).filter(([name]) => input[name] === undefined);
  if (wanted.length === 0) return input;
  const record = typeof target === "object" && "id" in target ? (target as { readonly raw?: Json }) : undefined;
  const { payload } = event;
  const raw = record?.raw ?? (isObject(payload) && payload["id"] === id ? payload["raw"] : undefined);
  const given = wanted.flatMap(([name, places]): [string, Json][] => {
    const found = firstAt(raw, fieldPaths(places), (value) => value);
    return found === undefined ? [] : [[name, found]];
  });
  return { ...input, ...Object.fromEntries(given) };
}

/** The path of `agents.update` names the specialist itself. */
export function mine(rule: OperationRule, me: RunRequest["me"]): string {
  const target = rule.targetBy === "handle" ? me.handle : me.id;
  if (target === undefined) throw new Retryable("account_unknown", "the specialist's id on the network is not known yet");
  return target;
}

interface PostLike {
  readonly authorId: string | undefined;
  readonly authorHandle: string | undefined;
  readonly parentId: string | undefined;
  readonly threadId: string | undefined;
}

function postOf(target: Target | undefined): PostLike | undefined {
  return typeof target === "object" && "id" in target ? postLike(target as { readonly [name: string]: unknown }) : undefined;
}

function eventPost(payload: Json, id: string): PostLike | undefined {
  return isObject(payload) && payload["id"] === id ? postLike(payload) : undefined;
}

function postLike({ authorId, authorHandle, parentId, threadId }: { readonly [name: string]: unknown }): PostLike {
  return { authorId: asText(authorId), authorHandle: asText(authorHandle), parentId: asText(parentId), threadId: asText(threadId) };
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Refuses replies to oneself, also while one's own id is not known yet. */
function selfReply(me: RunRequest["me"], post: PostLike | undefined): IntentRefusal | undefined {
  if (post === undefined) return undefined;
  const own = (me.id !== undefined && post.authorId === me.id) || post.authorHandle?.toLowerCase() === me.handle.toLowerCase();
  if (own) return { code: "own_post", message: "a specialist does not answer itself" };
  if (me.id === undefined && post.authorHandle === undefined)
    return { code: "account_unknown", message: "the specialist's own id is not known yet, so this could be its own post" };
  return undefined;
}

/** Throws `Refused` (`value_invalid`) for data that is too long. */
export function bounded(data: Json): Json {
  const json = storable("data", data);
  if (Buffer.byteLength(JSON.stringify(json)) > MAX_DATA_BYTES)
    throw new Refused("value_invalid", `expected data to be at most ${MAX_DATA_BYTES} bytes of JSON`);
  return json;
}
