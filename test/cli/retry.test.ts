/** `retinue retry` handles again what failed or is parked, and nothing that may have happened. */
import { expect, test } from "vitest";
import { asEventId, asHandle, asIntentId } from "../../src/core/ids.ts";
import type { Store } from "../../src/store/store.ts";
import { decide } from "../harness/builders.ts";
import { errorOf, storeProject } from "../harness/store-project.ts";

const SCOUT = asHandle("scout");

async function parkedEvent(store: Store, now: number): Promise<void> {
  const event = { specialist: SCOUT, id: asEventId("post.created:p1"), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const;
  await store.putEvents({ events: [event] }, now);
  const [claimed] = store.claimEvents(SCOUT, now, 1);
  store.parkEvent(claimed?.seq ?? 0, now, "it crashed three times");
}

test("a parked event is handled again by its id, once", async () => {
  const { run, json } = await storeProject(parkedEvent);
  expect(await run("retry", "post.created:p1")).toMatchObject({ code: 0, stdout: "post.created of scout is handled again\n" });
  const { code, said } = await json("retry", "post.created:p1");
  expect([code, errorOf(said)["code"]]).toEqual([1, "nothing_parked"]);
});

test("an event of another specialist is not meant", async () => {
  const { json } = await storeProject(parkedEvent);
  const { code, said } = await json("retry", "post.created:p1", "--as", "quill");
  expect([code, errorOf(said)["code"]]).toEqual([1, "nothing_parked"]);
});

test("a parked action that may have happened is not sent again", async () => {
  const { run, inStore } = await storeProject(async (store, now) => {
    const [intent] = await decide(store, now, [{ id: asIntentId("i1") }]);
    await store.moveIntent({
      seq: intent?.seq ?? 0,
      by: "outbox",
      change: { state: "parked", code: "absence_unprovable", message: "x", everUnknown: true },
      now,
    });
  });
  expect(await run("retry", "i1")).toMatchObject({ code: 1, stderr: expect.stringContaining("must not happen twice") as string });
  expect((await inStore((store) => store.findIntent("i1")))?.state).toBe("parked");
});
