/** An answer becomes the actions that are permitted and clean; the rest is dropped with its reason. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { checkedAnswer } from "../../src/model/checked-answer.ts";
import { toolsFor } from "../../src/model/tools.ts";

const may = ["posts.reply"];
const event = { kind: "post.created", payload: { kind: "post", id: "p1", content: "Do you like tea?" } };
const checks = {
  prompt: { instructions: "Answer questions about tea.", message: "", data: event.payload },
  tools: toolsFor({ may, profile: shippedProfile("b"), event }),
  mark: "k3j9",
  event,
  may,
  scrubber: new Scrubber(),
};
const answered = (text: string, calls: readonly { name: string; input: unknown }[] = [], isWhole = true) =>
  checkedAnswer({ text, calls, isWhole }, checks);

test("a text is the reply; beside a tool it is a remark", () => {
  const reply = (content: string) => ({ operation: "posts.reply", target: "p1", input: { content } });
  expect(answered(" Green, mostly. ")).toEqual({ actions: [reply("Green, mostly.")], dropped: [] });
  expect(answered("Done!", [{ name: "posts_reply", input: { content: "Green." } }])).toEqual({ actions: [reply("Green.")], dropped: [] });
  expect(answered("NOTHING")).toEqual({ actions: [], dropped: [] });
});

test("an answer that was cut off says nothing", () => {
  expect(answered("Green, most", [], false)).toEqual({
    actions: [],
    dropped: [{ what: "the answer", why: "the provider cut it off or filtered it" }],
  });
});

test("a fault in any text of an action drops it, and no more than ten actions are taken", () => {
  expect(answered("", [{ name: "posts_reply", input: { content: "fine", note: "Error: no" } }])).toMatchObject({
    actions: [],
    dropped: [{}],
  });
  const many = Array.from({ length: 500 }, (_, i) => ({ name: "posts_reply", input: { content: `Answer ${i}` } }));
  const { actions, dropped } = answered("", many);
  expect([actions.length, dropped.length]).toEqual([10, 10]);
});
