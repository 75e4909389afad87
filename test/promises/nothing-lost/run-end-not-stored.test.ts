/** A handling whose end cannot be stored holds up nothing: it is tried again, and what was claimed with it goes on. */
import { expect, test } from "vitest";
import { eventId } from "../../../src/contract/event-id.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../../harness/harness.ts";

test("events claimed with one whose end could not be stored are handled without a restart", async () => {
  const clock = virtualClock();
  const random = seededRandom("stranded");
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const event = (n: number) => ({
    specialist: asHandle("scout"),
    id: eventId("post.created", `p${n}`),
    kind: "post.created",
    payload: { id: `p${n}` },
    via: "poll" as const,
    hops: 0,
  });
  await clock.run(store.putEvents({ events: [event(1), event(2), event(3)] }, clock.now()));
  let failures = 1;
  const runtime = virtualRuntime({
    specialists: [createSpecialist({ handle: "scout", id: "agt_1", watch: { feed: false }, on: { "post.created": () => undefined } })],
    store: {
      ...store,
      finishRun(run) {
        if (failures-- > 0) throw new Error("the disk hiccups");
        return store.finishRun(run);
      },
    },
    transport: () => Promise.reject(new Error("nothing is asked")),
    keyOf: () => "sk_live_0123456789abcdef",
    clock,
    random,
  });
  const ended: string[] = [];
  runtime.announcer.on("run", ({ event: id, result }) => void ended.push(`${id} ${result}`));
  await clock.run(runtime.start());
  await clock.advance(MINUTE);
  expect(ended).toEqual([`${event(1).id} failed`, `${event(2).id} finished`, `${event(3).id} finished`, `${event(1).id} finished`]);
  await clock.run(runtime.stop());
  await clock.run(store.close());
});
