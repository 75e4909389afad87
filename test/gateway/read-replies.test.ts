import { describe, expect, test } from "vitest";
import type { Call, Outcome } from "../../src/contract/call.ts";
import type { NetworkRecord, Post } from "../../src/contract/records.ts";
import type { GatewayAnswer } from "../../src/gateway/gateway-answer.ts";
import { withReplies } from "../../src/gateway/read-replies.ts";

const post = (id: string, more: Partial<Post> = {}): Post => ({ kind: "post", id, raw: {}, ...more });
const answered = (outcome: Partial<Extract<Outcome, { readonly class: "confirmed" }>>): GatewayAnswer => ({
  kind: "answered",
  outcome: { class: "confirmed", status: 200, body: undefined, ...outcome },
});
const LIST = { operation: "comments.list", target: "p1" };

/** The post as completed by pages, which follow one another by offset. */
async function completed(pages: readonly (readonly NetworkRecord[])[], first: Partial<Post> = {}, skipped = 0) {
  const calls: Call[] = [];
  const answer = await withReplies(answered({ record: post("p1", first) }), LIST, (call) => {
    calls.push(call);
    const items = pages[calls.length - 1] ?? [];
    return Promise.resolve(answered({ items, skipped, ...(calls.length < pages.length ? { next: { offset: calls.length } } : {}) }));
  });
  const record = answer.kind === "answered" && answer.outcome.class === "confirmed" ? answer.outcome.record : undefined;
  return { calls, record: record?.kind === "post" ? record : undefined };
}

describe("a post is completed by the list of its replies", () => {
  test("over all pages, each reply once", async () => {
    const { calls, record } = await completed(
      [
        [post("a"), post("b")],
        [post("b"), post("c")],
      ],
      { replyCount: 9 },
    );
    expect(record?.replies?.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(record?.replyCount).toBe(3);
    expect(calls).toEqual([
      { ...LIST, input: {} },
      { ...LIST, input: { cursor: "1" } },
    ]);
  });

  test("and counts more replies than it shows, if some could not be read", async () => {
    expect((await completed([[post("a")]], {}, 1)).record).toMatchObject({ replyCount: 2 });
    const { calls, record } = await completed(Array.from({ length: 20 }, (_, i) => [post(`r${i}`)]));
    expect(calls).toHaveLength(10);
    expect(record?.replyCount).toBe(11);
  });

  test("and is not there if a page did not come", async () => {
    const limited: GatewayAnswer = { kind: "answered", outcome: { class: "limited", status: 429 } };
    expect(await withReplies(answered({ record: post("p1") }), LIST, () => Promise.resolve(limited))).toBe(limited);
  });

  test("unless it is none", async () => {
    const gone: GatewayAnswer = { kind: "answered", outcome: { class: "refused", status: 404, code: "not_found", message: "gone" } };
    expect(await withReplies(gone, LIST, () => Promise.reject(new Error("asked")))).toBe(gone);
  });
});
