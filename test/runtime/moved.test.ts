/** A store that is used on another network than before. */
import { expect, test } from "vitest";
import type { EndpointSet } from "../../src/contract/operations.ts";
import { shippedProfile } from "../../src/contract/profile.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { BASE_URL, virtualRuntime } from "./virtual-runtime.ts";

test("is told of once, by both addresses, and not where it is the same one", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(1);
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const log: LogLine[] = [];
  const live = async (set: EndpointSet): Promise<readonly string[]> => {
    const runtime = virtualRuntime({
      specialists: [],
      profile: shippedProfile(set),
      store,
      transport: async () => ({ kind: "never-left", reason: "nobody is asked" }),
      keyOf: () => undefined,
      log: createLogger({ level: "warn", now: () => clock.now(), sink: (line) => void log.push(line) }),
      clock,
      random,
    });
    await clock.run(runtime.start());
    await clock.run(runtime.stop());
    return log.splice(0).map(({ message }) => message);
  };
  expect(await live("b")).toEqual([]);
  expect(await live("b")).toEqual([]);
  expect(await live("a")).toEqual([`the store was used on ${BASE_URL.b} before, and is used on ${BASE_URL.a} now`]);
  expect(await live("a")).toEqual([]);
  await clock.run(store.close());
});
