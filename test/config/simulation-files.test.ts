/** Files of a simulation: words of the crowd and answers of other services, within bounds, every mistake at its line. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAnswers, readCrowd } from "../../src/config/simulation-files.ts";
import { MINUTE } from "../../src/core/units.ts";
import { project } from "../harness/project.ts";

async function crowd(text: string) {
  return readCrowd("crowd.yaml", project({ "crowd.yaml": text }).root);
}

async function answers(content: unknown) {
  return readAnswers("answers.json", project({ "answers.json": JSON.stringify(content) }).root);
}

test("a crowd has words, jobs and rates, and states only what it states", async () => {
  const { value, problems } = await crowd(
    "posts: [hello]\njobs:\n  - { title: csv, deadline: 30m, reward: 5, input: { rows: [1] } }\npostsPerHour: 0\n",
  );
  expect(problems).toEqual([]);
  expect(value).toEqual({
    posts: ["hello"],
    jobs: [{ title: "csv", reward: 5, input: { rows: [1] }, deadlineMs: 30 * MINUTE }],
    postsPerHour: 0,
  });
});

test.each([
  ["posts: []", "at least one text"],
  ["posts: ['']", "a text that is not empty"],
  ["posts: hello", "a list of texts"],
  ["jobs: [{ description: no title }]", "a text"],
  ["jobs: [{ title: x, reward: 0 }]", "a whole number from 1 to 1000000"],
  ["jobs: [{ title: x, deadline: 0s }]", "longer than 0"],
  ["postsPerHour: -1", "0 or more an hour"],
  ["postsPerHour: 4000", "at most 3600 an hour"],
  ["[]", "a crowd: {"],
])("a crowd is refused: %s", async (text, says) => {
  const { value, problems } = await crowd(text);
  expect(value).toBeUndefined();
  expect(problems[0]).toMatchObject({ code: "crowd_invalid", line: 1 });
  expect(JSON.stringify(problems)).toContain(says);
});

test("answers have an address and one content", async () => {
  const given = [
    { url: "https://models.example/*", status: 429, headers: { "retry-after": "5" }, json: null },
    { url: "http://x.example/", text: "" },
  ];
  expect((await answers(given)).value).toEqual(given);
});

test.each([
  [[], "at least one answer"],
  [[{ url: "models.example" }], "an http(s) address"],
  [[{ url: "file:///etc/passwd" }], "an http(s) address"],
  [[{ url: "https://x.example", json: 1, text: "1" }], "either json or text"],
  [[{ url: "https://x.example", status: 100 }], "a whole number from 200 to 599"],
  [[{ url: "https://x.example", method: "PO ST" }], "a method such as POST"],
  [[{ url: "https://x.example", reply: 1 }], "reply"],
])("answers are refused: %j", async (content, says) => {
  const { problems } = await answers(content);
  expect(problems.every(({ code }) => code === "answers_invalid" || code === "key_unknown")).toBe(true);
  expect(JSON.stringify(problems)).toContain(says);
});

test("a missing file says that it may be created, and an absolute path is not moved", async () => {
  const { root } = project({ "deep/crowd.yaml": "posts: [a]\n" });
  expect((await readCrowd("none.yaml", root)).problems).toMatchObject([
    { code: "file_unreadable", hint: "create it, or name another file" },
  ]);
  expect((await readCrowd(join(root, "deep/crowd.yaml"), "/elsewhere")).value).toEqual({ posts: ["a"] });
});
