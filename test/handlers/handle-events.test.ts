/** What becomes of an event whose handler fails: the class of what it throws decides. Real runtime and rows, virtual time. */
import { describe, expect, test } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { Fatal, Misconfigured, Refused, Retryable } from "../../src/core/errors.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import type { EventPayloads } from "../../src/contract/event-kinds.ts";
import type { Act } from "../../src/specialist/act.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { createGuardian } from "../../src/guardian/guardian.ts";
import { readinessOf } from "../../src/guardian/readiness.ts";
import { virtualRuntime } from "../harness/harness.ts";

const READ_LAG_MS = shippedProfile("b").timing.readLagMs;
const SCOUT = asHandle("scout");
type Payload = EventPayloads["post.created"];
/** `now` is by the clock, where `act.now` stays what it was on the first try. */
type Handler = (post: Payload, act: Act, now: number) => unknown;

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** One event for a specialist with this handler. Runs are told by when they began, in ms after the start. */
async function handling(
  handler: Handler,
  options: { readonly answer?: () => Answer; readonly id?: string | undefined; readonly feed?: boolean } = {},
) {
  const { answer = () => ({ status: 200, body: [] }) } = options;
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom("failing");
  const store = openSqliteStore({ path: ":memory:", clock, random });
  let key = "sk_live_0123456789abcdef";
  let refused = "";
  const began: number[] = [];
  const reads: string[] = [];
  const start = clock.now();
  const transport: Transport = async ({ path }) => {
    reads.push(path);
    const isRefused = key === refused;
    const { status, body } = isRefused ? { status: 401, body: { error: { code: "unauthorized", message: "no such key" } } } : answer();
    return { kind: "answer", status, headers: { "content-type": "application/json" }, text: JSON.stringify(body), elapsedMs: 1 };
  };
  const specialist = createSpecialist({
    handle: SCOUT,
    ...("id" in options ? {} : { id: "agt_1" }),
    tier: "pro",
    may: ["posts.reply", "agents.update"],
    watch: { feed: options.feed ?? false, threads: false },
    on: {
      "post.created": (post, act) => {
        began.push(clock.now() - start);
        return handler(post, act, clock.now());
      },
    },
  });
  const event = {
    specialist: SCOUT,
    id: asEventId("post.created:p1"),
    kind: "post.created",
    payload: { kind: "post", id: "p1" },
    via: "poll",
    hops: 0,
  } as const;
  await clock.run(store.putEvents({ events: [event] }, clock.now()));
  const runtime = virtualRuntime({ specialists: [specialist], store, transport, keyOf: () => key, clock, random });
  await clock.run(runtime.start());
  let running = runtime;
  const guardian = createGuardian({ store, clock, live: { runtime, startedAt: start, baseUrl: "" } });
  return {
    clock,
    began,
    reads,
    store,
    guardian,
    readiness: () => readinessOf(running),
    /** The network refuses the key until there is another one. */
    async newKey() {
      refused = key;
      await clock.advance(10 * MINUTE);
      key = "sk_live_fedcba9876543210";
      await clock.advance(10 * SECOND);
    },
    put: () => clock.run(running.put(specialist)),
    async restart() {
      await clock.run(running.stop());
      running = virtualRuntime({ specialists: [specialist], store, transport, keyOf: () => key, clock, random });
      await clock.run(running.start());
    },
    async event() {
      const [row] = await clock.run(store.findEvents(event.id, 1));
      return { state: row?.state, note: row?.note, attempts: row?.attempts };
    },
    async end() {
      await clock.run(running.stop());
      await clock.run(store.close());
    },
  };
}

const notFound = (): Answer => ({ status: 404, body: { error: { code: "not_found", message: "there is no such post" } } });

