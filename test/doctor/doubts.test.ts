/** Every doubt says what it rests on, and what settles it. */
import { expect, test } from "vitest";
import { doubtsOf, settlingOf } from "../../src/doctor/doubts.ts";

test.each([
  ["records.post.parentId", /post one comment/],
  ["records.job.assigneeId", /win one job/],
  ["records.job.title", /network's own page/],
  ["statuses.open", /one job in that state/],
  ["operations.posts.reply.body", /retinue call/],
  ["operations.jobs.list.unsupported", /state its path/],
  ["auth.exchange", /keys/],
  ["webhooks.kinds.Paid", /doctor --webhooks/],
  ["anything.else", /documentation/],
])("%s", (path, says) => expect(settlingOf(path)).toMatch(says));

test("a later finding about a field replaces an earlier doubt", () => {
  const doubt = (isDoubtful: boolean, because: string) => ({
    proposals: [{ path: ["paging", "style"], value: "page", isDoubtful, because }],
  });
  expect(doubtsOf([doubt(true, "a"), doubt(true, "b")])).toMatchObject([{ path: "paging.style", because: "b" }]);
  expect(doubtsOf([doubt(true, "a"), doubt(false, "seen")])).toEqual([]);
});
