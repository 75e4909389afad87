/** The flow of work: one kind runs once at a time, what comes meanwhile runs after it, and a failure is reported and does not end it. */
import { expect, test } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { Flow } from "../../src/runtime/flow.ts";
import { bitOf, createWork, isBusy } from "../../src/runtime/work.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { virtualRuntime } from "../harness/harness.ts";

/** A flow over the parts of a runtime that has stopped, whose deliveries a test lets through one question at a time. */
async function flow() {
  const clock = virtualClock(0);
  const transport: Transport = () => Promise.reject(new Error("nothing is sent here"));
  const specialists = [createSpecialist({ handle: "scout", id: "agt_1", on: {} })];
  const runtime = virtualRuntime({ specialists, transport, keyOf: () => "sk_1", clock, random: seededRandom(1) });
  await clock.run(runtime.start());
  await clock.run(runtime.stop());
  const [member] = runtime.members();
  if (member === undefined) throw new Error("expected a member");
  const { store } = runtime.parts;
  const stopping = new AbortController();
  const asked: PromiseWithResolvers<boolean>[] = [];
  const hasRoomForEvents = (): Promise<boolean> => {
    const question = Promise.withResolvers<boolean>();
    asked.push(question);
    return question.promise;
  };
  const claimEvents = (): never => {
    throw new Error("the disk hiccups");
  };
  const armed: number[] = [];
  const failures: [string, string | undefined][] = [];
  const tested = new Flow({
    parts: { ...runtime.parts, stopping: stopping.signal, store: { ...store, hasRoomForEvents, claimEvents } },
    arm: ({ busy }) => armed.push(busy),
    failed: (error, _, about) => failures.push([String(error), about?.handle]),
  });
  return { flow: tested, work: createWork(member), asked, armed, failures, stopping };
}

test("work that is asked for while it runs runs once more, however often it was asked, and the timer is set once", async () => {
  const { flow: tested, work, asked, armed } = await flow();
  for (let n = 0; n < 4; n++) tested.begin(work, "deliveries");
  expect([asked.length, isBusy(work, "deliveries"), tested.open]).toEqual([1, true, 1]);
  asked[0]?.resolve(false);
  await expect.poll(() => asked.length).toBe(2);
  expect(armed).toEqual([]);
  asked[1]?.resolve(false);
  await tested.idle();
  expect([asked.length, armed, tested.open]).toEqual([2, [0], 0]);
});

test("a step that rejects is reported with its specialist, checked again later, and not repeated for what came meanwhile", async () => {
  const { flow: tested, work, asked, armed, failures } = await flow();
  work.unchecked = 0;
  tested.begin(work, "deliveries");
  tested.begin(work, "deliveries");
  asked[0]?.reject(new Error("no room is known"));
  await tested.idle();
  expect(failures).toEqual([["Error: no room is known", "scout"]]);
  expect([asked.length, work.unchecked, work.busy, armed]).toEqual([1, bitOf("deliveries"), 0, [0]]);
});

test("a step that throws at once is treated alike, and its next begin takes the mark away", async () => {
  const { flow: tested, work, asked, failures } = await flow();
  work.unchecked = 0;
  tested.begin(work, "events");
  await tested.idle();
  expect(failures).toEqual([["Error: the disk hiccups", "scout"]]);
  expect([work.unchecked, work.busy]).toEqual([bitOf("events"), 0]);
  work.unchecked |= bitOf("deliveries");
  tested.begin(work, "deliveries");
  expect(work.unchecked).toBe(bitOf("events"));
  asked[0]?.resolve(false);
  await tested.idle();
});

test("after a stop nothing runs once more, and no timer is set", async () => {
  const { flow: tested, work, asked, armed, stopping } = await flow();
  tested.begin(work, "deliveries");
  tested.begin(work, "deliveries");
  stopping.abort();
  asked[0]?.resolve(false);
  await tested.idle();
  expect([asked.length, armed, work.busy]).toEqual([1, [], 0]);
});

test("idle waits for every job, those that begin meanwhile too, and a job that fails is over", async () => {
  const { flow: tested, failures } = await flow();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isIdle = false;
  tested.track(first.promise);
  const idle = tested.idle().then(() => (isIdle = true));
  tested.track(second.promise);
  first.reject(new Error("lost"));
  await expect.poll(() => failures).toEqual([["Error: lost", undefined]]);
  expect([isIdle, tested.open]).toEqual([false, 1]);
  second.resolve();
  await idle;
  expect(tested.open).toBe(0);
});
