/** `retinue settle` takes one verdict on an action in doubt, and refuses what there is nothing to decide of. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import type { Store } from "../../src/store/store.ts";
import { decide } from "../harness/builders.ts";
import { errorOf, storeProject } from "../harness/store-project.ts";

const AGENTS = { files: { "agents/scout.yaml": "handle: scout\nmay: [posts.create]\n" } };

async function parked(store: Store, now: number): Promise<void> {
  for (const id of ["i1", "i2", "i3"]) await decide(store, now, [{ id: asIntentId(id), conflictKey: id }]);
  for (const id of ["i1", "i2"]) {
    const intent = await store.findIntent(id);
    const change = { state: "parked", code: "absence_unprovable", message: "x", everUnknown: true } as const;
    await store.moveIntent({ seq: intent?.seq ?? 0, by: "outbox", change, now });
  }
}

test("a verdict is taken once, with the id of what came to be", async () => {
  const { run, json, inStore } = await storeProject(parked, AGENTS);
  expect(await run("settle", "i1", "--happened", "--created", "post_91")).toMatchObject({
    code: 0,
    stdout: "posts.create of scout is confirmed\n",
  });
  expect(await inStore((store) => store.findIntent("i1"))).toMatchObject({ state: "confirmed", createdRef: "post_91" });
  const { code, said } = await json("settle", "i1", "--give-up");
  expect([code, errorOf(said)["code"]]).toEqual([1, "not_in_doubt"]);
  expect(await run("settle", "i2", "--give-up")).toMatchObject({ code: 0, stdout: "posts.create of scout is cancelled\n" });
});

test.each([
  [["i1", "--happened", "--did-not"], 2, "verdict_missing"],
  [["i1"], 2, "verdict_missing"],
  [["i3", "--happened"], 1, "not_in_doubt"],
  [["i9", "--happened"], 1, "nothing_found"],
])("%j is refused", async (args, exit, error) => {
  const { json } = await storeProject(parked, AGENTS);
  const { code, said } = await json("settle", ...args);
  expect([code, errorOf(said)["code"]]).toEqual([exit, error]);
});
