/** A run that is cut short: at its deadline, when the runtime ends, and what its signal says of it whenever it is asked for. */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { asEventId, asHandle, newIntentId } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { operationRules } from "../../src/gateway/permissions.ts";
import type { Act } from "../../src/specialist/act.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import { runHandler, RunInterrupted } from "../../src/specialist/run.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

function lab() {
  const clock = virtualClock();
  const ending = new AbortController();
  const specialist = createSpecialist({ handle: "scout" });
  const request: RunRequest = {
    event: { id: asEventId("post.created:p1"), kind: "post.created", payload: {}, hops: 0, beganAt: clock.now() },
    steps: new Map(),
    me: { handle: asHandle("scout"), id: "agt_1" },
    state: {},
    rules: operationRules(specialist, shippedProfile("b"), clock),
    deadlineMs: 5 * SECOND,
    read: () => Promise.reject(new Error("nothing to read")),
    saveStep: () => Promise.resolve(),
    newIntentId: () => newIntentId(seededRandom("ids")),
    fetch: () => Promise.reject(new Error("nothing to fetch")),
    clock,
    log: silentLogger(),
    signal: ending.signal,
  };
  return { clock, ending, request };
}

const never = (): Promise<never> => new Promise(() => undefined);

/** A handler that never ends and keeps what it was given; `asks` says whether it wants its signal before that. */
function hanging(asks: boolean) {
  const kept: { act?: Act; aborted: boolean } = { aborted: false };
  const handler = (_payload: never, act: Act): Promise<never> => {
    kept.act = act;
    if (asks) act.signal.addEventListener("abort", () => void (kept.aborted = true));
    return never();
  };
  return { kept, handler };
}

describe.each([{ asks: true }, { asks: false }])("a handler that asks for its signal while it runs: $asks", ({ asks }) => {
  test("is cut short at its deadline", async () => {
    const { clock, request } = lab();
    const { kept, handler } = hanging(asks);
    const running = runHandler(handler, request);
    await clock.advance(5 * SECOND - 1);
    expect(kept.aborted).toBe(false);
    await clock.advance(1);
    expect(await running).toMatchObject({ kind: "failed", error: { code: "run_deadline" } });
    expect(kept.aborted).toBe(asks);
    expect(kept.act?.signal.aborted).toBe(true);
    expect(kept.act?.signal.reason).toBeInstanceOf(RunInterrupted);
  });

  test("is cut short when the runtime ends, for the runtime's reason", async () => {
    const { ending, request } = lab();
    const { kept, handler } = hanging(asks);
    const running = runHandler(handler, request);
    ending.abort("enough");
    expect(await running).toMatchObject({ kind: "failed", error: { code: "run_stopped" } });
    expect(kept.act?.signal.reason).toBe("enough");
  });

  test("leaves no timer behind when it ends by itself, and its signal is over", async () => {
    const { clock, request } = lab();
    let signal: AbortSignal | undefined;
    const act: { kept?: Act } = {};
    const result = await runHandler((_payload: never, given: Act) => {
      act.kept = given;
      if (asks) ({ signal } = given);
    }, request);
    expect(result.kind).toBe("finished");
    signal ??= act.kept?.signal;
    expect(signal?.aborted).toBe(true);
    expect(clock.pending()).toBe(0);
  });
});

describe("a handler that returns no promise", () => {
  test("has no deadline and no listener, and its result is there at once", () => {
    const { clock, ending, request } = lab();
    let timers = -1;
    const result = runHandler(() => void (timers = clock.pending()), request);
    expect(result).toEqual({ kind: "finished", intents: [] });
    expect({ timers, after: clock.pending(), listeners: getEventListeners(ending.signal, "abort") }).toEqual({
      timers: 0,
      after: 0,
      listeners: [],
    });
  });

  test("and throws is a failed run, and what it kept of act is closed", () => {
    const { request } = lab();
    const kept: { act?: Act } = {};
    const result = runHandler((_payload: never, act: Act) => {
      kept.act = act;
      throw new Error("broken");
    }, request);
    expect(result).toMatchObject({ kind: "failed", error: { message: "broken" } });
    expect(() => kept.act?.post("too late")).toThrow("act was used after the handler returned");
    expect(kept.act?.signal.reason).toBeInstanceOf(RunInterrupted);
  });
});

test("handlers that wait at one time share one listener for the end of the runtime", async () => {
  const { ending, request } = lab();
  const running = [1, 2, 3].map(async () => runHandler(never, request));
  expect(getEventListeners(ending.signal, "abort")).toHaveLength(1);
  ending.abort("enough");
  for (const result of await Promise.all(running)) expect(result).toMatchObject({ kind: "failed", error: { code: "run_stopped" } });
});

describe("act", () => {
  const voted = { operation: "posts.vote", target: "p1" };
  test.each<readonly [how: string, handler: (act: Act) => void]>([
    ["taken apart", ({ vote, random, step, read }) => void [vote("p1"), random(), step, read.post]],
    ["wrapped by a proxy", (act) => void new Proxy(act, {}).vote("p1")],
    ["inherited from", (act) => void (Object.create(act) as Act).vote("p1")],
  ])("can be %s", async (_how, handler) => {
    const { request } = lab();
    const result = await runHandler((_payload: never, act: Act) => handler(act), request);
    expect(result).toMatchObject({ kind: "finished", intents: [voted] });
  });

  test("decides once on what is decided twice, whatever the order of its input's names", async () => {
    const { request } = lab();
    const result = await runHandler((_payload: never, act: Act) => {
      const first = act.createJob({ title: "t", description: "d", reward: 1 });
      const again = act.createJob({ reward: 1, description: "d", title: "t" });
      expect(again).toEqual(first);
      act.createJob({ title: "t", description: "d", reward: 2 });
      act.createJob({ title: "t", description: "d", reward: 1 }, { key: "another" });
    }, request);
    expect(result).toMatchObject({ kind: "finished", intents: [{ ordinal: 0 }, { ordinal: 1 }, { ordinal: 2, label: "another" }] });
  });

  test("stores a state that was changed in place, and none that was only read", async () => {
    const { request } = lab();
    const counting = { ...request, state: { seen: [1] } };
    const read = await runHandler((_payload: never, act: Act) => void act.state, counting);
    expect(read).toEqual({ kind: "finished", intents: [] });
    const changed = await runHandler((_payload: never, act: Act) => void (act.state["seen"] as number[]).push(2), counting);
    expect(changed).toMatchObject({ state: { seen: [1, 2] } });
  });
});

test("a run that begins when the runtime has ended already is cut short", async () => {
  const { ending, request } = lab();
  ending.abort("enough");
  expect(await runHandler(never, request)).toMatchObject({ kind: "failed", error: { code: "run_stopped" } });
});
