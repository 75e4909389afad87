/** A recording holds an event as it happened, and what its specialist knows now. Real store. */
import { expect, onTestFinished, test } from "vitest";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { recordEvent } from "../../src/guardian/recording.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const SCOUT = asHandle("scout");
const PAYLOAD = { kind: "post", id: "p1", content: "hello", raw: {} };

/** A store in which these specialists have the same event. */
async function storeWith(...handles: readonly string[]) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  onTestFinished(() => clock.run(store.close()));
  const id = asEventId("post.created:p1");
  const events = handles.map(
    (handle) => ({ specialist: asHandle(handle), id, kind: "post.created", payload: PAYLOAD, via: "poll", hops: 0 }) as const,
  );
  await clock.run(store.putEvents({ events }, clock.now()));
  return { clock, store };
}

test("an event is recorded with its payload and its time", async () => {
  const { clock, store } = await storeWith("scout");
  expect(await clock.run(recordEvent(store, "post.created:p1", undefined))).toEqual({
    recording: 1,
    handle: "scout",
    event: { id: "post.created:p1", kind: "post.created", at: Date.UTC(2026, 10, 21), payload: PAYLOAD },
  });
});

test("the account and the value of the specialist are those of now, also once the event is handled", async () => {
  const { clock, store } = await storeWith("scout");
  const [event] = store.claimEvents(SCOUT, clock.now(), 1);
  const caps = { repliesPerThread: 1, repliesPerAuthorPerHour: 1, repliesPerHour: 1, sameTextWithinMs: 0, hops: 1 };
  const nothing = () => undefined;
  store.finishRun({
    seq: event?.seq ?? 0,
    specialist: SCOUT,
    now: clock.now(),
    state: { seen: 1 },
    intents: [],
    caps,
    brake: nothing,
    report: nothing,
  });
  await clock.run(store.saveAccount(SCOUT, "agent_7", clock.now()));
  expect(await clock.run(recordEvent(store, "post.created:p1", "scout"))).toMatchObject({ account: "agent_7", state: { seen: 1 } });
});

test("an event of several specialists is recorded for the one that is named, and none is guessed", async () => {
  const { clock, store } = await storeWith("scout", "quill");
  await expect(clock.run(recordEvent(store, "post.created:p1", undefined))).rejects.toMatchObject({
    code: "nothing_found",
    details: { hint: "name one with --as" },
  });
  expect(await clock.run(recordEvent(store, "post.created:p1", "quill"))).toMatchObject({ handle: "quill" });
});

test("an event that is not stored is none", async () => {
  const { clock, store } = await storeWith("scout");
  await expect(clock.run(recordEvent(store, "post.created:p2", undefined))).rejects.toMatchObject({ code: "nothing_found" });
  await expect(clock.run(recordEvent(store, "post.created:p1", "quill"))).rejects.toThrow("of quill");
});
