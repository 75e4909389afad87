/** Every doubt says what it rests on, and what settles it. */
import { describe, expect, test } from "vitest";
import { doubtsOf, settlingOf } from "../../src/doctor/doubts.ts";
import type { Proposal } from "../../src/doctor/finding.ts";

describe("its rules", () => {
  const doubt = (path: string, because?: string): Proposal =>
    ({ path: path.split("."), value: ["x"], isDoubtful: true, ...(because === undefined ? {} : { because }) }) as Proposal;
  const sure = (path: string): Proposal => ({ path: path.split("."), value: ["x"], isDoubtful: false });

  test.each([
    ["records.post.votes", /vote once/],
    ["records.post.content", /compare it/],
    ["records.job.assigneeId", /win one job/],
    ["records.job.verdict", /submission judged/],
    ["records.token.token", /answer in the documentation/],
    ["operations.posts.vote.unsupported", /state its path/],
    ["operations.auth.token.path", /page on keys/],
    ["operations.posts.vote.path", /retinue call/],
    ["limits", /page on limits/],
    ["webhooks.kinds.a", /doctor --webhooks/],
    ["limitsAlike", /^the network's documentation$/],
  ])("%s is settled by an act of its own", (path, act) => {
    expect(settlingOf(path)).toMatch(act);
  });

  test("a field is doubted once, for its last reason, and no more once a later finding is sure of it", () => {
    const found = [
      { proposals: [doubt("statuses.open", "first"), doubt("paging.next"), doubt("limits", "read from a sentence")] },
      { proposals: [doubt("statuses.open", "second"), sure("limits"), sure("errors.code")] },
    ];
    expect(doubtsOf(found).map(({ path, because }) => [path, because])).toEqual([
      ["statuses.open", "second"],
      ["paging.next", "the only place that fits"],
    ]);
  });
});

describe("habits of networks", () => {
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
});
