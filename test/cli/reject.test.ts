/** `retinue reject` shows the whole action and records the answer; what can no longer be answered is not. */
import { expect, test } from "vitest";
import { DAY } from "../../src/core/units.ts";
import { propose } from "../harness/proposed.ts";
import { errorOf, storeProject } from "../harness/store-project.ts";

const WORDS = "A word that nobody should say";

test("an action is shown and rejected at once where nobody can be asked", async () => {
  const { run, inStore } = await storeProject((store, now) => propose(store, { id: "i1", input: { content: WORDS }, now }));
  const { code, stdout } = await run("reject", "i1", "--reason", "too long");
  expect(code).toBe(0);
  expect(stdout).toContain(WORDS);
  expect(stdout).toContain("rejected: posts.reply of scout");
  expect(await inStore((store) => store.findIntent("i1"))).toMatchObject({ state: "cancelled", code: "approval_rejected" });
});

test("an answer is given once, and in time", async () => {
  const { json } = await storeProject(async (store, now) => {
    await propose(store, { id: "i1", input: { content: WORDS }, now });
    await propose(store, { id: "i2", input: { content: "late" }, now: now - 4 * DAY });
  });
  expect((await json("reject", "i1")).said).toMatchObject({
    ok: true,
    message: expect.stringContaining(
      "rejected: posts.reply of scout; its handler gets no receipt: the folder of definitions cannot be read",
    ),
    input: { content: WORDS },
  });
  for (const [id, error] of [
    ["i1", "approval_over"],
    ["i2", "approval_over"],
    ["i9", "nothing_found"],
  ] as const) {
    const { code, said } = await json("reject", id);
    expect([id, code, errorOf(said)["code"]]).toEqual([id, 1, error]);
  }
});