describe("an event is parked at once, with the reason,", () => {
  test("when a read of its handler's is refused, and the read is paid once", async () => {
    const { clock, began, reads, event, end } = await handling(async (_post, act) => void (await act.read.post("p9")), {
      answer: () => ({ status: 410, body: { error: { code: "gone", message: "this post was deleted" } } }),
    });
    await clock.advance(2 * HOUR);
    expect(reads).toEqual(["/v1/posts/p9"]);
    expect(began).toEqual([0]);
    expect(await event()).toMatchObject({ state: "parked", note: expect.stringContaining("this post was deleted") });
    await end();
  });

  test("when what it is about is not shown once the network's reads show all that was written before", async () => {
    const { clock, began, event, end } = await handling(async (_post, act) => void (await act.read.post("p9")), { answer: notFound });
    await clock.advance(2 * HOUR);
    expect(began).toEqual([0, READ_LAG_MS]);
    expect(await event()).toMatchObject({ state: "parked", note: expect.stringContaining("there is no such post") });
    await end();
  });

  test.each([
    ["Refused", () => new Refused("x:no_such_topic", "nothing is known of it")],
    ["Misconfigured", () => new Misconfigured("x:no_model", "MODEL_URL is not set")],
    ["Fatal", () => new Fatal("x:broken", "the index is broken")],
  ])("when its handler throws %s, in a step or outside", async (_, make) => {
    for (const inStep of [false, true]) {
      const fail = (): never => {
        throw make();
      };
      const { clock, began, event, end } = await handling(async (_post, act) => void (inStep ? await act.step("think", fail) : fail()));
      await clock.advance(2 * HOUR);
      expect(began).toEqual([0]);
      expect(await event()).toMatchObject({ state: "parked", note: make().message });
      await end();
    }
  });
});

