/** The inbox of one specialist: its newest events with their states and payloads, within bounds. */
import { expect, test } from "vitest";
import { readInbox } from "../../src/guardian/inbox-entries.ts";
import { desk } from "../harness/guardian-over-store.ts";

test("the newest events come first, each with its state and payload", async () => {
  const { store, on, event } = desk();
  await event("e1", { payload: { id: "p1" } });
  await event("e2", { payload: { id: "p2" } });
  expect(await on(readInbox(store, { handle: "scout", limit: 10 }))).toMatchObject([
    { id: "e2", kind: "post.created", state: "ready", payload: { id: "p2" } },
    { id: "e1", payload: { id: "p1" } },
  ]);
  expect(await on(readInbox(store, { handle: "scout", limit: 0 }))).toHaveLength(1);
});

test("payloads that are long together are left to the next look", async () => {
  const { store, on, event } = desk();
  for (const id of ["e1", "e2", "e3"]) await event(id, { payload: { content: "x".repeat(90_000) } });
  expect((await on(readInbox(store, { handle: "scout", limit: 10 }))).map(({ id }) => id)).toEqual(["e3", "e2"]);
});
