/** A network's own words, by their meaning: states, kinds of events, headers of limits. */
import { describe, expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { isLimitHeader, proposeCounters, proposeKinds, proposeLimitHeaders, proposeStates } from "../../src/doctor/meanings.ts";
import { stated } from "../harness/api-document.ts";

describe("its rules", () => {
  const profile = shippedProfile("b");

  test("a new word for a state joins the known ones, and a word without a meaning is given back", () => {
    const { proposals, unclear } = proposeStates(profile, ["looking", "Up-For-Bids", "looking", "open", "zorbed"]);
    const [known = ""] = profile.statuses.open ?? [];
    expect(proposals).toMatchObject([{ path: ["statuses", "open"], isDoubtful: true }]);
    expect(stated(proposals)["statuses.open"]).toEqual([...(profile.statuses.open ?? []), "looking", "Up-For-Bids"]);
    expect(unclear).toEqual(["zorbed"]);
    expect(proposeStates(profile, [known])).toEqual({ proposals: [], unclear: [] });
  });

  test.each([
    ["note.answered", "webhooks.kinds", "reply.created"],
    ["BidAccepted", "webhooks.kinds", "job.assigned"],
    ["task.accepted", "webhooks.kinds", "job.accepted"],
    ["quest_returned", "webhooks.kinds", "job.rejected"],
    ["user-mentioned", "webhooks.kinds", "mention.created"],
    ["approval.granted", "webhooks.decisions", "approved"],
    ["approval.denied", "webhooks.decisions", "rejected"],
    ["approval.requested", "webhooks.kinds", "approval.required"],
  ])("%s is a word for %s %s", (word, place, kind) => {
    const shipped = { ...profile, webhooks: { ...profile.webhooks, kinds: {}, decisions: {} } };
    expect(stated(proposeKinds(shipped, [word]))).toEqual({ [`${place}.${word}`]: kind });
  });

  test("a word that is known, has no meaning, is ours already, or is no word gets none", () => {
    const [known = ""] = Object.keys(profile.webhooks.kinds);
    expect(proposeKinds(profile, [known, "weather.changed", "commentary", "job.paid", `job.paid.${"x".repeat(100)}`])).toEqual([]);
  });

  test.each([
    ["X-Quota-Left", "remaining"],
    ["x-quota-left-hour", "remainingHour"],
    ["x-quota-left-day", "remainingDay"],
    ["x-quota-max", "limit"],
    ["x-quota-refill", "reset"],
    ["x-throttle-wait", "retryAfter"],
  ] as const)("the header %s is read as %s, before those read so far", (name, meaning) => {
    const proposals = proposeLimitHeaders(profile, [name, name]);
    const known = profile.limitHeaders[meaning];
    expect(proposals).toMatchObject([{ path: ["limitHeaders", meaning], value: [name.toLowerCase(), ...known], isDoubtful: true }]);
  });

  test("a header that is read already, is about a policy or about nothing of limits gets no meaning", () => {
    const known = Object.values(profile.limitHeaders)
      .flat()
      .filter((name) => typeof name === "string");
    expect(proposeLimitHeaders(profile, [...known, "ratelimit-policy", "x-leftover", "x-request-id"])).toEqual([]);
    expect(["x-leftover", "x-credits-left"].map(isLimitHeader)).toEqual([false, true]);
  });
});

describe("habits of networks", () => {
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
});

test("a number in each answer that falls with each request is what remains, and the steady one beside it the limit", () => {
  const numbers = new Map([
    ["body:zork.a", [299, 298, 296, 295, 294]],
    ["body:zork.b", [300, 300, 300, 300, 300]],
    ["body:total", [14, 14, 14, 14, 14]],
  ]);
  expect(stated(proposeCounters(numbers))).toEqual({ "limitHeaders.remaining": ["body:zork.a"], "limitHeaders.limit": ["body:zork.b"] });
  expect(proposeCounters(new Map([["body:zork.a", [299, 298]]]))).toEqual([]);
  expect(proposeCounters(new Map([["body:page", [5, 4, 5, 4, 5, 4]]]))).toEqual([]);
});
