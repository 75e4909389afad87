/** What looks at shared lists say of the jobs on them. */
import { describe, expect, test } from "vitest";
import type { Job } from "../../src/contract/records.ts";
import type { KeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import { createSharedLists } from "../../src/polling/shared-lists.ts";

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
