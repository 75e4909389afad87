/** An object of the network: everything known of it here, the watch first, and nothing for an object that nobody met. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { MINUTE } from "../../src/core/units.ts";
import { explainObject } from "../../src/guardian/explain-object.ts";
import type { Explanation } from "../../src/guardian/explanation.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import { newWatch } from "../../src/store/sources.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT } from "../harness/guardian-desk.ts";

const named = async ({ id, createdAt }: Intent): Promise<Explanation> => ({
  id,
  about: "intent",
  handle: "scout",
  what: "x",
  state: "ready",
  since: createdAt,
  reasons: [],
});

test("events about it, actions on it and its watch are found, under the watch's state", async () => {
  const { clock, store, on, event } = desk();
  const began = clock.now();
  await event("job.listed:j1", { kind: "job.listed", payload: { id: "j1" } });
  await on(decide(store, clock.now(), [{ id: asIntentId("i1"), operation: "jobs.apply", target: "j1" }]));
  await clock.advance(MINUTE);
  const watch = { specialist: SCOUT, kind: "job", object: "j1", ...newWatch("job", clock.now()), dueAt: clock.now() + MINUTE } as const;
  await on(store.putEvents({ events: [], watches: [watch] }, clock.now()));
  const found = await on(explainObject({ store, clock }, "j1", named));
  expect(found).toMatchObject({ id: "j1", about: "object", what: "job", state: "applied", since: began });
  expect(found?.found?.map(({ about }) => about).toSorted()).toEqual(["event", "intent", "watch"]);
  expect(found?.found?.find(({ about }) => about === "watch")?.reasons).toEqual([
    { rule: "followed", message: "it is followed, and checked again", until: clock.now() + MINUTE },
  ]);
});

test("an object that nothing is about is not known", async () => {
  const { clock, store, on, event } = desk();
  await event("post.created:p1", { payload: { id: "p1" } });
  expect(await on(explainObject({ store, clock }, "p9", named))).toBeUndefined();
});
