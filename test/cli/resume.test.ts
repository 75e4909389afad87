/** `retinue resume` ends one pause, and names those that stay. */
import { expect, test } from "vitest";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { storeProject } from "../harness/store-project.ts";

test("a pause of one's own ends, that of everyone stays and is named", async () => {
  const { run, inStore } = await storeProject(async (store, now) => {
    for (const scope of ["scout", EVERYONE]) await store.stop("pause", scope, "rest", now);
  });
  expect((await run("resume", "scout")).stdout).toBe(
    "scout is no longer paused by its own name; still paused: everyone (retinue resume)\n",
  );
  expect((await run("resume")).stdout).toBe("everyone goes on\n");
  expect((await inStore((store) => store.stops())).pauses).toEqual([]);
});

test("the end of what was not paused is no failure, a mistyped handle is one", async () => {
  const { run } = await storeProject();
  expect(await run("resume", "scout")).toMatchObject({ code: 0, stdout: "scout was not paused\n" });
  expect(await run("resume", "scuot")).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "scout"?') as string });
});
