/** Actions that pile up while nothing may be sent: all are kept, only the newest, or none beside the first. Real runtime, virtual time. */
import { expect, onTestFinished, test } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createGuardian } from "../../src/guardian/guardian.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../harness/harness.ts";

type Schedule = NonNullable<SpecialistDefinition["schedules"]>[string];

/** Hourly posts of a specialist that is paused for three and a half hours, and those that the network got after the end of the pause. */
async function piling(schedule: Partial<Schedule>, more: SpecialistDefinition["schedules"] = {}) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom("piling");
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const start = clock.now();
  const hour = (at: number): string => `hour ${Math.round((at - start) / HOUR)}`;
  const sent: string[] = [];
  const ended: string[] = [];
  const transport: Transport = ({ method, body }) => {
    if (method === "POST") sent.push(String(JSON.parse(body ?? "{}").content));
    const text = method === "POST" ? JSON.stringify({ id: `p${sent.length}`, content: sent.at(-1) }) : "[]";
    return Promise.resolve({ kind: "answer", status: 200, headers: { "content-type": "application/json" }, text, elapsedMs: 1 });
  };
  const hourly = { every: "1h", run: (act) => void act.post(hour(act.now)), ...schedule } satisfies Schedule;
  const specialist = createSpecialist({
    handle: "scout",
    id: "agt_1",
    tier: "pro",
    may: ["posts.create"],
    schedules: { hourly, ...more },
  });
  const runtime = virtualRuntime({ specialists: [specialist], store, transport, keyOf: () => "sk_live_0123456789abcdef", clock, random });
  runtime.announcer.on("intent", ({ code }) => void (code !== undefined && ended.push(code)));
  onTestFinished(async () => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
  });
  await clock.run(runtime.start());
  const guardian = createGuardian({ store, clock, live: { runtime, startedAt: start, baseUrl: "" } });
  await clock.run(guardian.pause({ handle: "scout" }));
  await clock.advance(3.5 * HOUR);
  expect(sent).toEqual([]);
  await clock.run(guardian.resume({ handle: "scout" }));
  await clock.advance(10 * SECOND);
  return { sent: sent.toSorted(), ended };
}

test.each<[string, Partial<Schedule>, readonly string[], readonly string[]]>([
  ["all are sent by default", {}, ["hour 1", "hour 2", "hour 3"], []],
  ["only the newest", { onPileUp: "newest" }, ["hour 3"], ["superseded", "superseded"]],
  ["only the first", { onPileUp: "drop" }, ["hour 1"], ["piled_up", "piled_up"]],
  ["none that is too old", { expiresIn: "1h" }, ["hour 3"], ["expired", "expired"]],
  [
    "an action's own word counts before that of its schedule",
    { onPileUp: "newest", run: (act) => void act.post(`said at ${act.now}`, { onPileUp: "keep" }) },
    [expect.any(String) as string, expect.any(String) as string, expect.any(String) as string],
    [],
  ],
])("%s", async (_what, schedule, expected, codes) => {
  expect(await piling(schedule)).toEqual({ sent: expected, ended: codes });
});

test("actions of another kind are left alone: another key, another operation", async () => {
  const { sent } = await piling(
    { onPileUp: "newest" },
    { other: { every: "3h", run: (act) => void act.post("other", { key: "other", onPileUp: "newest" }) } },
  );
  expect(sent).toEqual(["hour 3", "other"]);
});
