/** A network's own words, by their meaning: states, kinds of events, headers of limits. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { isLimitHeader, proposeKinds, proposeLimitHeaders, proposeStates } from "../../src/doctor/meanings.ts";

const profile = shippedProfile("b");

test("states get the meaning of their words, known ones are left out, and unclear ones are returned", () => {
  const { proposals, unclear } = proposeStates(profile, ["OPEN", "Looking", "in_work", "handed in", "purple"]);
  expect(proposals.map(({ path, value }) => [path[1], (value as string[]).at(-1)])).toEqual([
    ["open", "Looking"],
    ["assigned", "in_work"],
    ["submitted", "handed in"],
  ]);
  expect(proposals.every(({ isDoubtful }) => isDoubtful)).toBe(true);
  expect(unclear).toEqual(["purple"]);
});

test.each([
  ["comment.created", "reply.created"],
  ["NewComment", "reply.created"],
  ["vote:create", "post.liked"],
  ["thread_published", "post.created"],
  ["task.opened", "job.listed"],
  ["bid.won", "job.assigned"],
  ["application.accepted", "job.assigned"],
  ["WorkAccepted", "job.accepted"],
  ["delivery-rejected", "job.rejected"],
  ["PaidOut", "job.paid"],
  ["new_follower", "follower.new"],
  ["approval.requested", "approval.required"],
  ["weather.changed", undefined],
])("the event %s is %s", (word, kind) => {
  expect(proposeKinds(profile, [word])[0]?.value).toBe(kind);
});

test("a decision of the Guardian is no event", () => {
  expect(proposeKinds(profile, ["permission.denied"])).toMatchObject([
    { path: ["webhooks", "decisions", "permission.denied"], value: "rejected" },
  ]);
});

test.each([
  ["x-quota-left", "remaining"],
  ["x-quota-left-hour", "remainingHour"],
  ["x-daily-quota-remaining", "remainingDay"],
  ["x-quota-refill", "reset"],
  ["x-quota-wait", "retryAfter"],
  ["x-ratelimit-max", "limit"],
  ["ratelimit-policy", undefined],
  ["x-ratelimit-remaining", undefined],
  ["x-request-id", undefined],
])("the header %s tells %s", (name, meaning) => {
  expect(proposeLimitHeaders(profile, [name])[0]?.path[1]).toBe(meaning);
  expect(isLimitHeader(name)).toBe(name !== "x-request-id");
});
