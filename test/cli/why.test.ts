/** `retinue why` says the rule, its times and the remedy, and shows what an action would send. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { decide } from "../harness/builders.ts";
import { storeProject } from "../harness/store-project.ts";

const halted = () =>
  storeProject(async (store, now) => {
    await decide(store, now, [{ id: asIntentId("i1"), input: { content: "Hello \u001b[2J everybody" } }]);
    await store.stop("halt", EVERYONE, "wrong words", now);
  });

test("an action says the stop that holds it, what else it waits for, and how it ends", async () => {
  const { code, stdout } = await (await halted()).run("why", "i1");
  expect(code).toBe(0);
  for (const words of [
    "scout: posts.create is ready since",
    "halted: wrong words (halted)",
    "(not_running)",
    "retinue halt --lift",
    "everybody",
  ])
    expect(stdout).toContain(words);
  expect(stdout).not.toContain("\u001b[2J");
});

test("scripts get the same as one object", async () => {
  const { code, said } = await (await halted()).json("why", "i1");
  expect([code, said]).toMatchObject([
    0,
    { ok: true, about: "intent", state: "ready", hint: "retinue halt --lift", reasons: [{ rule: "halted" }, { rule: "not_running" }] },
  ]);
});

test("an operation may be asked about, and an unknown name says where names are", async () => {
  const { run } = await halted();
  expect((await run("why", "posts.create")).stdout).toContain("posts.create is open");
  expect(await run("why", "i9")).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing called "i9"[^]*retinue log/) as string });
});
