/** `retinue halt` stores a halt, names what ends it, and ends it. */
import { expect, test } from "vitest";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { storeProject } from "../harness/store-project.ts";

test("a halt is stored with its reason, and says how it ends", async () => {
  const { run, json, inStore } = await storeProject();
  const { code, stdout } = await run("halt", "scout", "--reason", "wrong prices");
  expect([code, stdout]).toEqual([0, "halted: scout does not write\nretinue halt scout --lift ends it\n"]);
  expect(await json("halt")).toEqual({
    code: 0,
    said: expect.objectContaining({ ok: true, message: "halted: no specialist writes", inFlight: [] }) as object,
  });
  expect((await inStore((store) => store.stops())).halts.map(({ scope }) => scope).toSorted()).toEqual([EVERYONE, "scout"]);
});

test("--lift ends it, and names what stays", async () => {
  const { run, inStore } = await storeProject((store, now) => store.stop("halt", "scout", "x", now));
  expect((await run("halt", "--lift")).stdout).toBe("everyone was not halted; still halted: scout (retinue halt scout --lift)\n");
  expect((await run("halt", "scout", "--lift")).stdout).toBe("scout may write again\n");
  expect((await inStore((store) => store.stops())).halts).toEqual([]);
});

test("a mistake elsewhere in the settings does not keep the kill switch from working", async () => {
  const { run } = await storeProject(undefined, { env: { RETINUE_SET: "c", RETINUE_CONSOLE_PORT: "none" } });
  expect(await run("halt")).toMatchObject({ code: 0, stderr: "" });
});
