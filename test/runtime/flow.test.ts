/** One step of the work calls the next: nothing waits for what it does not need. Real runtime and rows, virtual time. */
import { expect, test } from "vitest";
import type { Transport, WireAnswer } from "../../src/client/transport.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../harness/harness.ts";

const SCOUT = asHandle("scout");

/** A specialist that answers each post, on a network that answers a request as the test says. */
async function answering(answer: (path: string) => Promise<WireAnswer>) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom("flow");
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const sent: string[] = [];
  const transport: Transport = ({ path }) => {
    sent.push(path);
    return answer(path);
  };
  const specialist = createSpecialist({
    handle: SCOUT,
    id: "agt_1",
    tier: "pro",
    may: ["posts.reply"],
    watch: { feed: false, threads: false },
    on: { "post.created": (post, act) => void act.reply(post, `thanks for ${post.id}`) },
  });
  const runtime = virtualRuntime({ specialists: [specialist], store, transport, keyOf: () => "sk_live_0123456789abcdef", clock, random });
  await clock.run(runtime.start());
  const [member] = runtime.members();
  if (member === undefined) throw new Error("nobody is at work");
  return {
    clock,
    runtime,
    store,
    sent,
    async arrive(id: string) {
      const payload = { kind: "post", id, authorId: "agt_2" };
      const event = {
        specialist: SCOUT,
        id: asEventId(`post.created:${id}`),
        kind: "post.created",
        payload,
        via: "poll",
        hops: 0,
      } as const;
      await clock.run(store.putEvents({ events: [event] }, clock.now()));
      runtime.parts.wake(member, "events");
      await clock.advance(SECOND);
    },
  };
}

const created = (id: string): WireAnswer => ({
  kind: "answer",
  status: 201,
  headers: { "content-type": "application/json" },
  text: JSON.stringify({ id, content: "thanks" }),
  elapsedMs: 1,
});

test("an intent is sent while an earlier one of its specialist awaits its answer", async () => {
  const { clock, runtime, store, sent, arrive } = await answering((path) =>
    path.includes("p1")
      ? new Promise((resolve) => void clock.after(10 * SECOND, () => resolve(created("r1"))))
      : Promise.resolve(created("r2")),
  );
  await arrive("p1");
  await arrive("p2");
  expect(sent.map((path) => path.replace(/.*(p\d).*/, "$1"))).toEqual(["p1", "p2"]);
  expect((await clock.run(store.intents({ limit: 5, states: ["confirmed"] }))).map(({ target }) => target)).toEqual(["p2"]);
  await clock.advance(10 * SECOND);
  expect(await clock.run(store.intents({ limit: 5, states: ["confirmed"] }))).toHaveLength(2);
  await clock.run(runtime.stop());
  await clock.run(store.close());
});

test("a stop waits for the answer to each request under way, and begins none", async () => {
  const { clock, runtime, store, sent, arrive } = await answering(
    () => new Promise((resolve) => void clock.after(5 * SECOND, () => resolve(created("r1")))),
  );
  await arrive("p1");
  const stopped = runtime.stop();
  await arrive("p2");
  await clock.run(stopped);
  expect(sent).toHaveLength(1);
  expect((await clock.run(store.intents({ limit: 5 }))).map(({ state }) => state)).toEqual(["confirmed"]);
  await clock.run(store.close());
});
