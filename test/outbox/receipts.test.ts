/** Receipts: events that tell an author what became of an intent. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { draftReceipt, RECEIPT_KINDS, receiptEvent } from "../../src/outbox/receipts.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";
import { memberOf } from "../harness/builders.ts";

const receipt = { intent: asIntentId("i1"), operation: "posts.create" };

test("there is one kind for each result that an author is told of", () => {
  expect(RECEIPT_KINDS.toSorted()).toEqual(["intent.confirmed", "intent.parked", "intent.pending", "intent.refused"]);
});

test("a receipt is made for a handler that listens, one hop further, and is the same event if made twice", () => {
  const { specialist } = memberOf({ on: { "intent.refused": () => undefined } });
  const event = receiptEvent(specialist, "intent.refused", receipt, 3);
  expect(event).toMatchObject({ id: "intent.refused:i1", kind: "intent.refused", via: "runtime", hops: 4 });
  expect(receiptEvent(specialist, "intent.refused", receipt, 3)).toEqual(event);
  expect(receiptEvent(specialist, "intent.confirmed", receipt, 3)).toBeUndefined();
});

test("an action that was refused before it was stored tells what its author gave it, and the reason", () => {
  const draft: DraftIntent = {
    id: asIntentId("i1"),
    ordinal: 0,
    operation: "posts.reply",
    target: "p1",
    input: {},
    effect: "reconciled",
    lane: "reply",
    conflictKey: "k",
    hops: 0,
    label: "thanks",
    data: [1],
  };
  expect(draftReceipt(draft, { code: "not_allowed", message: "no" })).toEqual({
    intent: "i1",
    operation: "posts.reply",
    key: "thanks",
    data: [1],
    target: "p1",
    code: "not_allowed",
    message: "no",
  });
});
