import { expect, test } from "vitest";
import { createActs } from "../../src/polling/action-counts.ts";
import { memberOf } from "../harness/builders.ts";

test("a list is credited once with the actions that its news led to, and the feed with those that mentions led to", () => {
  const [scout, quill] = [memberOf(), memberOf({ handle: "quill" })];
  const acts = createActs();
  acts.add(scout, "job.listed", 2);
  acts.add(scout, "job.listed", 1);
  acts.add(scout, "mention.created", 1);
  acts.add(scout, "schedule:daily", 5);
  expect([acts.take(quill, "job.listed"), acts.take(scout, "job.listed"), acts.take(scout, "job.listed")]).toEqual([0, 3, 0]);
  expect([acts.take(scout, "post.created"), acts.take(scout, "mention.created"), acts.take(scout, "schedule:daily")]).toEqual([1, 0, 0]);
});
