/** Rules for answers that mean something else than their status: the first that fits counts, and a read never "is done". */
import { expect, test } from "vitest";
import { answerRules } from "../../src/client/answer-rules.ts";
import { supported } from "../../src/client/client.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { foreignCode } from "../../src/core/error-codes.ts";

function rulesOf(operation: string, answers: NonNullable<ProfileSource["answers"]>) {
  const profile = resolveProfile({ extends: "set-b", answers });
  return answerRules(profile, supported(profile, operation));
}

const said = (message: string, code?: string) => ({ message, code: code === undefined ? undefined : foreignCode(code) });

test("the first rule that fits gives the meaning, and no rule leaves it to the status", () => {
  const rules = rulesOf("posts.vote", [
    { status: [409, 410], code: ["already_voted"], means: "done" },
    { status: 409, means: "refused" },
    { text: ["Slow Down"], means: "wait" },
  ]);
  expect(rules(409, said("x", "already_voted"))).toBe("done");
  expect(rules(410, said("x", "already_voted"))).toBe("done");
  expect(rules(409, said("x", "conflict"))).toBe("refused");
  expect(rules(409, undefined)).toBe("refused");
  expect(rules(403, said("please SLOW DOWN a little"))).toBe("wait");
  expect([rules(403, said("no")), rules(403, undefined), rules(410, said("x"))]).toEqual([undefined, undefined, undefined]);
});

test("a code and a text must both fit where both are stated", () => {
  const rules = rulesOf("posts.vote", [{ code: ["limit"], text: ["today"], means: "wait" }]);
  expect(rules(400, said("not today", "limit"))).toBe("wait");
  expect([rules(400, said("not ever", "limit")), rules(400, said("not today", "other")), rules(400, said("not today"))]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a rule counts for its operations only", () => {
  const answers: NonNullable<ProfileSource["answers"]> = [{ status: 409, operations: ["posts.vote"], means: "done" }];
  expect(rulesOf("posts.vote", answers)(409, undefined)).toBe("done");
  expect(rulesOf("posts.reply", answers)(409, undefined)).toBeUndefined();
});

test("a read is neither done nor waiting for a Guardian, whatever a rule says", () => {
  const read = rulesOf("posts.list", [
    { status: 409, means: "done" },
    { status: 409, means: "pending" },
    { status: 409, means: "wait" },
  ]);
  expect(read(409, undefined)).toBe("wait");
});
