/** Meanings of a network's own words: states, kinds of events and headers that the profile does not know yet. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { isLimitHeader, proposeKinds, proposeLimitHeaders, proposeStates } from "../../src/doctor/meanings.ts";
import { stated } from "../harness/api-document.ts";

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
