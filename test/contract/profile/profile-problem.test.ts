/** The error of a profile: its first place and message, and how many more there are. */
import { expect, test } from "vitest";
import { Misconfigured } from "../../../src/core/errors.ts";
import { ProfileInvalid } from "../../../src/contract/profile/profile-problem.ts";

test("the first problem stands in the message with its place, and all are kept", () => {
  const problems = [
    { path: ["limits", 0, "per"], message: "expected a duration" },
    { path: ["auth"], message: "expected keys with values" },
    { path: ["drift"], message: "expected one of note, slow, stop" },
  ];
  const error = new ProfileInvalid(problems);
  expect(error).toBeInstanceOf(Misconfigured);
  expect(error).toMatchObject({ code: "profile_invalid", message: "limits.0.per: expected a duration (and 2 more)", problems });
});

test("a problem of the whole file names the profile", () => {
  expect(new ProfileInvalid([{ path: [], message: "expected keys with values" }]).message).toBe("the profile: expected keys with values");
  expect(new ProfileInvalid([]).message).toBe("the profile: cannot be read");
});
