/** The campaign's judge: what nobody dealt with is lost, unless it was told to be passed over, by the very ids. */
import { expect, test } from "vitest";
import { judge, type Found } from "./verdict.ts";

const none: Found = { intents: [], parkedEvents: [], effects: [], owed: [], settledAt: 0 };
const posts = ["post_8", "post_9", "post_10", "post_11"];

test("a post that nobody saw is lost, unless it lies between the two ids of a gap that was told", () => {
  const owed = (gaps: Found["owed"][number]["gaps"]): Found => ({ ...none, owed: [{ operation: "posts.reply", items: posts, gaps }] });
  expect(judge(owed([])).lost).toHaveLength(4);
  expect(judge(owed([{ after: "post_8", before: "post_11" }]))).toEqual({
    lost: ["posts.reply post_8: never seen", "posts.reply post_11: never seen"],
    passedOver: 2,
  });
  expect(judge(owed([{ after: undefined, before: "post_12" }]))).toEqual({ lost: [], passedOver: 4 });
});

test("ids that are not the local network's excuse nothing: the judge ends", () => {
  const gaps = [{ after: undefined, before: "01J9ZQ" }];
  expect(() => judge({ ...none, owed: [{ operation: "posts.reply", items: posts, gaps }] })).toThrow(/local network/);
});
