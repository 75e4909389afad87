/** A decision's facts: its object, its thread and addressee, and a reply to oneself that is never sent. */
import { describe, expect, test } from "vitest";
import type { Target } from "../../src/specialist/act.ts";
import { bounded, mine, resolveTarget, speech } from "../../src/specialist/decision.ts";
import type { OperationRule } from "../../src/specialist/operation-rules.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { handlingOf } from "../harness/run-request.ts";

const RULE: OperationRule = { effect: "reconciled", lane: "reply", targetBy: "id" };

/** A post as a handler gets it, with more than its id. */
type Given = Target | { readonly id: string; readonly [field: string]: string };

function replyTo(target: Given, over: Partial<RunRequest> = {}, content = " Hello ") {
  const { request } = handlingOf(over);
  return speech(request, "posts.reply", target, resolveTarget(RULE, "posts.reply", target), { content }, RULE);
}

describe("the object", () => {
  test.each<[Target | undefined, object]>([
    ["p1", { id: "p1" }],
    [{ id: "p1" }, { id: "p1" }],
    [{ intent: asIntentId("i1") }, { intent: "i1" }],
  ])("%j is %j", (target, resolved) => {
    expect(resolveTarget(RULE, "posts.reply", target)).toEqual(resolved);
  });

  test("is named by its handle where the path asks for one, and by its id if it has none", () => {
    const rule: OperationRule = { ...RULE, targetBy: "handle" };
    expect(resolveTarget(rule, "x", { id: "c1", handle: "data" } as Target)).toEqual({ id: "data" });
    expect(resolveTarget(rule, "x", { id: "c1" })).toEqual({ id: "c1" });
  });

  test.each<[string, Target | undefined]>([
    ["nothing", undefined],
    ["an empty id", ""],
    ["a record without an id", { id: undefined as never }],
    ["a record with an empty id", { id: "" }],
  ])("is missing in %s", (_what, target) => {
    expect(() => resolveTarget(RULE, "posts.reply", target)).toThrow(expect.objectContaining({ code: "target_missing" }));
  });

  test("is ignored where the operation has none", () => {
    expect(resolveTarget({ ...RULE, targetBy: undefined }, "posts.create", "p1")).toEqual({});
  });

  test("of one's own profile is the account, which must be known", () => {
    expect(mine(RULE, { handle: asHandle("scout"), id: "agt_1" })).toBe("agt_1");
    expect(mine({ ...RULE, targetBy: "handle" }, { handle: asHandle("scout"), id: undefined })).toBe("scout");
    expect(() => mine(RULE, { handle: asHandle("scout"), id: undefined })).toThrow(expect.objectContaining({ code: "account_unknown" }));
  });
});

describe("a reply", () => {
  const post = { id: "p1", authorId: "amy-1", authorHandle: "amy", threadId: "t1" };
  const payload = { ...post, kind: "post" };
  const event = { id: "post.created:p1", kind: "post.created", payload, hops: 0, beganAt: 0 };

  test("is in the thread and to the author of its post, given whole or as the event's own", () => {
    expect(replyTo(post)).toMatchObject({ thread: "t1", author: "amy-1" });
    expect(replyTo("p1", { event })).toMatchObject({ thread: "t1", author: "amy-1" });
    expect(replyTo("p2", { event })).toEqual({ textHash: expect.any(String) as string, thread: "p2" });
    expect(replyTo({ id: "p1", parentId: "p0" } as Target, { me: { handle: asHandle("scout"), id: "agt_1" } })).toMatchObject({
      thread: "p0",
    });
  });

  test("of the same words is the same text, whatever its case and edges", () => {
    expect(replyTo("p1", {}, "HELLO\n").textHash).toBe(replyTo("p1", {}, " hello").textHash);
    expect(replyTo("p1", {}, "hello!").textHash).not.toBe(replyTo("p1", {}, "hello").textHash);
  });

  test.each<[string, Given, string | undefined]>([
    ["to one's own id", { ...post, authorId: "agt_1" }, "own_post"],
    ["to one's own handle, in any case", { id: "p1", authorHandle: "Scout" } as Target, "own_post"],
    ["to somebody else", post, undefined],
    ["to a post without an author", { id: "p1" }, undefined],
  ])("%s: %#", (_what, target, code) => {
    expect(replyTo(target).refusal?.code).toBe(code);
  });

  test("is refused while one's own id is not known and the post's handle does not tell", () => {
    const me = { handle: asHandle("scout"), id: undefined };
    expect(replyTo({ id: "p1", authorId: "amy-1" } as Target, { me }).refusal?.code).toBe("account_unknown");
    expect(replyTo({ id: "p1", authorHandle: "amy" } as Target, { me }).refusal).toBeUndefined();
  });

  test("keeps the refusal of its operation before any other", () => {
    const rule: OperationRule = { ...RULE, refusal: { code: "not_allowed", message: "no" } };
    const { request } = handlingOf();
    const own: Given = { ...post, authorId: "agt_1" };
    expect(speech(request, "posts.reply", own, { id: "p1" }, { content: "x" }, rule).refusal?.code).toBe("not_allowed");
  });
});

describe("the data of an action", () => {
  test("holds at most 16 KiB, and JSON only", () => {
    expect(bounded("x".repeat(16 * 1_024 - 2))).toHaveLength(16 * 1_024 - 2);
    for (const data of ["x".repeat(16 * 1_024 - 1), (() => 1) as never])
      expect(() => bounded(data)).toThrow(expect.objectContaining({ code: "value_invalid" }));
  });
});
