/** Whose effect it is that a look at the network found. */
import { describe, expect, test } from "vitest";
import type { Job, Post } from "../../src/contract/records.ts";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Intent } from "../../src/outbox/port.ts";
import { findEffect, rivalFor } from "../../src/outbox/readback.ts";

const NOW = 1_800_000_000_000;
const ME = { handle: "scout", accountId: "me" };
const said = (id: string, content: string): Post => ({ kind: "post", id, authorId: "me", content, createdAtMs: NOW, raw: {} });
const intent = (id: string, content: string, attempt: number): Intent => ({
  seq: 1,
  id: asIntentId(id),
  specialist: asHandle("scout"),
  eventSeq: 1,
  operation: "posts.create",
  target: undefined,
  targetIntent: undefined,
  input: { content },
  effect: "reconciled",
  lane: "act",
  thread: undefined,
  author: undefined,
  conflictKey: "k",
  hops: 0,
  label: undefined,
  data: undefined,
  state: "in_doubt",
  attempt,
  everUnknown: true,
  nextAt: 0,
  checks: 0,
  sentAt: NOW,
  expiresAt: undefined,
  createdRef: undefined,
  code: undefined,
  message: undefined,
  createdAt: NOW,
  settledAt: undefined,
});

describe("in a store that was put back, an action it never sent", () => {
  const records = [said("p1", "in other words"), said("p2", "the words of another")];

  test("is taken for whatever was said since, its own words first", () => {
    expect(findEffect(intent("i1", "the words of another", 0), records, ME)).toEqual(["p2", "p1"]);
  });

  test("is never taken for the very words of another that is in doubt as well", () => {
    const other = intent("i2", "the words of another", 1);
    expect(findEffect(intent("i1", "words of its own", 0), records, ME, [other])).toEqual(["p1"]);
    expect(findEffect(other, records, ME, [intent("i1", "words of its own", 0)])).toEqual(["p2"]);
  });
});

test("an action that was sent is found by its own words only", () => {
  expect(findEffect(intent("i1", "in other  words", 1), [said("p1", "in other words"), said("p2", "else")], ME)).toEqual(["p1"]);
});

describe("what is found may be what another did in the same words", () => {
  const said1 = said("p1", "good morning");
  const said2 = said("p2", "good morning");
  const day = 24 * 3_600_000;
  const older = (id: string, days: number, fields: Partial<Intent> = {}): Intent => ({
    ...intent(id, "good morning", 1),
    state: "confirmed",
    sentAt: NOW - days * day,
    ...fields,
  });
  const list = (records: readonly Post[], complete = true) => ({ records, complete, list: true });
  const id = (found: readonly string[], alike: readonly Intent[], shown: ReturnType<typeof list>) => rivalFor(found, alike, shown, ME)?.id;
  const earlier: Post = { ...said("p0", "something else"), createdAtMs: NOW - day };

  test("where that was given up in doubt, or done without an id", () => {
    expect(id(["p1"], [older("i0", 0, { state: "parked" })], list([said1, earlier]))).toBe("i0");
    expect(id(["p1"], [older("i0", 0)], list([said1, earlier], false))).toBe("i0");
  });

  test("where nothing goes by the id that it was given, once all is shown", () => {
    const alike = [older("i0", 0, { createdRef: "4711" })];
    expect(id(["p1"], alike, list([said1, earlier]))).toBe("i0");
    expect(id(["p1"], alike, list([said1, earlier], false))).toBeUndefined();
    expect(id(["p1"], [older("i0", 0, { createdRef: "p2" })], list([said1, said2, earlier]))).toBeUndefined();
  });

  test("but not where more is there than they can have done", () => {
    const alike = [older("i0", 0, { state: "parked" })];
    expect(id(["p1", "p2"], alike, list([said1, said2, earlier]))).toBeUndefined();
    expect(id(["p1", "p2"], [...alike, older("i9", 0)], list([said1, said2, earlier]))).toBe("i0");
  });

  test("but not where the list does not go back to it", () => {
    expect(id(["p1"], [older("i0", 2, { state: "parked" }), older("i9", 3, { createdRef: "p9" })], list([said1, earlier]))).toBeUndefined();
  });
});

describe("an offer of a job", () => {
  const offer = (input: JsonObject): Intent => ({ ...intent("i1", "", 1), operation: "jobs.create", input });
  const wanted = offer({ title: "Sort a list", description: "A long story about a list, and how to sort it", reward: 7 });
  const shown = (id: string, fields: Partial<Job>): Job => ({
    kind: "job",
    id,
    authorId: "me",
    title: "Sort a list",
    createdAtMs: NOW,
    raw: {},
    ...fields,
  });

  test("is not taken for another of the same title that pays otherwise, or is about something else", () => {
    expect(findEffect(wanted, [shown("j1", { reward: 13 }), shown("j2", { reward: 7, description: "Another story" })], ME)).toEqual([]);
  });

  test("is found by as much as the network shows of it", () => {
    const records = [
      shown("j1", {}),
      shown("j2", { title: " Sort a  list ", reward: 7 }),
      shown("j3", { description: "A long story about…" }),
    ];
    expect(findEffect(wanted, records, ME)).toEqual(["j1", "j2", "j3"]);
  });
});
