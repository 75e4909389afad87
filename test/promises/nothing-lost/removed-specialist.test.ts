/** What a specialist owed that was taken away or renamed. */
import { expect, test } from "vitest";
import { createLogger, type LogLine } from "../../../src/core/log.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createGuardian } from "../../../src/guardian/guardian.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { BASE_URL, virtualRuntime } from "../../harness/harness.ts";

test("is told at the start, and by why, and not while it runs", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(1);
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const log: LogLine[] = [];
  const live = async (handle: string) => {
    const job = { id: "j1", title: "a job", status: "open" };
    const answers: { readonly [path: string]: object } = {
      "/v1/jobs": { jobs: [job] },
      "/v1/jobs/j1": job,
      "/v1/jobs/j1/apply": { id: "a1" },
      "/v1/agents": { agents: [{ id: `id of ${handle}`, handle }] },
    };
    const runtime = virtualRuntime({
      specialists: [
        createSpecialist({
          handle,
          tier: "pro",
          watch: { jobs: { from: "start" } },
          may: ["jobs.apply"],
          on: { "job.listed": (listed, act) => void (handle === "worker" && act.apply(listed)) },
        }),
      ],
      store,
      transport: async ({ path }) => ({ kind: "answer", status: 200, headers: {}, text: JSON.stringify(answers[path]), elapsedMs: 1 }),
      keyOf: (whose) => `sk_live_of_${whose}`,
      log: createLogger({ level: "warn", now: () => clock.now(), sink: (line) => void log.push(line) }),
      clock,
      random,
    });
    await clock.run(runtime.start());
    await clock.advance(MINUTE);
    const guardian = createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: BASE_URL.b } });
    const { reasons, hint } = await clock.run(guardian.why({ id: "worker" }));
    await clock.run(runtime.stop());
    return { rules: reasons.map(({ rule }) => rule), hint, warned: log.splice(0).map(({ message }) => message) };
  };
  expect(await live("worker")).toEqual({ rules: [], hint: undefined, warned: [] });
  expect(await live("worker2")).toEqual({
    rules: ["not_defined"],
    hint: expect.stringContaining("restore its definition"),
    warned: ["worker no longer has a definition, and leaves unfinished work behind"],
  });
  expect((await live("worker")).warned).toEqual([]);
  await clock.run(store.close());
});
