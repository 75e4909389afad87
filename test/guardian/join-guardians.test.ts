/** One Guardian over several stores: what one of them has is found wherever it is, and a stop is in all of them. */
import { describe, expect, test } from "vitest";
import { Refused, Retryable } from "../../src/core/errors.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import type { GuardianPart } from "../../src/guardian/guardian-part.ts";
import { joinGuardians } from "../../src/guardian/join-guardians.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";
import { desk, type Desk } from "../harness/guardian-over-store.ts";

/** Answers come as its own clock lets them. */
const partOf = ({ guardian, on }: Desk, name: string): GuardianPart => ({
  name,
  guardian: remoteGuardian((method, query) => on((guardian[method as keyof Guardian] as (query: object) => Promise<unknown>)(query))),
});

function lab() {
  const desks = [desk(), desk(), desk()] as const;
  const parts = desks.map((one, i) => partOf(one, `p${i}`));
  return { desks, parts, whole: joinGuardians(() => Promise.resolve(parts)) };
}

describe("a thing that one part has", () => {
  test.for([0, 1, 2])("is found and ordered about in part %d", async (at) => {
    const { desks, whole } = lab();
    await desks[at]?.parked("e1", "a note");
    expect(await whole.why({ id: "e1" })).toMatchObject({ id: "e1", state: "parked" });
    expect((await whole.recording({ id: "e1" })).event).toBeDefined();
    expect((await whole.inbox({ handle: "scout", limit: 9 })).map(({ id }) => id)).toEqual(["e1"]);
    expect((await whole.events({ handle: "scout", limit: 9 })).entries.map(({ id }) => id)).toEqual(["e1"]);
    expect(await whole.retry({ id: "e1" })).toEqual({ message: "post.created of scout is handled again" });
    await expect(whole.retry({ id: "e2" })).rejects.toMatchObject({ code: "nothing_parked" });
    await expect(whole.why({ id: "e2" })).rejects.toMatchObject({ code: "nothing_found" });
    await expect(whole.settle({ id: "e2", verdict: "happened" })).rejects.toMatchObject({ code: "nothing_found" });
    await expect(whole.call({ handle: "nobody", operation: "posts.list", input: {} })).rejects.toMatchObject({
      code: "specialist_unknown",
    });
  });
});

test.each(["process_silent", "past_unread"] as const)("a part that answers %s does not stand before the one that knows", async (code) => {
  const { desks, parts } = lab();
  const unable = remoteGuardian(() => Promise.reject(new Retryable(code, "not now")));
  const whole = joinGuardians(() => Promise.resolve([{ name: "web-2:7", guardian: unable }, ...parts]));
  await desks[2].parked("e1", "a note");
  expect(await whole.why({ id: "e1" })).toMatchObject({ id: "e1", state: "parked" });
  await expect(whole.why({ id: "e2" })).rejects.toMatchObject({ code }); // it may be there
});

test("a decision about an action goes past a silent process to the one that has the action", async () => {
  const silent = remoteGuardian(() => Promise.reject(new Retryable("process_silent", "no answer")));
  const without = remoteGuardian(() => Promise.reject(new Refused("nothing_found", "no such action")));
  const owner = remoteGuardian((name) => Promise.resolve({ message: `${name} is done` }));
  const over = (...guardians: readonly Guardian[]): Guardian =>
    joinGuardians(() => Promise.resolve(guardians.map((guardian, i) => ({ name: `web-${i}`, guardian }))));
  const action = { id: "act_1", hash: "h", reason: "seen" };
  const decide = {
    approve: (whole: Guardian) => whole.approve(action),
    reject: (whole: Guardian) => whole.reject(action),
    settle: (whole: Guardian) => whole.settle({ id: "act_1", verdict: "happened" }),
  };
  for (const [name, give] of Object.entries(decide)) {
    expect(await give(over(silent, without, owner))).toEqual({ message: `${name} is done` });
    await expect(give(over(silent, without))).rejects.toMatchObject({ code: "process_silent" });
  }
});

test("a call that a silent process may have sent is given to no other", async () => {
  let calls = 0;
  const silent = remoteGuardian(() => Promise.reject(new Retryable("process_silent", "it may have done it")));
  const heir = remoteGuardian(() => Promise.resolve(calls++));
  const whole = joinGuardians(() => Promise.resolve([silent, heir].map((guardian, i) => ({ name: `web-${i}`, guardian }))));
  await expect(whole.call({ handle: "scout", operation: "posts.list", input: {} })).rejects.toMatchObject({ code: "process_silent" });
  expect(calls).toBe(0);
});

