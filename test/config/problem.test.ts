/** Problems for a person: the first mistake stops, warnings do not, secrets stay out, and a near name is proposed. */
import { expect, test } from "vitest";
import { isMistake, mistake, nearest, problemOf, throwMistakes, warning, withoutSecrets } from "../../src/config/problem.ts";
import { Refused } from "../../src/core/errors.ts";
import { Secret } from "../../src/core/secret.ts";

test("the first mistake is thrown with its place, and says how many more there are; warnings throw nothing", () => {
  const problems = [
    warning("env_readable", "may be read"),
    mistake("port_invalid", "the port is none", { file: "a.yaml", line: 3, hint: "use a number" }),
    mistake("zone_unknown", "no such zone"),
  ];
  expect(() => throwMistakes(problems)).toThrow(
    expect.objectContaining({
      code: "port_invalid",
      message: 'the port is none (and 1 more: "retinue check" lists all of them)',
      details: { file: "a.yaml", line: 3, hint: "use a number" },
    }),
  );
  throwMistakes(problems.filter((problem) => !isMistake(problem)));
  throwMistakes([]);
});

test("an error of ours is a problem with its own place first; a bug is thrown on", () => {
  const error = new Refused("input_invalid", "no", { file: "own.ts", hint: "own" });
  expect(problemOf(error, { file: "given.ts", line: 7 })).toEqual({
    level: "error",
    code: "input_invalid",
    message: "no",
    file: "own.ts",
    line: 7,
    hint: "own",
  });
  expect(() => problemOf(new TypeError("a bug"))).toThrow(TypeError);
});

test("a problem repeats no secret", () => {
  const problems = [mistake("definition_threw", "it threw: key sk-model-0123456789 refused")];
  expect(withoutSecrets(problems, [new Secret("sk-model-0123456789")])[0]?.message).toBe("it threw: key [secret] refused");
  expect(withoutSecrets([], [new Secret("sk-model-0123456789")])).toEqual([]);
});

test.each<[string, string | undefined]>([
  ["posts.replyy", "posts.reply"],
  ["Posts.Reply", "posts.reply"],
  ["psots.reply", "posts.reply"],
  ["posts.rep", "posts.reply"],
  ["posts.list", "posts.like"],
  ["jobs.apply", undefined],
  ["ab", "abc"],
  ["xyz", undefined],
  ["", undefined],
  ["x".repeat(10_000), undefined],
])("the name nearest to %j", (typed, known) => {
  expect(nearest(typed.slice(0, 12_000), ["posts.reply", "posts.like", "abc"])).toBe(known);
});

test("of two near names the nearer one is proposed, and of equally near ones the first", () => {
  expect(nearest("threds", ["thread", "threads"])).toBe("threads");
  expect(nearest("cat", ["car", "can"])).toBe("car");
});
