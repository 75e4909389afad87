/** What looks at shared lists say of the jobs on them. */
import { describe, expect, test } from "vitest";
import type { Job } from "../../src/contract/records.ts";
import type { KeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { ANSWERED_MS, createSharedLists } from "../../src/polling/shared-lists.ts";

const [mine, others] = ["mine" as KeyId, "another's" as KeyId];
const LIST = "jobs.list {}";

function job(id: string, more: Partial<Job> = {}): Job {
  return { kind: "job", id, status: "open", raw: {}, ...more } as Job;
}

const three = [job("j1"), job("j2"), job("j3")];

test("a list that hundreds look at together is looked at by each within twelve hours", () => {
  const shared = createSharedLists(seededRandom(1));
  shared.looked(LIST, others, three, 1_000);
  shared.looked(LIST, mine, three, 2_000);
  const looks = Array.from({ length: 300 }, (_, i) =>
    shared.nextLook(LIST, `key ${i}` as KeyId, { everyMs: 12 * HOUR, aloneMs: 12 * HOUR }, 2_000),
  );
  expect(Math.max(...looks)).toBeLessThanOrEqual(2_000 + 12 * HOUR);
});

test.each([
  ["two keys that may read it each five seconds do so", 2, 24],
  ["two thousand keys read it once a second together", 2_000, 60],
])("a shared list: %s", (_, keys, polls) => {
  const shared = createSharedLists(seededRandom(1));
  const due = new Map(Array.from({ length: keys }, (_unused, i) => [`key ${i}` as KeyId, i % 5_000]));
  let count = 0;
  const from = 2 * HOUR;
  for (let now = 0; now < from + MINUTE; now += SECOND)
    for (const [key, at] of due) {
      if (at > now) continue;
      shared.looked(LIST, key, three, now);
      due.set(key, shared.nextLook(LIST, key, { everyMs: 5 * SECOND, aloneMs: 5 * SECOND }, now));
      if (now >= from) count++;
    }
  expect(count / polls).toBeGreaterThan(0.7);
  expect(count / polls).toBeLessThan(1.4);
});

test("a list that two thousand keys began to read together is read evenly from then on", () => {
  const shared = createSharedLists(seededRandom(1));
  const due = new Map(Array.from({ length: 2_000 }, (_, i) => [`key ${i}` as KeyId, 0]));
  const polls: number[] = [];
  for (let now = 0; now < HOUR; now += SECOND)
    for (const [key, at] of due) {
      if (at > now) continue;
      polls.push(now);
      shared.begins(LIST, key, now);
      shared.looked(LIST, key, three, now);
      due.set(key, shared.nextLook(LIST, key, { everyMs: 5 * SECOND, aloneMs: 5 * SECOND }, now));
    }
  const pauses = polls.map((at, i) => at - (polls[i - 1] ?? at));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30 * SECOND);
  expect(polls.length).toBeLessThan(7_500); // each key at the start, once within half an hour, then each half hour
});

test("a list is the same for all once two keys got the same one, and again after three pages if they did not", () => {
  const shared = createSharedLists(seededRandom(1));
  shared.looked(LIST, others, three, 1_000);
  expect(shared.isForAll(LIST)).toBe(false);
  shared.looked(LIST, mine, three, 2_000);
  expect(shared.isForAll(LIST)).toBe(true);
  shared.looked(LIST, others, [job("j4"), job("j1"), job("j5"), job("j2"), job("j3")], 3_000);
  expect(shared.isForAll(LIST)).toBe(false);
  const both = (at: number): void => {
    shared.looked(LIST, mine, [job("j4"), ...three], at);
    shared.looked(LIST, others, [job("j4"), ...three], at + 1);
  };
  both(4_000);
  expect(shared.isForAll(LIST)).toBe(false);
  both(5_000);
  both(6_000);
  expect(shared.isForAll(LIST)).toBe(true);
});

