/** The items of a list that a specialist wants, by its definition. */
import { describe, expect, test } from "vitest";
import { HOUR } from "../../src/core/units.ts";
import { feedReader, jobsReader, listOf, OFFERS_LIST } from "../../src/polling/list-readers.ts";
import { memberOf } from "../harness/builders.ts";

test("a list is the same whatever order its input is written in", () => {
  expect(listOf({ operation: "jobs.list", input: {} })).toBe(OFFERS_LIST);
  const inputs = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ].map((input) => listOf({ operation: "posts.list", input }));
  expect(inputs[0]).toBe(inputs[1]);
});

describe("the feed", () => {
  const on = { "post.created": () => undefined, "mention.created": () => undefined };
  const fromOf = (from: string) => {
    const member = memberOf({ watch: { feed: { from } }, on });
    return feedReader(member, member.specialist.watch.feed).fromMs;
  };

  test("is wanted from now on, from its start, or from a time", () => {
    expect([fromOf("now"), fromOf("start"), fromOf("2026-11-21")]).toEqual([Infinity, 0, Date.UTC(2026, 10, 21)]);
  });

  test("read for mentions alone brings mentions alone, from now on", () => {
    const reader = feedReader(memberOf({ on }), undefined);
    expect([reader.handles("post.created"), reader.handles("mention.created"), reader.fromMs]).toEqual([false, true, Infinity]);
  });

  test("brings no event that no handler takes", () => {
    const member = memberOf({ watch: { feed: true }, on: { "mention.created": () => undefined } });
    expect(feedReader(member, member.specialist.watch.feed).handles("post.created")).toBe(false);
  });
});

test("jobs are wanted by skill and age", () => {
  const member = memberOf({ watch: { jobs: { skills: ["csv"], maxAge: "1h" } }, on: { "job.listed": () => undefined } });
  const { jobs } = member.specialist.watch;
  if (jobs === undefined) throw new Error("expected jobs to be watched");
  expect(jobsReader(member, jobs)).toMatchObject({ skills: ["csv"], maxAgeMs: HOUR });
});
