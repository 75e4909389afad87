/** `retinue unfreeze` needs a reason for the record, and says what was frozen. */
import { expect, test } from "vitest";
import { storeProject } from "../harness/store-project.ts";

test.each([[[]], [["--reason", ""]], [["--reason", "   "]]])("without a reason nothing is asked of the store: %j", async (args) => {
  const { run } = await storeProject();
  expect(await run("unfreeze", "scout", ...args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--reason '<what you found>'") as string,
  });
});

test("an account that was not frozen is no failure, by either name of the command", async () => {
  const { run } = await storeProject();
  expect(await run("unfreeze", "scout", "--reason", "looked at it")).toMatchObject({ code: 0, stdout: "scout was not frozen\n" });
  expect(await run("thaw", "--reason", "looked at it")).toMatchObject({ code: 0, stdout: "the shared account was not frozen\n" });
});

test("a mistyped handle is a mistake", async () => {
  const { run } = await storeProject();
  expect(await run("unfreeze", "scuot", "--reason", "x")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "scout"?') as string,
  });
});
