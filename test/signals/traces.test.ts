/** Spans made of announcements: one trace for an event, the reason of a failure, bounds, and no secret. */
import { NodeSDK } from "@opentelemetry/sdk-node";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { createAnnouncer, type Announcements } from "../../src/core/events.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { isTraced, traceIdOf } from "../../src/core/trace-ids.ts";
import { loadTraceApi } from "../../src/signals/trace-peer.ts";
import { traceAnnouncements, type TraceOptions } from "../../src/signals/traces.ts";
import { otlpReceiver, type SpanRead } from "../harness/otlp-receiver.ts";

const CANARY = "canary-of-a-secret-0123456789";
const AT = Date.UTC(2026, 10, 23, 5);
const run: Announcements["run"] = {
  at: AT,
  handle: "scout",
  event: "post.created:p1",
  seq: 7,
  kind: "post.created",
  result: "finished",
  intents: 1,
  beganAt: AT - 900,
  startedAt: AT - 300,
};
const request: Announcements["request"] = {
  at: AT,
  handle: "scout",
  operation: "posts.reply",
  lane: "reply",
  outcome: "confirmed",
  status: 201,
  tookMs: 120,
  admissionMs: 30,
};

let sdk: NodeSDK | undefined;
afterAll(() => sdk?.shutdown());

async function tracing(over: Partial<TraceOptions> = {}) {
  const collector = await otlpReceiver();
  Object.assign(process.env, { ...collector.env, NODE_OPTIONS: "" });
  await sdk?.shutdown();
  sdk = new NodeSDK();
  const { trace } = await loadTraceApi();
  trace.disable();
  sdk.start();
  const announcer = createAnnouncer();
  const scrubber = new Scrubber();
  scrubber.add(new Secret(CANARY));
  const lines: LogLine[] = [];
  const log = createLogger({ level: "debug", now: () => AT, scrubber, sink: (line) => lines.push(line) });
  const store = { eventOf: async () => undefined };
  const traces = traceAnnouncements(await loadTraceApi(), { announcer, scrubber, store, log, clock: systemClock(), version: "1", ...over });
  let closed: Promise<void> | undefined;
  const spans = async (): Promise<readonly SpanRead[]> => {
    await (closed ??= traces.close());
    return collector.spans;
  };
  onTestFinished(async () => void (await spans()));
  return { announcer, spans, lines, log, bodies: collector.bodies };
}

test("event, run, step, admission and request of one event are one trace, with their times", async () => {
  const { announcer, spans, log, lines } = await tracing();
  expect(isTraced()).toBe(true);
  announcer.emit("step", { at: AT - 100, handle: "scout", event: run.event, step: "step:think", startedAt: AT - 250 });
  announcer.emit("run", run);
  announcer.emit("request", { ...request, intent: "i1", eventSeq: 7 });
  const all = await spans();
  expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf("scout", run.event)]));
  const times = Object.fromEntries(all.map(({ name, from, to }) => [name, [from - AT, to - AT]]));
  expect(times).toEqual({
    "event post.created": [-900, 0],
    "run post.created": [-300, 0],
    step: [-250, -100],
    "admission posts.reply": [-150, -120],
    "request posts.reply": [-120, 0],
  });
  const byName = new Map(all.map((span) => [span.name, span]));
  expect(byName.get("step")?.parent).toBe(byName.get("run post.created")?.spanId);
  log.info("thought", { handle: "scout", event: run.event });
  expect(lines.at(-1)?.fields).toMatchObject({ trace_id: traceIdOf("scout", run.event) });
});

test("after a restart the event of an action is found in the store; where it is gone, the trace is the action's", async () => {
  const found = { eventOf: async () => ({ id: run.event }) as never };
  const after = await tracing({ store: found });
  after.announcer.emit("request", { ...request, intent: "i1", eventSeq: 7 });
  expect((await after.spans()).map(({ traceId }) => traceId)).toEqual(Array(2).fill(traceIdOf("scout", run.event)));

  const failing = await tracing({ store: { eventOf: () => Promise.reject(new Error("the disk is gone")) } });
  failing.announcer.emit("request", { ...request, intent: "i1", eventSeq: 7 });
  await expect.poll(() => failing.lines.length).toBe(1);
  expect((await failing.spans()).map(({ traceId }) => traceId)).toEqual(Array(2).fill(traceIdOf("scout", "i1")));
});

test("a poll is a trace of its own, and a failed request says how it failed", async () => {
  const { announcer, spans } = await tracing();
  announcer.emit("request", { ...request, operation: "posts.list", outcome: "unknown" });
  const [admission, sent] = await spans();
  expect(admission).toMatchObject({ name: "admission posts.list", parent: undefined });
  expect(sent).toMatchObject({ parent: admission?.spanId, traceId: admission?.traceId, status: { code: 2, message: "unknown" } });
});

test("an event ends with its last run; a failed one says why", async () => {
  const { announcer, spans } = await tracing();
  announcer.emit("run", { ...run, result: "suspended" });
  announcer.emit("run", { ...run, result: "failed", message: "no model", tries: 1 });
  expect((await spans()).map(({ name, status }) => [name, status])).toEqual([
    ["run post.created", expect.objectContaining({ code: 0 })],
    ["run post.created", { code: 2, message: "no model" }],
  ]);
});

test("no name, attribute or reason of a span holds a secret, and a flood of steps is bounded", async () => {
  const { announcer, spans, bodies } = await tracing();
  for (let i = 0; i < 5_000; i++)
    announcer.emit("step", { at: AT, handle: "scout", event: run.event, step: `step:${CANARY} ${i} ${"x".repeat(1_000)}`, startedAt: AT });
  announcer.emit("run", { ...run, kind: CANARY, result: "parked", message: `refused: ${CANARY}` });
  announcer.emit("request", { ...request, operation: CANARY, event: CANARY, outcome: CANARY });
  const all = await spans();
  expect(all.filter(({ name }) => name === "step")).toHaveLength(200);
  expect(all.length).toBe(204);
  expect(bodies.join("\n")).not.toContain(CANARY);
  expect(bodies.join("\n").length).toBeLessThan(250_000);
});