describe("an event is tried again", () => {
  test("if reads do not show yet what it is about, once they show all that was written before", async () => {
    let shown = false;
    const { clock, began, event, end } = await handling(async (_post, act) => void (await act.read.post("p9")), {
      answer: () => (shown ? { status: 200, body: { id: "p9", content: "words" } } : notFound()),
    });
    await clock.advance(SECOND);
    shown = true;
    await clock.advance(HOUR);
    expect(began).toEqual([0, READ_LAG_MS]);
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });

  test("no earlier than a Retryable says, which counts its tries", async () => {
    const { clock, began, event, end } = await handling((_post, _act, now) => {
      throw new Retryable("x:model_busy", "the model is busy", { retryAt: now + 2 * HOUR });
    });
    await clock.advance(20 * HOUR);
    expect(began).toHaveLength(5);
    const pauses = began.slice(1).map((at, i) => at - (began[i] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(2 * HOUR);
    expect(Math.max(...pauses)).toBeLessThan(2 * HOUR + MINUTE);
    expect(await event()).toMatchObject({ state: "parked", note: "the model is busy" });
    await end();
  });

  test.each([
    ["years away", (now: number) => now * 1_000, DAY],
    ["no number", () => Number.NaN, 5 * SECOND],
    ["endless", () => Infinity, DAY],
    ["past", (now: number) => now - HOUR, 5 * SECOND],
    ["not said", () => undefined, 5 * SECOND],
  ])("after a day at most and the usual pause at least, where the time that a Retryable says is %s", async (_, retryAt, pauseMs) => {
    const { clock, began, end } = await handling((_post, _act, now) => {
      const at = retryAt(now);
      throw new Retryable("x:later", "not now", at === undefined ? {} : { retryAt: at });
    });
    await clock.advance(DAY + MINUTE);
    expect(began[1]).toBeGreaterThanOrEqual(pauseMs);
    expect(began[1]).toBeLessThan(pauseMs + 10 * SECOND);
    await end();
  });

  test("four times with growing pauses where it threw what nobody classed, and is parked then", async () => {
    const { clock, began, event, end } = await handling(() => {
      throw new TypeError("it went wrong");
    });
    await clock.advance(2 * HOUR);
    expect(began.map((at, i) => Math.round((at - (began[i - 1] ?? 0)) / SECOND))).toEqual([0, 5, 30, 300, 3600]);
    expect(await event()).toMatchObject({ state: "parked", note: "it went wrong" });
    await end();
  });

  test("when what refused its read concerns more than that read, as a suspended account does", async () => {
    let suspended = true;
    const body = { error: { code: "account_suspended", message: "this account is suspended" } };
    const { clock, began, reads, event, end } = await handling(async (_post, act) => void (await act.read.post("p9")), {
      answer: () => (suspended ? { status: 403, body } : { status: 200, body: { id: "p9", content: "words" } }),
    });
    await clock.advance(10 * MINUTE);
    expect(reads).toHaveLength(1);
    expect(await event()).toMatchObject({ state: "ready", attempts: 0 });
    suspended = false;
    await clock.advance(10 * MINUTE);
    expect(reads).toHaveLength(2);
    expect(began).toHaveLength(2);
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });

  test("if its own account is not known yet, as at the first start", async () => {
    const { clock, began, event, end } = await handling((_post, act) => void act.updateProfile({ bio: "new" }), {
      id: undefined,
      answer: () => ({ status: 200, body: [{ id: "agt_1", handle: "scout" }] }),
    });
    await clock.advance(MINUTE);
    expect(began).toHaveLength(2);
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });

  test("if a redirect stands before the network, which says nothing of what was asked for", async () => {
    let moved = true;
    const { clock, event, end } = await handling(async (_post, act) => void (await act.read.post("p9")), {
      answer: () => (moved ? { status: 302, body: {} } : { status: 200, body: { id: "p9", content: "words" } }),
    });
    await clock.advance(2 * SECOND);
    expect(await event()).toMatchObject({ state: "ready" });
    moved = false;
    await clock.advance(MINUTE);
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });
});

describe("a failed event goes on at once", () => {
  const failing = () => {
    let broken = true;
    const mend = (): void => void (broken = false);
    const handler = (): void => {
      if (broken) throw new TypeError("it went wrong");
    };
    return { mend, handler };
  };

  test("after a restart, and the try more counts for nothing", async () => {
    const { handler, mend } = failing();
    const { clock, began, event, restart, end } = await handling(handler);
    await clock.advance(MINUTE);
    expect(began).toHaveLength(3);
    const { attempts } = await event();
    await restart();
    await clock.advance(SECOND);
    expect(began).toHaveLength(4);
    expect(await event()).toMatchObject({ state: "ready", attempts });
    mend();
    await restart();
    await clock.advance(SECOND);
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });

  test("after a restart only where its handler did not say when", async () => {
    const { clock, began, restart, end } = await handling((_post, _act, now) => {
      throw new Retryable("x:model_busy", "the model is busy", { retryAt: now + HOUR });
    });
    await clock.advance(MINUTE);
    await restart();
    await clock.advance(MINUTE);
    expect(began).toHaveLength(1);
    await end();
  });

  test("with a new key", async () => {
    const { handler, mend } = failing();
    const { clock, event, newKey, end } = await handling(handler, { feed: true });
    await clock.advance(10 * MINUTE);
    expect(await event()).toMatchObject({ state: "ready", attempts: 4 });
    mend();
    await newKey();
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });

  test("with a new definition", async () => {
    const { handler, mend } = failing();
    const { clock, event, put, end } = await handling(handler);
    await clock.advance(MINUTE);
    mend();
    await put();
    await clock.advance(SECOND);
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });

  test.each([
    ["by the event's id, while it waits for its next try", MINUTE, "post.created:p1"],
    ["by the event's id, once it is parked", 2 * HOUR, "post.created:p1"],
    ["by the handle, while it waits for its next try", MINUTE, "scout"],
    ["by the handle, once it is parked", 2 * HOUR, "scout"],
  ])("on a person's word %s", async (_, waited, id) => {
    const { handler, mend } = failing();
    const { clock, event, guardian, end } = await handling(handler);
    await clock.advance(waited);
    mend();
    await clock.run(guardian.retry({ id }));
    await clock.advance(SECOND);
    expect(await event()).toMatchObject({ state: "done" });
    await end();
  });
});

test("a process is not ready where every handling fails, and says which and why, until one works", async () => {
  let broken = true;
  const { clock, readiness, guardian, end } = await handling(() => {
    if (broken) throw new TypeError("there is no model");
  });
  expect(readiness()).toEqual({ ready: true, reasons: [] });
  await clock.advance(MINUTE);
  expect(readiness()).toMatchObject({
    ready: false,
    reasons: ["every_handling_fails"],
    failing: [{ handle: "scout", kind: "post.created", tries: 3, message: "there is no model" }],
  });
  broken = false;
  await clock.run(guardian.retry({ id: "scout" }));
  await clock.advance(SECOND);
  expect(readiness()).toEqual({ ready: true, reasons: [] });
  await end();
});
