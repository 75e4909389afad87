/** The id of an event: the same from every source, another for each occurrence, bounded in length. */
import { expect, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";

test("an event of one object has one id, and each occurrence has its own", () => {
  const ids = [
    eventId("job.assigned", "j1"),
    eventId("job.assigned", "j1", 0),
    eventId("job.assigned", "j1", "v2"),
    eventId("job.listed", "j1"),
  ];
  expect(ids).toEqual(["job.assigned:j1", "job.assigned:j1#0", "job.assigned:j1#v2", "job.listed:j1"]);
});

test("an endless object id makes no endless event id, and its occurrence stays", () => {
  const id = eventId("post.created", "x".repeat(100_000), 7);
  expect(id).toHaveLength("post.created:".length + 512 + "#7".length);
  expect(id.endsWith("#7")).toBe(true);
});
