/** An order that comes while a request is being judged is not lost. */
import { expect, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createGuardian, type Guardian } from "../../../src/guardian/guardian.ts";
import { BASE_URL, virtualRuntime } from "../../harness/harness.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

test("a halt that is lifted while a request is told of it holds nothing up", async () => {
  const clock = virtualClock(Date.parse("2026-11-21T00:00:00Z"));
  const random = seededRandom("lifted");
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const hand: { guardian?: Guardian } = {};
  let told = 0;
  const judging: typeof store.admit = async (admit, decide) => {
    const admission = await store.admit(admit, decide);
    if (admission.kind === "wait" && admission.rule === "halted" && told++ === 0) await hand.guardian?.lift({});
    return admission;
  };
  const posted: number[] = [];
  const transport: Transport = async ({ method }) => {
    if (method === "POST") posted.push(clock.now());
    const text = method === "POST" ? '{"id":"post_1","content":"x"}' : "[]";
    return { kind: "answer", status: method === "POST" ? 201 : 200, headers: { "content-type": "application/json" }, text, elapsedMs: 1 };
  };
  const specialist = createSpecialist({
    handle: "scout",
    id: "agt_1",
    tier: "pro",
    may: ["posts.create"],
    schedules: { once: { every: "1h", run: (act) => void act.post("A word") } },
  });
  const runtime = virtualRuntime({
    specialists: [specialist],
    store: { ...store, admit: judging },
    transport,
    keyOf: () => "sk_live_0123456789abcdef",
    clock,
    random,
  });
  const guardian = createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: BASE_URL.b } });
  hand.guardian = guardian;
  await clock.run(runtime.start());
  await clock.run(guardian.halt({}));
  await clock.runUntil(() => told > 0, 7_200 * SECOND);
  expect(posted).toEqual([]);
  await clock.advance(SECOND);
  expect(posted).toHaveLength(1);
  await clock.run(runtime.stop());
  await clock.run(store.close());
});
