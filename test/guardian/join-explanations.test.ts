/** The answers of several stores to one question: none hides a failure that another one knows. */
import { describe, expect, test } from "vitest";
import { Refused } from "../../src/core/errors.ts";
import type { Explanation } from "../../src/guardian/explanation.ts";
import { failedAt, isWhole, joinExplanations } from "../../src/guardian/join-explanations.ts";
import { joinGuardians } from "../../src/guardian/join-guardians.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";

const told = (over: Partial<Explanation>): Explanation => ({
  id: "post.created:p1",
  about: "event",
  handle: "reader",
  what: "post.created",
  state: "done",
  since: 5,
  reasons: [],
  ...over,
});
const done = told({});
const failed = told({ handle: "scout", state: "parked", hint: "retinue retry post.created:p1" });

describe("an event", () => {
  test("that failed at one specialist is shown failed, whoever answers first, and its remedy names the specialist", () => {
    for (const all of [
      [done, failed],
      [failed, done],
    ])
      expect(joinExplanations(all)).toMatchObject({
        handle: "scout",
        state: "parked",
        hint: "retinue retry post.created:p1 --as scout",
        found: [{ handle: "reader", state: "done" }],
      });
  });

  test("names all specialists at which it waits for a person", () => {
    const both = told({ ...failed, found: [told({ ...failed, handle: "quill" }), done] });
    expect([failedAt(done), failedAt(failed), failedAt(both)]).toEqual([[], ["scout"], ["scout", "quill"]]);
  });
});

test("an operation that one process has stopped is not open", () => {
  const open = told({ about: "operation", handle: "", id: "posts.create", what: "posts.create", state: "open" });
  const reason = { rule: "unreadable", message: "its answers cannot be read", since: 2 } as const;
  const stopped = { ...open, state: "stopped", since: 2, reasons: [reason], hint: "retinue retry posts.create" };
  expect(joinExplanations([open, stopped, { ...stopped, since: 1 }])).toEqual({ ...stopped, since: 1 });
});

test("an object is everything that any store knows of it", () => {
  const object = (found: readonly Explanation[]): Explanation => told({ about: "object", id: "p1", handle: "", what: "object", found });
  const [reply, deletion] = ["i1", "i2"].map((id) => told({ about: "intent", id }));
  if (reply === undefined || deletion === undefined) throw new Error("two");
  expect(joinExplanations([object([reply]), object([reply, deletion])])).toMatchObject({ found: [{ id: "i1" }, { id: "i2" }] });
});

test("an action counts before what others know by the same name, and is whole; nothing is joined of nothing", () => {
  const action = told({ about: "intent" });
  expect(joinExplanations([done, action])).toBe(action);
  expect([isWhole(action), isWhole(done)]).toEqual([true, false]);
  expect(joinExplanations([])).toBeUndefined();
});

test("an event that failed in two stores is retried in none without a name, and the answer of an action waits for nobody", async () => {
  const retried: string[] = [];
  const part = (name: string, answer: (method: string) => Promise<unknown>) => ({
    name,
    guardian: remoteGuardian((method) => {
      if (method === "retry") retried.push(name);
      return answer(method);
    }),
  });
  const quill = told({ ...failed, handle: "quill" });
  const whole = joinGuardians(() => Promise.resolve([part("a", () => Promise.resolve(failed)), part("b", () => Promise.resolve(quill))]));
  await expect(whole.retry({ id: failed.id })).rejects.toMatchObject({
    code: "several_parked",
    message: expect.stringContaining("quill and scout"),
  });
  expect(retried).toEqual([]);
  await whole.retry({ id: failed.id, handle: "quill" });
  expect(retried).toEqual(["a", "b"]);

  const action = told({ about: "intent" });
  const silent = part("silent", () => new Promise(() => undefined));
  const some = joinGuardians(() => Promise.resolve([silent, part("a", () => Promise.resolve(action))]));
  expect(await some.why({ id: "i1" })).toEqual(action);
  const none = joinGuardians(() =>
    Promise.resolve(["a", "b"].map((name) => part(name, () => Promise.reject(new Refused("nothing_found", "nothing"))))),
  );
  await expect(none.why({ id: "i1" })).rejects.toMatchObject({ code: "nothing_found" });
});
