/** Handlings at once: a slow kind holds up no other, within its number, and state keeps its one writer. Real runtime and rows, virtual time. */
import { expect, onTestFinished, test } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { sleep } from "../../src/core/clock.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../harness/harness.ts";

const SCOUT = asHandle("scout");
const THINKS_MS = 20 * SECOND;

/** A specialist whose `post.created` thinks for 20 s, and whose mentions are answered at once. Times are in seconds after the start. */
async function thinking(definition: Partial<SpecialistDefinition>, writes = false) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom("thinking");
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const start = clock.now();
  const said: string[] = [];
  const say = (what: string): void => void said.push(`${(clock.now() - start) / SECOND} ${what}`);
  const specialist = createSpecialist({
    handle: SCOUT,
    id: "agt_1",
    tier: "pro",
    watch: { feed: false, mentions: false, threads: false },
    deadline: "2m",
    on: {
      "post.created": async ({ id }, act) => {
        say(`begins ${id}`);
        await sleep(clock, THINKS_MS);
        if (writes) act.state = { id };
        say(`ends ${id}`);
      },
      "mention.created": ({ id }, act) => {
        act.state = { mentions: Number(act.state["mentions"] ?? 0) + 1 };
        say(`mention ${id}`);
      },
    },
    ...definition,
  });
  const transport: Transport = () =>
    Promise.resolve({ kind: "answer", status: 200, headers: { "content-type": "application/json" }, text: "[]", elapsedMs: 1 });
  const runtime = virtualRuntime({ specialists: [specialist], store, transport, keyOf: () => "sk_live_0123456789abcdef", clock, random });
  await clock.run(runtime.start());
  const put = async (...ids: readonly string[]) => {
    await clock.run(
      store.putEvents(
        {
          events: ids.map((id) => ({
            specialist: SCOUT,
            id: asEventId(id),
            kind: id.startsWith("m") ? "mention.created" : "post.created",
            payload: { kind: "post", id },
            via: "poll" as const,
            hops: 0,
          })),
        },
        clock.now(),
      ),
    );
    const member = runtime.member(SCOUT);
    if (member !== undefined) runtime.parts.wake(member, "events");
  };
  onTestFinished(async () => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
  });
  return { clock, said, runtime, store, put };
}

const begun = (said: readonly string[], at: string): string[] => said.filter((line) => line.startsWith(`${at} begins`));

test("a kind that thinks for 20 s holds up no mention, and at most its number of handlings run at once", async () => {
  const { clock, said, put, store } = await thinking({ concurrency: { "post.created": 3 } });
  await put("p1", "p2", "p3", "p4", "p5", "m1", "m2");
  await clock.advance(SECOND);
  expect(said.filter((line) => line.includes("mention"))).toEqual(["0 mention m1", "0 mention m2"]);
  expect(begun(said, "0")).toEqual(["0 begins p1", "0 begins p2", "0 begins p3"]);
  await clock.advance(THINKS_MS);
  expect(begun(said, "20")).toEqual(["20 begins p4", "20 begins p5"]);
  await clock.advance(THINKS_MS);
  expect(said.filter((line) => line.includes("ends"))).toHaveLength(5);
  expect(store.loadState(SCOUT)).toEqual({ mentions: 2 });
});

test("a backlog of a slow kind holds up no mention that comes later", async () => {
  const { clock, said, put } = await thinking({ concurrency: { "post.created": 2 } });
  await put(...Array.from({ length: 100 }, (_, i) => `p${i}`));
  await clock.advance(SECOND);
  await put("m1");
  await clock.advance(SECOND);
  expect(said.filter((line) => line.includes("mention"))).toEqual(["1 mention m1"]);
});

test("without it, all handlings run one after the other, and a number alone holds for every kind", async () => {
  const one = await thinking({});
  await one.put("p1", "m1");
  await one.clock.advance(30 * SECOND);
  expect(one.said).toEqual(["0 begins p1", "20 ends p1", "20 mention m1"]);
  const many = await thinking({ concurrency: 4 });
  await many.put("p1", "p2", "m1");
  await many.clock.advance(SECOND);
  expect(begun(many.said, "0")).toHaveLength(2);
  expect(await many.clock.run(many.store.parkedEvents(SCOUT, 10))).toMatchObject([
    { id: "m1", note: expect.stringContaining("wrote act.state") as string },
  ]);
});

test("a handling beside others may read state and not write it", async () => {
  const { clock, put, store } = await thinking({ concurrency: { "post.created": 2 } }, true);
  await put("p1", "p2");
  await clock.advance(MINUTE);
  const parked = await clock.run(store.parkedEvents(SCOUT, 10));
  expect(parked.map(({ id }) => id).toSorted()).toEqual(["p1", "p2"]);
  expect(parked[0]?.note).toContain("a handler of post.created wrote act.state, and concurrency lets several of them run at once");
  expect(store.loadState(SCOUT)).toEqual({});
});

test("a stop waits for handlings that run beside others", async () => {
  const { clock, said, put, runtime } = await thinking({ concurrency: { "post.created": 2 } });
  await put("p1", "p2", "p3");
  await clock.advance(SECOND);
  await clock.run(runtime.stop());
  expect(said.filter((line) => line.includes("ends"))).toEqual(["20 ends p1", "20 ends p2"]);
  expect(said.some((line) => line.includes("p3"))).toBe(false);
});
