/** New and changed entries of a log that is read again and again. */
import { expect, test } from "vitest";
import { createFollower } from "../../src/cli/follow-log.ts";
import type { ActionEntry } from "../../src/guardian/log-entries.ts";

const entry = (seq: number, state: ActionEntry["state"] = "confirmed", handle = "scout"): ActionEntry => ({
  about: "action",
  seq,
  id: `i${seq}`,
  at: seq,
  handle,
  operation: "posts.reply",
  state,
});
const seqs = (entries: readonly { readonly seq: number }[]): readonly number[] => entries.map(({ seq }) => seq);

test("of the first look as many as asked for are shown, later those that are new or have changed, newest last", () => {
  const take = createFollower(2);
  expect(seqs(take({ entries: [entry(3, "proposed"), entry(2), entry(1)] }).fresh)).toEqual([2, 3]);
  expect(take({ entries: [entry(3, "proposed"), entry(2), entry(1)] }).fresh).toEqual([]);
  const changed = take({ entries: [entry(5), entry(4), entry(3, "sending"), entry(2)] });
  expect([seqs(changed.fresh), changed.isCut]).toEqual([[3, 4, 5], false]);
});

test("entries of a process that was not seen for a while are not shown again", () => {
  const take = createFollower(9);
  take({ entries: [entry(2), entry(1, "confirmed", "quill")] });
  take({ entries: [entry(2)] });
  expect(take({ entries: [entry(2), entry(1, "confirmed", "quill")] }).fresh).toEqual([]);
});

test("a page that is all new, and not the last, may have others before it", () => {
  const take = createFollower(9);
  expect(take({ entries: [entry(1)], next: 1 }).isCut).toBe(false);
  expect(take({ entries: [entry(3), entry(2)], next: 2 }).isCut).toBe(true);
  expect(take({ entries: [entry(4)] }).isCut).toBe(false);
});
