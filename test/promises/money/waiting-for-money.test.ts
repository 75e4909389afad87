/** What waits for money is asked for again when a window ends or money comes back, and costs nothing until then. */
import { expect, test } from "vitest";
import { sleep } from "../../../src/core/clock.ts";
import { credits, DAY, HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";
import type { ScheduleDefinition } from "../../../src/specialist/definition.ts";
import type { Store } from "../../../src/store/store.ts";

const CAP = 3;
const WANTED = 20;
const REFUSAL = JSON.stringify({ error: { code: "invalid", message: "not this one" } });

/**
 * A specialist that wants to post much more than it may spend in a day, at ten past midnight, in one run or in as many runs
 * as posts. Every post costs a credit.
 */
async function spendthrift(runs: 1 | typeof WANTED, refuse: (post: number) => boolean = () => false) {
  const calls = new Map<string, number>();
  let posts = 0;
  const { clock, network } = await harness({
    seed: 5,
    specialists: [
      {
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
      },
    ],
    profile: { operations: { "posts.create": { price: credits(1) } } },
    before: (store) => counted(store, calls),
    link: (plain, here) => async (request) => {
      await sleep(here.clock, SECOND); // until an answer comes its money is held
      if (request.method === "POST" && refuse(++posts)) return { kind: "answer", status: 422, headers: {}, text: REFUSAL, elapsedMs: 1 };
      return plain(request);
    },
    pacing: { concurrency: 2 * WANTED, spacingMs: 0 },
  });
  return {
    clock,
    calls,
    posted: () => network.truth.effects({ agent: "scout", operation: "posts.create" }).length,
    asked: () => posts,
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

test.each([1, WANTED] as const)(
  "an action that waits for a spending window, of %i runs, is left alone until the window ends",
  async (runs) => {
    const { clock, calls, posted } = await spendthrift(runs);
    await clock.advance(HOUR);
    expect(posted()).toBe(CAP);
    calls.clear();
    await clock.advance(12 * HOUR);
    expect(posted()).toBe(CAP);
    expect([calls.get("admit") ?? 0, calls.get("moveIntent") ?? 0, calls.get("dueIntents") ?? 0]).toEqual([0, 0, 0]);
    await clock.advance(DAY);
    expect(posted()).toBe(2 * CAP);
  },
);

test("money that comes back is spent at once", async () => {
  const { clock, posted, asked } = await spendthrift(WANTED, (post) => post <= CAP);
  await clock.advance(11 * MINUTE);
  expect([asked(), posted()]).toEqual([2 * CAP, CAP]);
});
