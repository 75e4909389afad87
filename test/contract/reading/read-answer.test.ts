/** Lenient reading: it never throws, never invents an id, and reports what changed without repeating a value. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseExactJson } from "../../../src/contract/reading/exact-json.ts";
import { createPins } from "../../../src/contract/reading/pinned-fields.ts";
import { resolveProfile, shippedProfile } from "../../../src/contract/profile/profile.ts";
import { readList, readRecord } from "../../../src/contract/reading/read-answer.ts";
import {
  agentRecord,
  applicationRecord,
  communityRecord,
  jobRecord,
  postRecord,
  resultRecord,
  statsRecord,
  tokenRecord,
  webhookRecord,
} from "../../../src/contract/records.ts";
import type { Json } from "../../../src/core/json.ts";

const profile = shippedProfile("b");
const SCHEMAS = {
  post: postRecord,
  job: jobRecord,
  agent: agentRecord,
  community: communityRecord,
  webhook: webhookRecord,
  stats: statsRecord,
  result: resultRecord,
  application: applicationRecord,
  token: tokenRecord,
} as const;
const RECORD_NAMES = Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[];

/** Keys that our candidates ask for, so that random bodies hit them often. */
const key = fc.oneof(
  fc.constantFrom(
    ..."id _id post_id reply_id job_id handle author author_id authorId agent content text created_at status state reward skills".split(
      " ",
    ),
    ..."data items posts post result replies comments liked_by applicants deadline secret api_key token access_token expires_in".split(" "),
    "__proto__",
    "constructor",
    "toString",
  ),
  fc.string({ maxLength: 8 }),
);
const { body } = fc.letrec<{ body: Json }>((tie) => ({
  body: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom("2026-01-01T00:00:00Z", "in_progress", "1760000000", "9007199254740993"),
    fc.array(tie("body"), { maxLength: 4 }),
    fc.dictionary(key, tie("body"), { maxKeys: 6 }),
  ),
}));

/** Mostly objects with an id, so that the readings below have something to get wrong. */
const object = fc.dictionary(key, body, { minKeys: 1, maxKeys: 9 });
const withId = fc.tuple(object, fc.oneof(fc.string(), fc.integer(), fc.double())).map(([rest, id]): Json => ({ ...rest, id }));
const answer: fc.Arbitrary<Json> = fc.oneof(
  body,
  object,
  withId,
  fc.record({ data: withId }),
  fc.array(withId, { maxLength: 4 }),
  fc.record({ posts: fc.array(fc.oneof(withId, body), { maxLength: 4 }) }),
);

/** Every string, and every exact number as text, that stands anywhere in a value. */
function textsIn(value: Json | undefined, found = new Set<string>()): Set<string> {
  if (typeof value === "string") found.add(value);
  else if (typeof value === "number" && Number.isSafeInteger(value)) found.add(String(value));
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) textsIn(item, found);
  return found;
}

