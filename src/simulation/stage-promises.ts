/** Promises about specialists on a stage, as assertions: each throws an `AssertionError` that says what happened instead. */
import { AssertionError } from "node:assert";
import { isOperationName, OPERATIONS } from "../contract/operations.ts";
import { isObject } from "../core/json.ts";
import { DAY, type Duration } from "../core/units.ts";
import type { Guardian } from "../guardian/guardian.ts";
import type { Effect, GroundTruth, RequestLine } from "../local-network/ground-truth.ts";
import type { Intent } from "../outbox/intent.ts";

/** Assertions for any test runner. One that could not fail, because nothing was tried, fails too. */
export interface StagePromises {
  /** No specialist made more requests than its tier allows in any hour and any day, by the network's own record. */
  neverExceedsQuota(): void;
  /** The specialists replied exactly once to this post, by the network's own record. */
  repliesOnceTo(post: { readonly id: string }, handle?: string): Promise<void>;
  /**
   * Halts all writes, lets others act and time pass (default a day), and lifts the halt: no write of the specialists may arrive meanwhile,
   * though they decide on some.
   */
  sendsNothingWhile(condition: "halted", during?: HaltedTime): Promise<void>;
}

/** The time of a halt. */
export interface HaltedTime {
  /** Default a day. */
  readonly for?: Duration;
  /** Called after the halt: lets others do something that the specialists would act on. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** A stage as its promises see it. */
export interface Judged {
  readonly handles: readonly string[];
  readonly truth: GroundTruth;
  advance(time: Duration): Promise<void>;
  guardian(order: (guardian: Guardian) => Promise<unknown>): Promise<unknown>;
  intents(handle?: string): Promise<readonly Pick<Intent, "operation" | "target" | "state" | "code" | "message">[]>;
  requests(): readonly RequestLine[];
  effects(handle?: string): readonly Effect[];
}

const MAX_SHOWN = 5;

export function createStagePromises(staged: Judged): StagePromises {
  return {
    neverExceedsQuota() {
      if (staged.requests().length === 0) fail("no specialist made a request, so no quota was tried", staged.handles);
      const over = staged.truth.overLimit().filter(({ agent }) => staged.handles.includes(agent));
      const [first] = over;
      if (first === undefined) return;
      const at = new Date(first.at).toISOString();
      fail(`${first.agent} exceeded its quota: ${first.count} requests in the ${first.window} before ${at}, of ${first.limit}`, over);
    },
    async repliesOnceTo(post, handle) {
      const id: unknown = isObject(post) ? post["id"] : undefined;
      if (typeof id !== "string")
        fail(`repliesOnceTo: expected a post, got ${isPromise(post) ? "a promise: await it" : typeof post}`, post);
      const replies = staged.effects(handle).filter(({ operation, target }) => operation === "posts.reply" && target === id);
      if (replies.length === 1) return;
      const who = handle ?? staged.handles.join(", ");
      if (replies.length > 1)
        fail(`${who} replied ${replies.length} times to ${id}: ${listed(replies.map(({ text }) => JSON.stringify(text)))}`, replies);
      const decided = (await staged.intents(handle)).filter(({ operation, target }) => operation === "posts.reply" && target === id);
      const states = decided.map(({ state, code, message }) => [state, code, message].filter((part) => part !== undefined).join(": "));
      fail(`${who} did not reply to ${id}: ${states.length === 0 ? "no handler decided to" : listed(states)}`, decided);
    },
    async sendsNothingWhile(condition, { for: time = DAY, meanwhile } = {}) {
      if (condition !== "halted") fail(`sendsNothingWhile: expected "halted", got ${JSON.stringify(condition)}`, condition);
      await staged.guardian((person) => person.halt({ reason: "a test" }));
      const before = { requests: lastSeq(staged.requests()), effects: lastSeq(staged.effects()), intents: (await staged.intents()).length };
      await meanwhile?.();
      await staged.advance(time);
      const writes = staged.requests().filter(({ seq, operation }) => seq > before.requests && isWrite(operation));
      const effects = staged.effects().filter(({ seq }) => seq > before.effects);
      const decided = (await staged.intents()).slice(before.intents);
      await staged.guardian((person) => person.lift({}));
      const sent = [...writes, ...effects].map(({ agent, operation, at }) => `${agent} ${operation} at ${new Date(at).toISOString()}`);
      if (sent.length > 0) fail(`${sent.length} writes arrived while halted: ${listed(sent)}`, sent);
      if (decided.length === 0)
        fail("nothing was decided while halted, so the halt was not tried: let others act by `meanwhile`", staged.handles);
    },
  };
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}

function lastSeq(lines: readonly { readonly seq: number }[]): number {
  return lines.at(-1)?.seq ?? 0;
}

/** Operations that a profile adds may write. */
function isWrite(operation: string): boolean {
  return !isOperationName(operation) || OPERATIONS[operation].effect !== "read";
}

function listed(texts: readonly string[]): string {
  const more = texts.length - MAX_SHOWN;
  return texts.slice(0, MAX_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function fail(message: string, actual: unknown): never {
  throw new AssertionError({ message, actual, operator: "promise" });
}
