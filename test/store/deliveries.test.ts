/** Deliveries in the store: what their bytes alone say is worked on with them, and what has to wait waits where it is bounded. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { NewEvent } from "../../src/contract/event.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MAX_EVENTS_WAITING } from "../../src/store/inbox.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { DeliveryArrival } from "../../src/store/deliveries.ts";

const scout = asHandle("scout");
const body = Buffer.from(`{"type":"post.created"}`);
const event = (n: number): NewEvent => ({
  specialist: scout,
  id: eventId("post.created", `p${n}`),
  kind: "post.created",
  payload: { id: `p${n}` },
  via: "webhook",
  hops: 0,
});

function lab() {
  const clock = systemClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  onTestFinished(() => store.close());
  const told: { readonly fresh: readonly string[]; readonly waits: boolean }[] = [];
  const put = (n: number, plain: DeliveryArrival["plain"]) =>
    store.putDelivery(
      {
        delivery: { specialist: scout, id: `d${n}`, kind: "from a header", scheme: "header", body },
        plain,
        onStored: (fresh, waits) => void told.push({ fresh: fresh.map(({ id }) => id), waits }),
      },
      clock.now(),
    );
  const plain = (n: number) => ({ state: "done", kind: "post.created", events: [event(n)], nudges: [] }) as const;
  return { clock, store, put, plain, told };
}

describe("a delivery", () => {
  test("that says all is worked on with its storing, once", async () => {
    const { clock, store, put, plain, told } = lab();
    const answers = [await put(1, plain(1)), await put(1, plain(1)), await put(2, plain(1))];
    expect(answers).toEqual(["stored", "known", "stored"]);
    expect(told).toEqual([
      { fresh: [event(1).id], waits: false },
      { fresh: [], waits: false }, // the same happening, delivered under another id
    ]);
    expect(await store.dueDeliveries(scout, clock.now(), 10)).toEqual([]);
    expect(await store.deliveryCounts(scout)).toEqual([]);
    const claimed = store.claimEvents(scout, clock.now(), 10);
    expect(claimed.map(({ id }) => id)).toEqual([event(1).id]);
  });

  test("that says too little waits as it came", async () => {
    const { clock, store, put, told } = lab();
    await put(1, undefined);
    expect(told).toEqual([{ fresh: [], waits: true }]);
    const [waiting] = await store.dueDeliveries(scout, clock.now(), 10);
    expect(waiting).toMatchObject({ id: "d1", kind: "from a header", attempts: 0 });
    expect(Buffer.from(waiting?.body ?? []).equals(body)).toBe(true);
  });

  test("that waited ends in the same transaction as its events are stored in", async () => {
    const { clock, store, put } = lab();
    await put(1, undefined);
    const [waiting] = await store.dueDeliveries(scout, clock.now(), 10);
    const end = { seq: waiting?.seq ?? 0, specialist: scout, state: "done", kind: "post.created", events: [event(1)], nudges: [] } as const;
    const ending = store.endDelivery(end, clock.now());
    // Before any commit: a process that dies here leaves the delivery as it was, and otherwise both are there.
    expect(store.claimEvents(scout, clock.now(), 10).map(({ id }) => id)).toEqual([event(1).id]);
    expect((await ending).fresh.map(({ id }) => id)).toEqual([event(1).id]);
  });

  test("waits where too many events of its specialist do, unless it adds none", async () => {
    const { clock, store, put, plain, told } = lab();
    const all = Array.from({ length: MAX_EVENTS_WAITING + 1 }, (_, n) => n);
    await Promise.all(all.map((n) => put(n, plain(n))));
    expect(told.map(({ waits }) => waits)).toEqual(all.map((n) => n === MAX_EVENTS_WAITING));
    expect(await store.hasRoomForEvents(scout)).toBe(false);
    expect(await store.hasRoomForEvents(asHandle("other"))).toBe(true);
    await put(all.length, { state: "done", kind: "job.updated", events: [], nudges: [] });
    expect(told.at(-1)).toEqual({ fresh: [], waits: false });
    store.claimEvents(scout, clock.now(), 1);
    expect(await store.hasRoomForEvents(scout)).toBe(true);
  });
});
