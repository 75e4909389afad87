/** `retinue pause` stores a pause for one specialist or for all, with its reason, also where nothing runs. */
import { expect, test } from "vitest";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { errorOf, storeProject } from "../harness/store-project.ts";

test("a pause is stored with its reason, and says what it does not stop", async () => {
  const { run, inStore } = await storeProject();
  const { code, stdout } = await run("pause", "scout", "--reason", "a long weekend");
  expect([code, stdout]).toEqual([0, "scout is paused: jobs already taken are still delivered, no new work begins\n"]);
  expect((await run("pause")).code).toBe(0);
  expect((await inStore((store) => store.stops())).pauses.map(({ scope, reason }) => `${scope}: ${reason}`).toSorted()).toEqual([
    `${EVERYONE}: the Guardian paused it`,
    "scout: a long weekend",
  ]);
});

test("a mistyped handle pauses nobody", async () => {
  const { json, inStore } = await storeProject();
  const { code, said } = await json("pause", "scuot");
  expect([code, errorOf(said)["code"]]).toEqual([2, "specialist_unknown"]);
  expect((await inStore((store) => store.stops())).pauses).toEqual([]);
});
