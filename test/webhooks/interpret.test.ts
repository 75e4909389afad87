/** What deliveries mean: the same identities as polls give, nothing believed that is not there. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { readRecord } from "../../src/contract/reading/read-answer.ts";
import { asHandle } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { readFeed } from "../../src/polling/feed-events.ts";
import { readJobs } from "../../src/polling/job-events.ts";
import { followThread } from "../../src/polling/thread-events.ts";
import { hintedReads, meaningOf, type Meaning, type Meant } from "../../src/webhooks/interpret.ts";

const NOW = 1_780_000_000_000;
const profile = resolveProfile({ extends: "set-b" });
const scout = asHandle("scout");
const reader = { handle: scout, accountId: "agent_1", fromMs: 0, maxAgeMs: 86_400_000, handles: () => true };
const MEANT: Meant = {
  profile,
  feed: { ...reader, inThread: () => false },
  jobs: { ...reader, skills: [] },
  handles: () => true,
  networkNow: () => NOW,
};
const iso = new Date(NOW - 1_000).toISOString();
const post = (over: JsonObject = {}): JsonObject => ({
  id: "post_9",
  author_id: "agent_2",
  author_handle: "quill",
  content: "hello",
  created_at: iso,
  votes: 0,
  replies_count: 0,
  ...over,
});
const job = (over: JsonObject = {}): JsonObject => ({
  id: "job_4",
  poster_id: "agent_2",
  title: "sum",
  status: "open",
  created_at: iso,
  ...over,
});
const meaning = (body: JsonObject, over: Partial<Meant> = {}, kind?: string): Meaning =>
  meaningOf({ body: Buffer.from(JSON.stringify(body)), kind }, { ...MEANT, ...over });
const about = (type: string, data: JsonObject, over: Partial<Meant> = {}): Meaning =>
  meaning({ id: "evt_1", type, created_at: iso, agent_id: "agent_1", data }, over);
const ids = (what: Meaning): readonly string[] => (what.kind === "events" ? what.events.map(({ id }) => id) : [what.kind]);
const recordOf = <Kind extends "post" | "job">(kind: Kind, data: JsonObject) => {
  const { record } = readRecord(profile, kind, data);
  if (record?.kind !== kind) throw new Error(`expected a ${kind}`);
  return record as Extract<typeof record, { readonly kind: Kind }>;
};

describe("the content of a delivery is read", () => {
  const spoken = resolveProfile({
    extends: "set-b",
    records: { post: { id: "pid", authorHandle: "by.nick" }, job: { id: "gid" }, agent: { id: "uid", handle: "nick" } },
    singles: { post: ["answer.post"], job: ["answer.gig"], agent: ["answer.person"], any: ["answer"] },
  });
  const data = { pid: 9, content: "hello", created_at: iso, by: { nick: "quill" } };

  it("also where answers keep such a record elsewhere", () => {
    expect(ids(about("post.created", data, { profile: spoken }))).toEqual(["post.created:9"]);
    expect(ids(about("post.created", { answer: { post: data } }, { profile: spoken }))).toEqual(["post.created:9"]);
    expect(ids(about("follower.new", { uid: 3, nick: "quill" }, { profile: spoken }))).toEqual(["follower.new:3"]);
  });

  it("and an id that the envelope names, whatever the record calls its own", () => {
    expect(meaning({ type: "job.assigned", job_id: 4 }, { profile: spoken })).toMatchObject({
      looks: [{ kind: "job", object: "4", follow: true }],
    });
  });
});

describe("a delivery and a poll of the same thing have one identity", () => {
  it.each([
    ["post.created", post()],
    ["post.created", post({ content: "look, @scout" })],
    ["mention", post({ content: "look, @scout" })],
  ])("%s", (type, data) => {
    const polled = readFeed([recordOf("post", data)], { seen: [], startedAt: 0 }, MEANT.feed, NOW).events.map(({ id }) => id);
    expect(polled).toHaveLength(1);
    expect(ids(about(type, data))).toEqual(polled);
  });

  it.each([
    ["post.replied", post({ reply_to: "post_1" })],
    ["reply.created", post({ reply_to: "post_1", content: "@scout!" })],
  ])("%s", (type, data) => {
    const root = recordOf("post", post({ id: "post_1", author_id: "agent_1", replies: [data] }));
    const polled = followThread(root, { seen: [], votes: 0, newsAt: NOW }, MEANT.feed, { now: NOW, networkNow: NOW }).events.map(
      ({ id }) => id,
    );
    expect(polled).toHaveLength(1);
    expect(ids(about(type, data))).toEqual(polled);
  });

  it("post.liked, by the count and by name", () => {
    const liked = (over: JsonObject): JsonObject => ({
      ...post({ author_id: "agent_1", ...over }),
      by: { id: "agent_2", handle: "quill" },
    });
    for (const data of [liked({ votes: 3 }), liked({ votes: 3, liked_by: ["agent_2"] })]) {
      const polled = followThread(recordOf("post", data), { seen: [], votes: 2, newsAt: NOW }, MEANT.feed, {
        now: NOW,
        networkNow: NOW,
      }).events.map(({ id }) => id);
      expect(polled).toHaveLength(1);
      expect(ids(about("post.liked", data))).toEqual(polled);
    }
  });

  it("job.created", () => {
    const polled = readJobs([recordOf("job", job())], { seen: [], startedAt: 0 }, { ...reader, skills: [] }, NOW).events.map(
      ({ id }) => id,
    );
    expect(ids(about("job.created", job()))).toEqual(polled);
    expect(polled).toEqual(["job.listed:job_4"]);
  });
});

describe("the end of a job", () => {
  it("is looked up, and followed from then on when it is ours", () => {
    expect(about("job.assigned", job({ status: "assigned" }))).toMatchObject({
      kind: "hint",
      looks: [{ kind: "job", object: "job_4", follow: true }],
    });
    const looks = [{ kind: "job", object: "job_4", follow: false }];
    const own = [{ kind: "own_job", object: "job_4", follow: false }];
    expect(about("job.paid", job())).toMatchObject({ kind: "hint", looks });
    expect(about("job.completed", job())).toMatchObject({ kind: "hint", looks: [...looks, ...own] });
    for (const type of ["job.applied", "job.delivered"]) expect(about(type, job())).toMatchObject({ kind: "hint", looks: own });
    expect(about("job.rejected", job())).toMatchObject({ kind: "rejection", job: "job_4", looks });
  });
});

describe("left-out fields", () => {
  it("is fetched for a mention or reply, and looked for in the feed for a post", () => {
    expect(about("mention", { id: "post_9" })).toEqual({
      kind: "fetch",
      word: "mention",
      post: "post_9",
      as: "mention.created",
      thread: undefined,
      reports: [{ news: "post.created:post_9" }],
    });
    expect(about("post.replied", { id: "post_9", reply_to: "post_1" })).toMatchObject({ kind: "fetch", post: "post_9", thread: "post_1" });
    expect(about("post.created", { id: "post_9" })).toMatchObject({ kind: "hint", looks: [{ kind: "source", name: "feed" }] });
    expect(meaning({ id: "evt_1", type: "mention", post_id: "post_9" })).toMatchObject({ kind: "fetch", post: "post_9" });
  });

  it("is never made up: without an object's id there is only something to look at", () => {
    for (const type of ["mention", "post.created", "post.replied", "post.liked", "job.created", "job.assigned"]) {
      const said = about(type, { message: "something happened" });
      expect(said.kind).toBe("hint");
    }
    expect(meaning({ hello: "you" })).toMatchObject({ kind: "hint", word: undefined });
  });

  it("an event's own id is not taken for an object's", () => {
    expect(about("mention", {})).toMatchObject({ kind: "hint" });
    expect(about("follower.new", {})).toMatchObject({ kind: "unreadable" });
  });
});

describe("an event that a poll finds was reported by", () => {
  it.each([
    ["post.created", { id: "post_9" }, { news: "post.created:post_9" }],
    ["post.created", { title: "of nothing" }, { oneOf: "post.created" }],
    ["mention", post({ content: "@scout" }), { news: "post.created:post_9" }],
    ["post.liked", { id: "post_9" }, { oneOf: "post.liked:post_9" }],
    ["post.liked", post({ votes: 4 }), { news: "post.liked:post_9#4" }],
    ["job.created", { id: "job_4" }, { news: "job.listed:job_4" }],
    ["job.assigned", { id: "job_4" }, { news: "job:job_4" }],
    ["job.assigned", { title: "of nothing" }, { oneOf: "job.assigned" }],
  ])("%s of %j", (type, data, told) => {
    expect(about(type, data)).toMatchObject({ reports: [told] });
  });
});

describe("nothing comes of", () => {
  it("one's own doing", () => {
    expect(ids(about("post.created", post({ author_id: "agent_1" })))).toEqual([]);
    expect(ids(about("mention", post({ author_handle: "Scout", author_id: "other", content: "@scout" })))).toEqual([]);
    expect(ids(about("post.liked", { ...post({ votes: 1 }), by: { id: "agent_1" } }))).toEqual([]);
    expect(ids(about("job.created", job({ poster_id: "agent_1" })))).toEqual([]);
  });

  it("an event that is too old to act on", () => {
    const old = new Date(NOW - 90_000_000).toISOString();
    expect(ids(about("mention", post({ content: "@scout", created_at: old })))).toEqual([]);
  });

  it("a kind that nobody handles, which is kept under its own word", () => {
    const handles = (): boolean => false;
    expect(about("badge.won", { id: "b" }, { handles })).toEqual({ kind: "unhandled", word: "badge.won" });
    expect(about("follower.new", { id: "agent_3" }, { handles })).toEqual({ kind: "unhandled", word: "follower.new" });
    // A network cannot speak for the runtime.
    expect(meaningOf({ body: Buffer.from('{"type":"intent.confirmed","id":"1"}'), kind: undefined }, MEANT)).toMatchObject({
      kind: "events",
      events: [{ kind: "x:intent.confirmed" }],
    });
  });
});

describe("a kind with a state", () => {
  const spoken = resolveProfile({
    extends: "set-b",
    webhooks: {
      kind: "about",
      state: "task.now",
      objects: { task: "task" },
      kinds: { "task taken": "job.assigned", "task open": "job.listed", remark: "reply.created" },
      decisions: { "approval granted": "approved", "approval denied": "rejected" },
    },
  });
  const said = (body: JsonObject, kind?: string): Meaning => meaning(body, { profile: spoken }, kind);

  it("means what both say together, and its object is where its kind says", () => {
    expect(said({ about: "task", task: { id: "job_4", now: "taken" }, data: { id: "other" } })).toMatchObject({
      kind: "hint",
      word: "task taken",
      looks: [{ kind: "job", object: "job_4", follow: true }],
    });
    expect(said({ task: { id: "job_4", now: "taken" } }, "task")).toMatchObject({ word: "task taken" });
  });

  it("decides by the state", () => {
    expect(said({ about: "approval", task: { now: "granted" } })).toMatchObject({ kind: "decision", decision: "approved" });
    expect(said({ about: "approval", task: { now: "denied" } })).toMatchObject({ kind: "decision", decision: "rejected" });
  });

  it("means what the kind alone means where both say nothing", () => {
    expect(said({ about: "remark", task: { now: "taken" }, data: { id: "r1" } })).toMatchObject({ kind: "fetch", as: "reply.created" });
    expect(said({ about: "task", task: { id: "job_4", now: "lost" } })).toMatchObject({ kind: "events", word: "task" });
  });

  it("may consist of several words", () => {
    const words = resolveProfile({ extends: "set-b", webhooks: { kinds: { "yours to do": "job.assigned" } } });
    expect(meaning({ type: "yours to do", data: { id: "job_4" } }, { profile: words })).toMatchObject({
      kind: "hint",
      word: "yours to do",
    });
  });
});

describe("other kinds", () => {
  it("are x:<name>, told apart by their id", () => {
    expect(about("Badge/Won", { id: "b" })).toMatchObject({
      kind: "events",
      events: [{ kind: "x:badge-won", id: expect.stringContaining("x:badge-won:evt_1") as string }],
    });
    expect(meaning({ type: "badge.won" })).toMatchObject({ kind: "unreadable" });
  });

  it("take their kind from a header where the body has none", () => {
    expect(meaning({ id: "evt_1", zen: "Keep it simple" }, {}, "ping")).toMatchObject({
      kind: "events",
      word: "ping",
      events: [{ kind: "x:ping" }],
    });
  });

  it("are named by a profile", () => {
    const mapped = resolveProfile({ extends: "set-b", webhooks: { kinds: { "comment.new": "reply.created" } } });
    expect(ids(about("comment.new", post({ reply_to: "post_1" }), { profile: mapped }))).toEqual(["reply.created:post_9"]);
  });
});

describe("the network's Guardian", () => {
  it("asks, with its reference", () => {
    expect(about("approval.required", { status: "pending_approval", approval: { id: "ap_1", operation: "jobs.apply" } })).toMatchObject({
      kind: "events",
      events: [{ id: "approval.required:ap_1", payload: { reference: "ap_1" } }],
    });
  });

  it("decides", () => {
    expect(about("approval.approved", { approval: { id: "ap_1" } })).toMatchObject({ kind: "decision", decision: "approved" });
    expect(about("approval.denied", { approval: { id: "ap_1" } })).toMatchObject({ kind: "decision", decision: "rejected" });
  });
});

describe("a hint of a stranger's", () => {
  const hint = (body: unknown, kind?: string) => hintedReads({ body: Buffer.from(JSON.stringify(body)), kind }, profile.webhooks);

  it("makes us look where it would show, and names no object", () => {
    expect(hint({ type: "post.created", data: post() })).toEqual([{ kind: "source", name: "feed" }]);
    expect(hint({ type: "job.assigned", data: job() })).toEqual([{ kind: "newest", of: "job" }]);
    expect(hint({ type: "follower.new" })).toEqual([]);
    expect(hint("no object")).toHaveLength(5);
  });
});

describe("whatever is delivered", () => {
  const types = fc.constantFrom(...Object.keys(profile.webhooks.kinds), "approval.approved", "other.kind");
  const keys = fc.constantFrom(
    "id",
    "data",
    "type",
    "post",
    "job",
    "author",
    "author_id",
    "content",
    "status",
    "by",
    "votes",
    "created_at",
    "reply_to",
    "title",
    "__proto__",
    "constructor",
  );
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.integer(),
      fc.constant(null),
      fc.boolean(),
      fc.array(tie("any"), { maxLength: 4 }),
      fc.dictionary(keys, tie("any"), { maxKeys: 8 }),
    ),
  })).any;

  it("has a meaning, and every event of it has an identity and a payload that can be stored", () => {
    fc.assert(
      fc.property(types, value, fc.dictionary(keys, value), (type, data, rest) => {
        const body = Buffer.from(JSON.stringify({ ...rest, type, data }));
        const said = meaningOf({ body, kind: undefined }, MEANT);
        const events = said.kind === "events" ? said.events : [];
        for (const event of events) {
          expect(event.id.length).toBeGreaterThan(event.kind.length + 1);
          expect(event.via).toBe("webhook");
          expect(JSON.parse(JSON.stringify(event.payload))).toEqual(event.payload);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("also when it is not even text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
        expect(["unreadable", "hint", "events", "unhandled"]).toContain(meaningOf({ body, kind: undefined }, MEANT).kind);
      }),
    );
  });
});
