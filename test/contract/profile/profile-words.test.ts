/** The words of a profile, one by one: their effect on requests and readings, and the refusal of misuse. */
import { describe, expect, test } from "vitest";
import { requestBuilder } from "../../../src/client/build-request.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";
import { readRecord } from "../../../src/contract/reading/read-answer.ts";
import { mayDo, operationOf } from "../../../src/gateway/permissions.ts";
import { parseBaseAddress } from "../../../src/contract/base-address.ts";
import type { Call } from "../../../src/contract/call.ts";
import type { Json } from "../../../src/core/json.ts";

const profileWith = (words: Omit<ProfileSource, "extends">) => resolveProfile({ extends: "set-b", ...words });

function built(words: Omit<ProfileSource, "extends">, call: Call) {
  const profile = profileWith(words);
  return requestBuilder(profile, operationOf(profile, call.operation), parseBaseAddress("https://network.invalid/v1"))(call);
}

describe("money", () => {
  const money = { perUnit: 100, unit: ["EUR", "€"] };
  const rewardIn = (reward: Json): number | undefined => {
    const { record } = readRecord(profileWith({ money }), "job", { id: "j1", title: "work", reward });
    return record?.kind === "job" ? record.reward : undefined;
  };

  test.each([
    [1_250, 12.5],
    ["1250", 12.5],
    ["12.50 EUR", 12.5],
    ["12,50 €", 12.5],
    ["€12", 12],
    ["eur 7", 7],
    ["12.50 USD", undefined],
    ["1,250 EUR", undefined],
    ["EUR", undefined],
    ["", undefined],
  ])("an amount of %j is read as %j units", (told, units) => expect(rewardIn(told)).toBe(units));

  test("an amount is sent as the network counts it, and refused if it cannot be", () => {
    const offer = (reward: number): Call => ({ operation: "jobs.create", input: { title: "a", description: "b", reward } });
    expect(JSON.parse(built({ money }, offer(1.1)).body ?? "")).toMatchObject({ reward: 110 });
    expect(() => built({ money }, offer(1.105))).toThrow("expected a multiple of 1/100, got 1.105");
  });
});

describe("an inherited word is taken back", () => {
  test("by an empty list", () => {
    const { record } = readRecord(profileWith({ records: { post: { ownVote: [] } } }), "post", { id: "p1", content: "a", liked: true });
    expect(record).not.toHaveProperty("ownVote");
    expect(profileWith({ statuses: { applied: [] } }).statuses.applied).toEqual([]);
  });

  test("by null in a table of words", () => {
    const { webhooks } = profileWith({ webhooks: { kinds: { mention: null }, decisions: { "approval.granted": null } } });
    expect(webhooks.kinds).not.toHaveProperty("mention");
    expect(webhooks.kinds).toHaveProperty("post.created");
    expect(webhooks.decisions).not.toHaveProperty(["approval.granted"]);
  });

  test("while an answer rule needs a word to match", () => {
    expect(() => profileWith({ answers: [{ code: [], means: "wait" }] })).toThrow("expected a code to match");
    expect(() => profileWith({ answers: [{ code: ["too busy"], means: "wait" }] })).toThrow("expected a code without spaces");
  });
});

describe("a path over a list", () => {
  const applicantsOf = (bids: Json, path = "bids[].by.key"): readonly string[] | undefined => {
    const profile = profileWith({ records: { job: { applicantIds: path } } });
    const { record } = readRecord(profile, "job", { id: "j1", title: "work", bids });
    return record?.kind === "job" ? record.applicantIds : undefined;
  };

  test("takes a member of each item", () => {
    expect(applicantsOf([{ by: { key: "a" } }, { by: {} }, "b", { by: { key: 7 } }])).toEqual(["a", "7"]);
    expect(applicantsOf([])).toEqual([]);
    expect(applicantsOf([{ more: [{ key: "a" }, { key: "b" }] }, { more: [{ key: "c" }] }], "bids[].more[].key")).toEqual(["a", "b", "c"]);
  });

  test("finds nothing where there is no list", () => {
    expect(applicantsOf({ by: { key: "a" } })).toBeUndefined();
    expect(applicantsOf([{ key: "a" }], "bid[].key")).toBeUndefined();
  });

  test.each(["[].key", "bids[]key", "bids[0].key", "a[][].b"])("%s is no path", (path) =>
    expect(() => profileWith({ records: { job: { applicantIds: path } } })).toThrow("expected a path such as"),
  );
});

describe("an action in several requests", () => {
  const start = { method: "POST", path: "/jobs/{id}/start", target: "job", effect: "idempotent" } as const;
  const partsOf = (part: object, before: string[] = ["jobs.start"]) =>
    profileWith({ operations: { "jobs.submit": { before } }, extra: { "jobs.start": { ...start, ...part } } });

  test("is permitted whole, and each part alone only where the definition says so", () => {
    const profile = partsOf({});
    expect(mayDo(profile, ["jobs.submit"], "jobs.start")).toBe(true);
    expect(mayDo(profile, ["jobs.apply"], "jobs.start")).toBe(false);
  });

  test.each([
    ["a part that does not exist", {}, ["jobs.begin"], '"jobs.begin" is not an operation of the network\'s own'],
    ["a published operation", {}, ["jobs.apply"], '"jobs.apply" is not an operation of the network\'s own'],
    ["another object", { path: "/posts/{id}/start", target: "post" }, ["jobs.start"], "jobs.start acts on another object than jobs.submit"],
    ["a part that is sent once", { effect: "at-most-once" }, ["jobs.start"], "jobs.start must be idempotent"],
    ["a part of parts", { before: ["jobs.start"] }, ["jobs.start"], "jobs.start has parts itself"],
    ["an input that nobody gives", { input: { note: { type: "text", required: true } } }, ["jobs.start"], 'requires the input "note"'],
  ])("is refused with %s", (_, part, before, message) => expect(() => partsOf(part, before)).toThrow(message));
});

