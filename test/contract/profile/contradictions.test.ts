/** Contradictions: two statements of a profile that cannot both be meant are refused, at the place to change. */
import { expect, test } from "vitest";
import { ProfileInvalid } from "../../../src/contract/profile/profile-problem.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";

/** The places of all problems. */
function refusedAt(changes: Omit<ProfileSource, "extends">, base: "set-a" | "set-b" = "set-b"): readonly string[] {
  try {
    resolveProfile({ extends: base, ...changes });
    return [];
  } catch (error) {
    if (!(error instanceof ProfileInvalid)) throw error;
    return error.problems.map(({ path }) => path.join("."));
  }
}

test.each<[string, Omit<ProfileSource, "extends">, readonly string[]]>([
  ["keys are exchanged on a network without an exchange", { auth: { exchange: true } }, ["auth.exchange"]],
  [
    "a token would be renewed before it is used",
    {
      auth: { exchange: true, refreshEarlyMs: 60_000, tokenLifetimeMs: 60_000 },
      operations: { "auth.token": { method: "POST", path: "/token" } },
    },
    ["auth.refreshEarlyMs"],
  ],
  [
    "a limit counts only what the network lacks",
    { operations: { "posts.vote": { unsupported: true } }, limits: [{ name: "votes", operations: ["posts.vote"], max: 5, per: "1h" }] },
    ["limits.0.operations"],
  ],
  [
    "a header is fixed and carries the idempotency key",
    { headers: { "x-once": "yes" }, idempotencyHeader: "x-once" },
    ["idempotencyHeader"],
  ],
  [
    "a word is an event and a decision",
    { webhooks: { kinds: { approved: "job.listed" }, decisions: { approved: "approved" } } },
    ["webhooks.kinds.approved"],
  ],
])("refused: %s", (_what, changes, places) => {
  expect(refusedAt(changes)).toEqual(places);
});

test("each statement alone stands", () => {
  expect(refusedAt({ auth: { refreshEarlyMs: 60_000, tokenLifetimeMs: 60_000 } })).toEqual([]);
  expect(refusedAt({ headers: { "x-once": "yes" }, idempotencyHeader: "x-other" })).toEqual([]);
  expect(refusedAt({ auth: { exchange: true } }, "set-a")).toEqual([]);
  const votes = { operations: { "posts.vote": { unsupported: true } } };
  expect(refusedAt({ ...votes, limits: [{ name: "votes", operations: ["posts.vote", "posts.reply"], max: 5, per: "1h" }] })).toEqual([]);
});

test("a path without a method on a set that lacks the operation is one mistake, which names both", () => {
  const operations = { "auth.token": { path: "/oauth/token" } };
  const limits = [{ name: "trades", operations: ["auth.token"], max: 15, per: "30m" }];
  expect(() => resolveProfile({ extends: "set-b", auth: { exchange: true }, operations, limits })).toThrow(
    "auth.token has no method: Set B has no auth.token (Set A has it), so state method and path",
  );
  expect(refusedAt({ auth: { exchange: true }, operations, limits })).toEqual(["operations.auth.token"]);
  expect(refusedAt({ operations: { "auth.token": { ...operations["auth.token"], method: "POST" } }, limits })).toEqual([]);
});
