/** What waits for money is asked for again when a window ends or money comes back, and costs nothing until then. */
import { expect, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { sleep } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { credits, DAY, HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { virtualPacer } from "../../../src/limits/pacing.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { virtualRuntime } from "../../harness/virtual-runtime.ts";
import type { ScheduleDefinition } from "../../../src/specialist/definition.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { plainLink } from "../../harness/plain-transport.ts";

const CAP = 3;
const WANTED = 20;
const REFUSAL = JSON.stringify({ error: { code: "invalid", message: "not this one" } });

/**
 * A specialist that wants to post much more than it may spend in a day, at ten past midnight, in one run or in as many runs
 * as posts. Every post costs a credit.
 */
async function spendthrift(runs: 1 | typeof WANTED, refuse: (post: number) => boolean = () => false) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(5);
  const network = createLocalNetwork({ clock, random, residents: false });
  const { key } = network.provision({ handle: "scout", tier: "free" });
  let posts = 0;
  const link = plainLink(network, "b");
  const transport: Transport = async (request) => {
    await sleep(clock, SECOND); // until an answer comes its money is held
    if (request.method === "POST" && refuse(++posts)) return { kind: "answer", status: 422, headers: {}, text: REFUSAL, elapsedMs: 1 };
    return link(request);
  };
  const scout = createSpecialist({
    handle: "scout",
    may: ["posts.create"],
    spend: { perDay: credits(CAP) },
    schedules: Object.fromEntries(
      Array.from({ length: runs }, (_, run) => [
        `boast${run}`,
        {
          cron: "10 0 21 11 *",
          run: (act) => {
            for (let i = 0; i < WANTED / runs; i++) act.post(`boast ${run} ${i}`);
          },
        } satisfies ScheduleDefinition,
      ]),
    ),
  });
  const calls = new Map<string, number>();
  const runtime = virtualRuntime({
    specialists: [scout],
    profile: resolveProfile({ extends: "set-b", operations: { "posts.create": { price: credits(1) } } }),
    store: counted(openSqliteStore({ path: ":memory:", clock, random }), calls),
    transport,
    keyOf: () => key,
    pacer: virtualPacer(clock, { concurrency: 2 * WANTED, spacingMs: 0 }),
    clock,
    random,
  });
  network.start();
  await clock.run(runtime.start());
  return {
    clock,
    calls,
    posted: () => network.truth.effects({ agent: "scout", operation: "posts.create" }).length,
    asked: () => posts,
    async stop() {
      await clock.run(runtime.stop());
      await network.stop();
    },
  };
}

/** The same store, with its operations counted by name. */
function counted(store: Store, calls: Map<string, number>): Store {
  return new Proxy(store, {
    get(target, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== "function") return operation;
      return (...args: unknown[]): unknown => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return Reflect.apply(operation, target, args);
      };
    },
  });
}

test.each([1, WANTED] as const)("what waits for a spending window, of %i runs, is left alone until the window ends", async (runs) => {
  const { clock, calls, posted, stop } = await spendthrift(runs);
  await clock.advance(HOUR);
  expect(posted()).toBe(CAP);
  calls.clear();
  await clock.advance(12 * HOUR);
  expect(posted()).toBe(CAP);
  expect([calls.get("admit") ?? 0, calls.get("moveIntent") ?? 0, calls.get("dueIntents") ?? 0]).toEqual([0, 0, 0]);
  await clock.advance(DAY);
  expect(posted()).toBe(2 * CAP);
  await stop();
});

test("money that comes back is spent at once", async () => {
  const { clock, posted, asked, stop } = await spendthrift(WANTED, (post) => post <= CAP);
  await clock.advance(11 * MINUTE);
  expect([asked(), posted()]).toEqual([2 * CAP, CAP]);
  await stop();
});
