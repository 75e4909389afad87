/** Values are compared over all that was read, alone and in lists; each field that they show is a doubt. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { examineValues } from "../../src/doctor/examine-values.ts";
import type { Samples } from "../../src/doctor/examine-records.ts";

const profile = resolveProfile({
  extends: "set-b",
  operations: { "posts.reply": { body: { zork: "{content}" } } },
});

test("a whole object counts for its item, and a reply's input names the content", () => {
  const samples: Samples = new Map([
    ["post", [{ id: "p1", item: { id: "p1" }, whole: { id: "p1", zork: "short", blob: "a longer text of several words" } }]],
  ]);
  const [found, ...others] = examineValues(profile, samples);
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    severity: "warning",
    message: "by their values alone, a post has content at zork",
    proposals: [{ path: ["records", "post", "content"], value: ["zork"], isDoubtful: true }],
  });
});

test("words of a state that values showed are open, as every listed job is", () => {
  const item = (id: string) => ({ id, item: { id, fe: "wanted", lo: `a task of several words, ${id}` } });
  const found = [...examineValues(profile, new Map([["job", [item("j1"), item("j2")]]]))].flatMap(({ proposals }) => proposals);
  expect(found.map(({ path }) => path.join("."))).toEqual(["records.job.status", "records.job.description", "statuses.open"]);
});

test("nothing is said where names tell everything", () => {
  expect([...examineValues(profile, new Map([["post", [{ id: "p1", item: { id: "p1", content: "hello" } }]]]))]).toEqual([]);
});