describe("whatever the body", () => {
  test("reading a record never throws, invents no id, and gives what the schema says", () => {
    let readable = 0;
    fc.assert(
      fc.property(answer, fc.constantFrom(...RECORD_NAMES), (value, name) => {
        const { record } = readRecord(profile, name, value);
        if (record === undefined) return;
        readable++;
        const parsed = SCHEMAS[name].safeParse(record);
        expect(parsed.error?.issues ?? []).toEqual([]);
        const texts = textsIn(value);
        const read = record as unknown as Record<string, unknown>;
        const ids = ["id", "authorId", "authorHandle", "parentId", "jobId", "handle", "assigneeId"].flatMap((field) => read[field] ?? []);
        expect(ids.filter((id) => typeof id !== "string" || !texts.has(id))).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
    expect(readable).toBeGreaterThan(1_000);
  });

  test("reading a list never throws, invents no item, and counts what it could not read", () => {
    let readable = 0;
    fc.assert(
      fc.property(answer, fc.constantFrom(...RECORD_NAMES), (value, name) => {
        const { items, skipped } = readList(profile, name, value);
        if (items === undefined) return;
        readable += items.length;
        const texts = textsIn(value);
        for (const item of items) expect(SCHEMAS[name].safeParse(item).error?.issues ?? []).toEqual([]);
        const ids = items.flatMap((item) => ("id" in item ? (item.id ?? []) : []));
        expect(ids.filter((id) => !texts.has(id))).toEqual([]);
        expect(skipped).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 3_000 },
    );
    expect(readable).toBeGreaterThan(500);
  });

  test("a second reading with pins never throws either, and reports no values", () => {
    fc.assert(
      fc.property(answer, answer, fc.constantFrom(...RECORD_NAMES), (first, second, name) => {
        const pins = createPins();
        const drift = [first, second, first].flatMap((value) => [
          ...readRecord(profile, name, value, pins).drift,
          ...readList(profile, name, value, pins).drift,
        ]);
        for (const { type } of drift) expect(["string", "number", "boolean", "object", "list", "missing", "null"]).toContain(type);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("ids", () => {
  test.each([
    ['{"id": 9007199254740993}', "9007199254740993"],
    ['{"id": 123456789012345678901234567890}', "123456789012345678901234567890"],
    ['{"id": 42}', "42"],
    ['{"id": "007"}', "007"],
    ['{"id": "a", "text": "1234567890123456789"}', "a"],
  ])("%s is read exactly", (text, id) => {
    expect(readRecord(profile, "post", parseExactJson(text)).record).toMatchObject({ id });
  });

  test.each([
    '{"id": 1.5}',
    '{"id": 1e300}',
    '{"id": true}',
    '{"id": ""}',
    '{"id": null}',
    '{"id": {}}',
    '{"id": ["a"]}',
    "{}",
    "[]",
    "null",
    "7",
  ])("%s holds no id", (text) => {
    expect(readRecord(profile, "post", parseExactJson(text)).record).toBeUndefined();
  });

  test("a number too large for a double that was parsed elsewhere is refused, not rounded", () => {
    expect(readRecord(profile, "post", { id: 2 ** 53 + 2 }).record).toBeUndefined();
  });

  test("an answer's request id is not the post's, nor is the parent's", () => {
    const post = { id: "p1", content: "hi", author: { id: "a1" } };
    expect(readRecord(profile, "post", { id: "req-1", data: post }).record).toMatchObject({ id: "p1" });
    expect(readRecord(profile, "post", { ...post, id: "r1", post: { id: "parent" } }).record).toMatchObject({ id: "r1" });
    expect(readRecord(profile, "post", { reply_id: "r1", post_id: "p1", text: "hi" }).record).toMatchObject({ id: "r1" });
  });
});

test.each([
  [[{ id: 1 }, { id: 2 }], 2],
  [{ posts: [{ id: 1 }] }, 1],
  [{ data: [{ id: 1 }] }, 1],
  [{ data: { posts: [{ id: 1 }], total: 1 } }, 1],
  [{ items: [], total: 0 }, 0],
  [{ results: [], posts: [{ id: 1 }] }, 1],
  [{ posts: null, total: 0 }, 0],
])("a list is found under any of its usual names: %j", (value, count) => {
  expect(readList(profile, "post", value as Json).items).toHaveLength(count);
});

test.each([null, {}, { data: {} }, "x", { posts: "none" }, { data: null, errors: [] }])("%j is no list", (value) => {
  expect(readList(profile, "post", value).items).toBeUndefined();
});

describe("drift", () => {
  test("an id that moves is reported and not followed", () => {
    const pins = createPins();
    readList(profile, "post", [{ id: "p1", author_id: "me", content: "x" }], pins);
    const moved = readList(profile, "post", [{ uuid: "p2", agent_id: "me", text: "x" }], pins);
    expect(moved.items).toEqual([]);
    expect(moved.skipped).toBe(1);
    expect(moved.drift).toContainEqual({ severity: "breaking", kind: "winner-change", record: "post", path: "id at uuid", type: "string" });
    expect(moved.drift.map(({ path }) => path)).toContain("content at text");
  });

  test("a list that moves to another name is reported and not followed", () => {
    const pins = createPins();
    readList(profile, "post", { posts: [{ id: 1 }] }, pins);
    const { items, drift } = readList(profile, "post", { results: [{ id: 2 }] }, pins);
    expect(items).toBeUndefined();
    expect(drift).toMatchObject([{ kind: "winner-change", severity: "breaking", path: "list at results" }]);
  });

  test("an empty list under another name says nothing of what is not in it", () => {
    const pins = createPins();
    readList(profile, "post", { posts: [{ id: 1 }] }, pins);
    const { items, drift } = readList(profile, "post", { results: [] }, pins);
    expect(items).toBeUndefined();
    expect(drift).toMatchObject([{ kind: "winner-change", severity: "breaking", path: "list at results" }]);
    expect(readList(profile, "post", { posts: null }, pins)).toEqual({ items: [], skipped: 0, drift: [] });
  });

  test("the id of an answer that wraps its record from now on is not the record's", () => {
    const pins = createPins();
    const post = { id: "p1", content: "a", author_id: "me" };
    readRecord(profile, "post", post, pins);
    const { record, drift } = readRecord(profile, "post", { id: "request-1", data: { ...post, id: "p2" } }, pins);
    expect(record).toBeUndefined();
    expect(drift).toMatchObject([{ kind: "winner-change", severity: "breaking", path: "record at data" }]);
    expect(readRecord(profile, "post", { id: "p3" }, pins).record).toMatchObject({ id: "p3" });
    expect(readRecord(profile, "post", { id: "p4", post: { content: "the one above" } }, pins).record).toMatchObject({ id: "p4" });
  });

  test("an empty page under the known name is the known list, whatever lies beside it", () => {
    const pins = createPins();
    readList(profile, "post", { posts: [{ id: 1 }] }, pins);
    expect(readList(profile, "post", { posts: [], results: [{ id: 2 }] }, pins)).toEqual({ items: [], skipped: 0, drift: [] });
  });
});

test("a key that an answer hands out is given wrapped, and stands nowhere in the record", () => {
  const { record, secrets } = readRecord(profile, "agent", {
    agent: { id: "a", handle: "scout", api_key: "plain-secret-1" },
    credentials: { again: "plain-secret-1" },
  });
  expect(secrets?.apiKey?.reveal()).toBe("plain-secret-1");
  expect(JSON.stringify(record)).not.toContain("plain-secret-1");
  const shaped = readRecord(profile, "agent", { id: "a", odd_place: { k: "sk-agent-1234-abcd" } });
  expect(JSON.stringify(shaped.record)).not.toContain("1234-abcd");
});

test("a profile with other names reads another network", () => {
  const other = resolveProfile({
    extends: "set-b",
    records: { post: { id: "comment_id", content: "markdown", authorHandle: "by.name" } },
    lists: { post: "thread.comments" },
    times: "seconds",
  });
  const { items } = readList(other, "post", {
    thread: { comments: [{ comment_id: 9, markdown: "hi", by: { name: "bo" }, created_at: 200_000_000_000 }] },
  });
  expect(items).toMatchObject([{ kind: "post", id: "9", content: "hi", authorHandle: "bo", createdAtMs: 200_000_000_000_000 }]);
});