test.each<[ProfileSource["operations"], string]>([
  [{ "jobs.apply": { returned: ["paid"] } }, "a free operation has nothing to come back"],
  [{ "posts.create": { price: { micros: 1 }, returned: ["paid"] } }, "only the price of jobs.apply is a stake"],
])("a stake that cannot come back is refused: %j", (operations, message) => expect(() => profileWith({ operations })).toThrow(message));

describe("HTML in contents", () => {
  test("is read as text, with the original in raw", () => {
    const { record } = readRecord(profileWith({ contents: { read: "html" } }), "post", { id: "p1", content: "<p>a &lt; b</p>" });
    expect(record).toMatchObject({ content: "a < b", raw: { content: "<p>a &lt; b</p>" } });
  });

  test("is sent without any markup of ours", () => {
    const { body = "" } = built({ contents: { sent: "html" } }, { operation: "posts.create", input: { content: "<b> & co" } });
    expect(JSON.parse(body)).toEqual({ content: "<p>&lt;b&gt; &amp; co</p>" });
  });
});

describe("a reply with two objects", () => {
  const words = {
    operations: { "posts.reply": { path: "/topics/{thread}/comments", body: { text: "{content}", answers: "{comment}" } } },
  };
  const reply = (call: object) => built(words, { operation: "posts.reply", target: "c9", input: { content: "a" }, ...call });

  test("names the post at the root, and the comment it answers", () => {
    expect(reply({ thread: "p1" })).toEqual({ path: "/v1/topics/p1/comments", body: '{"text":"a","answers":"c9"}' });
  });

  test("names the post alone where it answers the post", () => {
    expect(reply({ thread: "c9" })).toEqual({ path: "/v1/topics/c9/comments", body: '{"text":"a"}' });
    expect(reply({})).toEqual({ path: "/v1/topics/c9/comments", body: '{"text":"a"}' });
  });

  test("needs both places, and is a word of replies alone", () => {
    const without = { "posts.reply": { path: "/topics/{thread}/comments", body: { text: "{content}" } } };
    expect(() => profileWith({ operations: without })).toThrow("expected the post acted on in the path, query or body");
    expect(() => profileWith({ operations: { "posts.vote": { path: "/topics/{thread}/votes" } } })).toThrow(
      'expected a source for the path parameter "thread"',
    );
  });
});

describe("a list of the network's own that the runtime reads", () => {
  const list = { method: "GET", path: "/posts/{id}/comments", target: "post", effect: "read", list: true, record: "post" } as const;
  const inbox = { method: "GET", path: "/inbox", effect: "read", list: true, record: "notification" } as const;
  const withLists = (replies: string | undefined, notifications: string | undefined, own: "posts.get" | "jobs.get" = "posts.get") =>
    profileWith({
      ...(replies === undefined ? {} : { operations: { [own]: { replies } } }),
      ...(notifications === undefined ? {} : { notifications }),
      extra: { "comments.list": list, "inbox.list": inbox },
    });

  test("may be read in pages", () => {
    expect(built({ extra: { "inbox.list": inbox } }, { operation: "inbox.list", input: { limit: 5, cursor: "x" } }).path).toBe(
      "/v1/inbox?limit=5&cursor=x",
    );
  });

  test("must be of its kind", () => {
    expect(withLists("comments.list", "inbox.list").notifications).toBe("inbox.list");
    expect(() => withLists("inbox.list", undefined)).toThrow("inbox.list must be a list of them");
    expect(() => withLists(undefined, "comments.list")).toThrow("comments.list must be a list of them");
    expect(() => withLists("posts.list", undefined)).toThrow('"posts.list" is not an operation of the network\'s own');
    expect(() => withLists("comments.list", undefined, "jobs.get")).toThrow("only posts.get is completed by a list of replies");
  });
});

describe("requests signed by the key", () => {
  test.each<[ProfileSource["auth"], string]>([
    [{ header: null }, "no header carries the key, and no signature is made by it"],
    [{ sign: { header: "x-proof", over: "{body}" } }, "expected {path} in it"],
    [{ sign: { header: "x-proof", over: "{path} {key}" } }, "expected a text of {timestamp}, {method}, {path} and {body}"],
    [{ sign: { header: "x-client", over: "{path}" } }, "expected another header"],
    [{ sign: { header: "x-proof", over: "{path}" }, exchange: true }, "signs nothing"],
  ])("are refused with %j", (auth, message) => expect(() => profileWith({ auth, headers: { "x-client": "a" } })).toThrow(message));
});

test("a webhook that is a field of one's account needs no name to be removed", () => {
  const words = { operations: { "webhooks.delete": { method: "PATCH", path: "/self", body: { hook: null } } } } as const;
  expect(built(words, { operation: "webhooks.delete", target: "me", input: {} })).toEqual({ path: "/v1/self", body: '{"hook":null}' });
});
