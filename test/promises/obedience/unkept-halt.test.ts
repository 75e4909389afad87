/** P5: a halt that cannot be stored stops every write as well as one that is. */
import { expect, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { Fatal } from "../../../src/core/errors.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { createLogger, type LogLine } from "../../../src/core/log.ts";
import { HOUR, SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createGuardian } from "../../../src/guardian/guardian.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { BASE_URL, virtualRuntime } from "../../harness/harness.ts";

test.each(["scout", undefined])("a halt of %s that the store refuses holds in memory until it is lifted", async (handle) => {
  const clock = virtualClock(Date.parse("2026-11-21T00:00:00Z"));
  const random = seededRandom("unkept");
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const posted: number[] = [];
  const transport: Transport = async ({ method }) => {
    if (method === "POST") posted.push(clock.now());
    const text = method === "POST" ? `{"id":"post_${posted.length}","content":"x"}` : "[]";
    return { kind: "answer", status: method === "POST" ? 201 : 200, headers: { "content-type": "application/json" }, text, elapsedMs: 1 };
  };
  const scout = createSpecialist({
    handle: "scout",
    id: "agt_1",
    tier: "pro",
    may: ["posts.create"],
    schedules: { often: { every: "1m", run: (act) => void act.post(`Note ${act.now}`) } },
  });
  const failing: typeof store.stop = async () => Promise.reject(new Fatal("store_lost", "no room for a row"));
  const lines: LogLine[] = [];
  const runtime = virtualRuntime({
    log: createLogger({ level: "info", now: () => clock.now(), sink: (line) => void lines.push(line) }),
    specialists: [scout],
    store,
    transport,
    keyOf: () => "sk_live_0123456789abcdef",
    clock,
    random,
  });
  const live = { runtime, startedAt: clock.now(), baseUrl: BASE_URL.b };
  const guardian = createGuardian({ store: { ...store, stop: failing }, clock, live });
  await clock.run(runtime.start());
  await clock.runUntil(() => posted.length > 0, HOUR);

  const scope = handle === undefined ? {} : { handle };
  const halted = await clock.run(guardian.halt({ ...scope, reason: "wrong words" }));
  expect(halted).toMatchObject({ notKept: { message: expect.stringContaining("no room for a row") } });
  const then = posted.length;
  await clock.advance(HOUR);
  expect(posted).toHaveLength(then);
  const { halts } = await clock.run(guardian.status({}));
  expect(halts).toMatchObject([{ scope: handle ?? "*", reason: "wrong words", kept: false }]);
  const { reasons } = await clock.run(guardian.why({ id: "scout" }));
  expect(reasons).toContainEqual(expect.objectContaining({ rule: "halted", message: "halted: wrong words" }));

  await clock.run(guardian.lift(scope));
  await clock.advance(2 * 60 * SECOND);
  expect(posted.length).toBeGreaterThan(then);
  expect((await clock.run(guardian.status({}))).halts).toEqual([]);
  const who = handle ?? "everyone";
  expect(lines.map(({ message, fields }) => [message, fields])).toEqual([
    [handle === undefined ? "halted: no specialist writes" : `halted: ${handle} does not write`, { reason: "wrong words" }],
    [`${who} may write again`, {}],
  ]);
  await clock.run(runtime.stop());
  await clock.run(store.close());
});
