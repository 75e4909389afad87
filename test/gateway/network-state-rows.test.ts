/** What is known of a network as stored rows, and the part that another profile invalidates. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { breakerName, readRows, rowOf, underProfile, type HeldBreaker } from "../../src/gateway/network-state-rows.ts";

const breaker = (over: Partial<HeldBreaker>): HeldBreaker => ({
  kind: "refusal",
  rule: "capability",
  code: "forbidden",
  message: "no",
  handle: "ann",
  operation: "posts.reply",
  since: 1,
  probeAt: 2,
  waitMs: 3,
  ...over,
});

test("a breaker is read as it was written, without the probe that was out", () => {
  const row = rowOf(breaker({ probe: "sent" }), 9);
  expect(row).toMatchObject({ kind: "stop", name: "ann posts.reply" });
  expect(readRows([row]).stops).toEqual([breaker({})]);
});

test("a breaker of drift is stored as the time of its last write, beside the one of a refusal", () => {
  const drift = breaker({ kind: "drift", rule: "drift", code: "shape_slowed", handle: undefined });
  expect(rowOf(drift, 9)).toEqual({ kind: "slowed", name: "posts.reply", data: { at: 9 } });
  expect(readRows([rowOf(drift, 9)])).toMatchObject({ stops: [], slowed: [["posts.reply", 9]] });
  expect(breakerName(drift)).not.toBe(breakerName(breaker({ handle: undefined })));
});

test("rows of another version are left out", () => {
  const strange = [
    { kind: "stop", name: "x", data: { rule: "of tomorrow" } },
    { kind: "drift", name: "x", data: {} },
    { kind: "slowed", name: "x", data: { at: "noon" } },
  ];
  expect(readRows(strange)).toEqual({ stops: [], drift: [], slowed: [] });
});

test("another profile cures what may have been its fault: not a stopped account, not an unpaid bill; a price is no other profile", () => {
  const rows = (["operation_missing", "unreadable", "account_stopped", "payment_required"] as const).map((code) =>
    rowOf(breaker({ code, operation: code }), 1),
  );
  const known = underProfile(resolveProfile({ extends: "set-b" }), []).row;
  const cured = (profile: Parameters<typeof resolveProfile>[0]) =>
    underProfile(resolveProfile(profile), [known, ...rows]).void.map(({ data }) => data["code"]);
  expect(cured({ extends: "set-b" })).toEqual([]);
  expect(cured({ extends: "set-b", operations: { "posts.create": { price: { micros: 5 } } } })).toEqual([]);
  expect(cured({ extends: "set-b", operations: { "posts.create": { path: "/v1/notes" } } })).toEqual(["operation_missing", "unreadable"]);
  expect(underProfile(resolveProfile({ extends: "set-a" }), rows).void).toEqual([]); // of a store without a profile yet
});