describe("a job on a list", () => {
  test("is open as of the newest look, the key's own or one at a list that two keys were seen to get alike", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, others, three, 1_000);
    expect(shared.openAt(LIST, mine, "j1", 0)).toBeUndefined();
    expect(shared.openAt(LIST, others, "j1", 0)).toBe(1_000);
    shared.looked(LIST, mine, three, 2_000);
    expect(shared.openAt(LIST, others, "j1", 0)).toBe(2_000);
    shared.looked(LIST, others, three.slice(1), 3_000);
    expect(shared.openAt(LIST, mine, "j1", 0)).toBeUndefined();
    expect(shared.openAt(LIST, mine, "j2", 0)).toBe(3_000);
  });

  test("is not shown open by a page that was asked for before another came", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, mine, three.slice(1), 2_000);
    shared.looked(LIST, mine, three, 1_000);
    expect(shared.openAt(LIST, mine, "j1", 0)).toBeUndefined();
    expect(shared.openAt(LIST, mine, "j2", 0)).toBe(2_000);
  });

  test.each<[string, Partial<Job>, boolean]>([
    ["open", {}, true],
    ["applied for by somebody", { status: "applied" }, true],
    ["somebody's by its id", { assigneeId: "a1" }, false],
    ["somebody's by its handle", { assigneeHandle: "quill" }, false],
    ["assigned", { status: "assigned" }, false],
    ["in a state nobody knows", { status: "unknown" }, false],
    ["past its deadline", { deadlineMs: 5_000 }, false],
    ["not yet past its deadline", { deadlineMs: 5_001 }, true],
  ])("that is %s", (_, more, isOpen) => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, mine, [job("j1", more)], 1_000);
    expect(shared.openAt(LIST, mine, "j1", 5_000)).toBe(isOpen ? 1_000 : undefined);
  });

  test("is not believed to be open until the list is relied on again", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, mine, three, 1_000);
    shared.doubt(LIST, 3_000);
    shared.looked(LIST, mine, three, 2_999);
    expect(shared.openAt(LIST, mine, "j1", 0)).toBeUndefined();
    shared.looked(LIST, mine, three, 3_000);
    expect(shared.openAt(LIST, mine, "j1", 0)).toBe(3_000);
  });
});

describe("a planned poll", () => {
  const pause = { everyMs: HOUR, aloneMs: HOUR };

  test("is known to its key alone, and to all once two keys were seen to get the same list", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, others, three, 1_000);
    const at = shared.nextLook(LIST, others, pause, 1_000);
    expect(shared.plannedAt(LIST, others, 1_000)).toBe(at);
    expect(shared.plannedAt(LIST, mine, 1_000)).toBeUndefined();
    shared.looked(LIST, mine, three, 2_000);
    expect(shared.plannedAt(LIST, mine, 2_000)).toBe(at);
  });

  test("counts from its beginning for as long as an answer takes, and not if it has failed since", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, mine, three, 1_000);
    shared.begins(LIST, mine, 5_000);
    expect(shared.plannedAt(LIST, mine, 6_000)).toBe(5_000);
    expect(shared.plannedAt(LIST, mine, 5_000 + ANSWERED_MS)).toBeUndefined();
  });

  test("was the key's own turn only where others poll the list too", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, others, three, 1_000);
    shared.nextLook(LIST, others, pause, 1_000);
    expect(shared.wasLast(LIST, others)).toBe(false);
    shared.looked(LIST, mine, three, 2_000);
    shared.nextLook(LIST, mine, pause, 2_000);
    expect([shared.wasLast(LIST, mine), shared.wasLast(LIST, others)]).toEqual([true, false]);
  });
});

test("a job has left a list if an older one is still on it, and not if the page may have been cut before it", () => {
  const shared = createSharedLists(seededRandom(1));
  shared.looked(LIST, mine, three, 1_000);
  shared.looked(LIST, mine, [job("j0"), job("j2")], 2_000);
  expect([...shared.left(LIST, mine)]).toEqual([["j1", 2_000]]);
  expect(shared.left(LIST, others).size).toBe(0);
});

test("a list is proven by a job that left it when it was given, until another is shown open that was given", () => {
  const shared = createSharedLists(seededRandom(1));
  shared.looked(LIST, mine, three, 1_000);
  expect(shared.isProven(LIST)).toBe(false);
  shared.prove(LIST);
  expect(shared.isProven(LIST)).toBe(true);
  shared.doubt(LIST, 3_000);
  expect(shared.isProven(LIST)).toBe(false);
});

describe("a page that another process has polled", () => {
  const elsewhere = { by: "process 2", ids: ["j1", "j2", "j3"] };

  test("shows that all keys get the same list, where this process has one key", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, mine, three, 1_000);
    expect(shared.openAt(LIST, others, "j1", 0)).toBeUndefined();
    shared.heard(LIST, elsewhere, 2_000);
    expect(shared.openAt(LIST, others, "j1", 0)).toBe(1_000);
  });

  test("is news to no other process once one of this process reads it", () => {
    const shared = createSharedLists(seededRandom(1));
    shared.looked(LIST, mine, three, 1_000);
    shared.looked(LIST, others, three, 1_500);
    shared.heard(LIST, { by: "process 2", ids: ["j0", "j1", "j2", "j3"] }, 2_000);
    expect(shared.looked(LIST, mine, [job("j0"), ...three], 4_000)).toEqual([]);
  });
});
