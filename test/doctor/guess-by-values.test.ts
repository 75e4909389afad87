/** Fields that no name tells, by what their values are and do; where two places fit, none is guessed. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { guessByValues } from "../../src/doctor/guess-by-values.ts";
import type { Shown } from "../../src/doctor/people-in.ts";

const shown = (record: Shown["record"], items: readonly JsonObject[], known: Record<string, string> = { id: "id" }): Shown => ({
  record,
  items,
  known: new Map(Object.entries(known)),
});
const guessed = (all: readonly Shown[], words?: ReadonlyMap<string, string>): Readonly<Record<string, string>> =>
  Object.fromEntries(guessByValues(all, words).map(({ record, field, path }) => [`${record}.${field}`, path]));

const soul = (name: string): JsonObject => ({ zu: `acc_${name}`, ka: name });
const AT = Date.UTC(2026, 0, 5);

const job = (nr: number, more: JsonObject): JsonObject => ({
  id: `j${nr}`,
  gu: soul(nr % 2 === 0 ? "ada" : "bert"),
  wu: `task ${nr}`,
  lo: `please do task ${nr} as soon as you can`,
  ny: 500 + nr,
  pi: "asked",
  ce: AT + nr,
  ...more,
});
const jobs = [job(1, { ta: [] }), job(2, { ta: [soul("scout")] }), job(3, { pi: "taken", ta: [soul("scout")], di: soul("scout") })];
const posts = [1, 2, 3].map((nr) => ({ id: `p${nr}`, gu: soul(nr === 1 ? "ada" : "bert"), lo: "words of a post" }));

test("a job's people, state, title, text and amount are found without one known name", () => {
  expect(guessed([shown("post", posts), shown("job", jobs, { id: "id", createdAtMs: "ce" })])).toEqual({
    "post.authorId": "gu.zu",
    "post.authorHandle": "gu.ka",
    "job.authorId": "gu.zu",
    "job.authorHandle": "gu.ka",
    "job.assigneeId": "di.zu",
    "job.assigneeHandle": "di.ka",
    "job.applicantIds": "ta[].zu",
    "job.status": "pi",
    "job.title": "wu",
    "job.description": "lo",
    "job.reward": "ny",
  });
});

test("a known place is left alone, and of two amounts none is guessed", () => {
  const two = jobs.map((one, i) => ({ ...one, fe: 9 + i }));
  const found = guessed([shown("post", posts), shown("job", two, { id: "id", createdAtMs: "ce", status: "pi" })]);
  expect(found).not.toHaveProperty(["job.reward"]);
  expect(found).not.toHaveProperty(["job.status"]);
});

test("an amount with a unit wins over bare numbers, and a currency beside its amount is no state", () => {
  const priced = [1, 2].map((nr) => ({ id: `j${nr}`, fe: `${nr + 3} EUR`, x: nr, re: { am: nr + 7, cu: "credits" } }));
  expect(guessed([shown("job", priced)])).toMatchObject({ "job.reward": "fe" });
  expect(guessed([shown("job", priced)])).not.toHaveProperty(["job.status"]);
});

test("a number that counts the replies is their count, and the one beside it that exceeds one the votes", () => {
  const answered = [2, 0, 1].map((n, i) => ({
    id: `p${i}`,
    re: Array.from({ length: n }, () => ({ id: "r", on: `p${i}` })),
    c: n,
    v: 3 * i,
    m: i % 2,
  }));
  expect(guessed([shown("post", answered, { id: "id", replies: "re" })])).toMatchObject({
    "post.replyCount": "c",
    "post.votes": "v",
    "post.ownVote": "m",
    "post.parentId": "on",
  });
  expect(guessed([shown("post", answered)])).not.toHaveProperty(["post.votes"]);
});

test("the only yes or no of a post, or its only word for a vote, is one's own vote", () => {
  expect(
    guessed([
      shown("post", [
        { id: "a", x: false },
        { id: "b", x: true },
      ]),
    ]),
  ).toEqual({ "post.ownVote": "x" });
  expect(
    guessed([
      shown("post", [
        { id: "a", x: "none" },
        { id: "b", x: "up" },
      ]),
    ]),
  ).toEqual({ "post.ownVote": "x" });
  expect(guessed([shown("post", [{ id: "a", x: false, y: true }])])).toEqual({});
});

test("the input of a write has the name of its field", () => {
  const words = new Map([
    ["job.title", "wu"],
    ["post.content", "lo"],
  ]);
  const two = [{ id: "j1", wu: "short", lo: "other" }];
  expect(guessed([shown("job", two)], words)).toMatchObject({ "job.title": "wu" });
});

test("an account and a community are known by what comes back beside posts, and the rest is the only one of its kind", () => {
  const accounts = [
    { k: "a1", h: "ada-vance", n: "Ada Vance", b: "Lives here.", t: "pro", r: "newcomer", s: 4, w: ["csv"] },
    { k: "a2", h: "bo-hale", n: "Bo Hale", b: "", t: "free", r: "member", s: 0, w: [] },
  ];
  const rooms = [{ k: 1, h: "data", n: "Data work", d: "Tables and documents", m: 3, j: false }];
  const said = [1, 2].map((nr) => ({ id: `p${nr}`, by: nr === 1 ? "ada-vance" : "bo-hale", to: "data" }));
  const known = { id: "k" };
  expect(guessed([shown("post", said), shown("agent", accounts, known), shown("community", rooms, known)])).toEqual({
    "post.authorHandle": "by",
    "post.community": "to",
    "agent.handle": "h",
    "agent.name": "n",
    "agent.bio": "b",
    "agent.tier": "t",
    "agent.trust": "r",
    "agent.reputation": "s",
    "agent.skills": "w",
    "community.handle": "h",
    "community.name": "n",
    "community.description": "d",
    "community.memberCount": "m",
    "community.joined": "j",
  });
});

test("an id and a handle that change together are two names of one person", () => {
  const said = ["ada", "bo", "ada"].map((name, i) => ({ id: `p${i}`, x: `${name}-vance`, y: name === "ada" ? 1_731 : 1_740 }));
  const accounts = shown(
    "agent",
    [
      { k: 9, h: "ada-vance" },
      { k: 10, h: "bo-vance" },
    ],
    { id: "k" },
  );
  expect(guessed([shown("post", said), accounts])).toMatchObject({ "post.authorHandle": "x", "post.authorId": "y" });
});

test("a list of words is the skills, and a later time the deadline", () => {
  const offered = [1, 2].map((nr) => ({ id: `j${nr}`, w: ["csv"], t: AT + nr, u: AT + 9_000_000 }));
  expect(guessed([shown("job", offered, { id: "id", createdAtMs: "t" })])).toEqual({ "job.skills": "w", "job.deadlineMs": "u" });
});
