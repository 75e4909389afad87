/** `retinue status` shows the last state where nothing runs: stops first, then what waits for a person. */
import { expect, test } from "vitest";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { propose } from "../harness/proposed.ts";
import { storeProject } from "../harness/store-project.ts";

test("stops, approvals and specialists are shown, each with what ends it", async () => {
  const { run } = await storeProject(async (store, now) => {
    await propose(store, { id: "i1", input: { content: "What is\nthe best approach?" }, now });
    await store.stop("halt", EVERYONE, "wrong words", now);
    await store.stop("pause", "scout", "rest", now);
  });
  const { code, stdout } = await run("status");
  expect(code).toBe(0);
  const lines = stdout.split("\n");
  expect(lines[0]).toBe("No runtime uses this store now. This is its last state.");
  expect(lines[1]).toMatch(/^Halted: nobody writes since .*: wrong words$/);
  expect(lines[2]).toMatch(/^Paused: scout since .*: rest$/);
  for (const words of ["specialist", "Waits for your approval", "i1", "posts.reply", "at most 2", "What is the best"])
    expect(stdout).toContain(words);
});

test("scripts get the whole state as one object", async () => {
  const { json } = await storeProject();
  expect(await json("status")).toMatchObject({
    code: 0,
    said: { ok: true, halts: [], specialists: [{ handle: "scout", accountId: "agt_1" }] },
  });
});

test("a store that nobody filled is shown without tables of nothing", async () => {
  const { stdout } = await (await storeProject()).run("status");
  expect(stdout).not.toMatch(/Waits for|Parked|In doubt|Gaps|Webhooks/);
});

test("a mistyped variable is told, because it may have named another store", async () => {
  const { run } = await storeProject(undefined, { env: { RETINUE_STOER: "postgres://me@127.0.0.1/x" } });
  expect(await run("status")).toMatchObject({ code: 0, stderr: expect.stringContaining("did you mean RETINUE_STORE?") });
  expect(await run("status", "--json")).toMatchObject({ code: 0, stderr: "" });
});
