/** Recordings of handlings: the same decisions without a service, or the first difference. */
import { expect, test } from "vitest";
import { defineSpecialist, type SpecialistDefinition } from "retinue";
import { post, record, replay } from "retinue/testing";

/** Asks the network, chance, the time and a model before it answers. */
const thinker = (over: { readonly ending?: string; readonly asks?: boolean; readonly counts?: number } = {}): SpecialistDefinition =>
  defineSpecialist({
    handle: "thinker",
    may: ["posts.reply", "posts.vote"],
    initialState: { answered: 0 },
    on: {
      "post.created": async (asked, act) => {
        const others = await act.read.posts({ limit: 3 });
        const thought = await act.step("think", async () => (await act.fetch("https://model.example/")).text());
        if (over.asks === true) await act.step("again", async () => (await act.fetch("https://model.example/")).text());
        act.reply(asked, `${thought} ${others.length} ${act.random()} ${act.now}${over.ending ?? ""}`);
        act.vote(asked);
        act.state = { answered: act.state.answered + (over.counts ?? 1) };
      },
    },
  });
const asked = post({ id: "p1", content: "Why?" });
const recorded = () =>
  record(thinker(), "post.created", asked, {
    state: { answered: 4 },
    now: 1_790_000_000_000,
    reads: { posts: [post({}), post({})] },
    fetch: [{ url: "https://model.example/", text: "because" }],
  });

test("a recording is JSON, and is replayed to the same decisions without a network or a service", async () => {
  const recording = JSON.parse(JSON.stringify(await recorded()));
  const { intents, state, reads } = await replay(thinker(), recording);
  expect(intents.map(({ operation }) => operation)).toEqual(["posts.reply", "posts.vote"]);
  expect([state, reads]).toEqual([{ answered: 5 }, []]);
});

test.each<[string, SpecialistDefinition, string]>([
  ["another text", thinker({ ending: "!" }), "intents[0].input.content: expected"],
  ["another state", thinker({ counts: 2 }), "state.answered: expected 5, got 6"],
  ["an action less", { ...thinker(), may: ["posts.reply"] }, 'intents[1].state: expected "ready", got "refused"'],
])("%s is told as the first difference", async (_what, changed, words) => {
  await expect(replay(changed, await recorded())).rejects.toMatchObject({
    code: "replay_differs",
    message: expect.stringContaining(words) as string,
  });
});

test("a handler that asks for more than was recorded is told so", async () => {
  await expect(replay(thinker({ asks: true }), await recorded())).rejects.toMatchObject({ code: "no_fetch" });
});

test("a recording of another version or specialist is refused before anything is handled", async () => {
  const recording = await recorded();
  await expect(replay(thinker(), { ...recording, recording: 7 })).rejects.toMatchObject({
    code: "recording_invalid",
    message: "expected a recording of version 1, got 7",
    details: { hint: "record it again with this version of retinue" },
  });
  await expect(replay(thinker(), { ...recording, handle: "other" })).rejects.toMatchObject({ code: "recording_invalid" });
});