test("the refusal of the only part that has a thing is told as it is", async () => {
  const { parts } = lab();
  const hint = "check on the network, then: retinue settle";
  const owner = remoteGuardian(() => Promise.reject(new Refused("may_have_happened", "it may have happened", { hint })));
  const whole = joinGuardians(() => Promise.resolve([...parts, { name: "web-2:7", guardian: owner }]));
  await expect(whole.retry({ id: "i1" })).rejects.toMatchObject({ code: "may_have_happened", details: { hint } });
});

test("an account that one part had frozen is told as unfrozen", async () => {
  const saying = (message: string): GuardianPart => ({ name: message, guardian: remoteGuardian(() => Promise.resolve({ message })) });
  const whole = joinGuardians(() =>
    Promise.resolve([saying("the shared account was not frozen"), saying("the shared account may spend again")]),
  );
  expect(await whole.unfreeze({ by: "ann", reason: "checked" })).toEqual({ message: "the shared account may spend again" });
});

describe("a stop", () => {
  test("is in every part, and so is its end", async () => {
    const { desks, whole } = lab();
    expect((await whole.halt({ reason: "enough" })).message).toBe("halted: no specialist writes");
    for (const { store, on } of desks) expect((await on(store.stops())).halts).toHaveLength(1);
    await whole.lift({});
    for (const { store, on } of desks) expect((await on(store.stops())).halts).toEqual([]);
  });

  test("of one specialist is taken by the part that knows it, and refused if none does", async () => {
    const { desks, whole } = lab();
    await desks[1].event("e1");
    await whole.pause({ handle: "scout" });
    expect((await desks[1].on(desks[1].store.stops())).pauses).toHaveLength(1);
    await expect(whole.halt({ handle: "sccout" })).rejects.toMatchObject({ code: "specialist_unknown" });
  });

  test("that one part does not take names it, and lists the writes of the others, in which it holds", async () => {
    const { desks, parts } = lab();
    const inFlight = [{ id: "act_1", handle: "scout", operation: "posts.create", startedAt: 1, deadlineAt: 2 }];
    const busy = {
      name: "web-1:5",
      guardian: remoteGuardian(() => Promise.resolve({ message: "halted: no specialist writes", inFlight })),
    };
    const silent = new Retryable("process_silent", "no answer", { hint: "give the order again, or end the process" });
    const dead = { name: "web-2:7", guardian: remoteGuardian(() => Promise.reject(silent)) };
    const over = (...all: readonly GuardianPart[]): Guardian => joinGuardians(() => Promise.resolve(all));
    const expected = {
      message: "not every process has confirmed it; halted: no specialist writes",
      inFlight,
      incomplete: { message: "web-2:7: no answer", hint: "give the order again, or end the process" },
    };
    const whole = over(...parts, busy, dead);
    expect(await whole.halt({})).toEqual(expected);
    for (const { store, on } of desks) expect((await on(store.stops())).halts).toHaveLength(1);
    // A process of several stores tells of its own.
    expect(await over(...parts, { name: "web-3:9", guardian: over(busy, dead) }).halt({})).toEqual(expected);
    await expect(over(...parts, dead).pause({})).rejects.toMatchObject({
      code: "order_incomplete",
      message: "web-2:7: no answer; the other processes have obeyed",
    });
  });

  test("that no part takes is an error", async () => {
    const dead = { name: "web-2:7", guardian: remoteGuardian(() => Promise.reject(new Retryable("process_silent", "no answer"))) };
    const whole = joinGuardians(() => Promise.resolve([dead, dead]));
    await expect(whole.halt({})).rejects.toMatchObject({ code: "order_incomplete", message: "web-2:7: no answer; web-2:7: no answer" });
  });
});

test("with one part every call is its own, and without any it says so", async () => {
  const one = desk();
  const whole = joinGuardians(() => Promise.resolve([partOf(one, "p")]));
  await one.parked("e1", "a note");
  expect((await whole.status({})).parked).toHaveLength(1);
  const none = joinGuardians(() => Promise.resolve([]));
  await expect(none.status({})).rejects.toMatchObject({ code: "nobody_at_work" });
});
