/** Run as a process: bytes that steps of the straight path allocate, each as the mean of many, as JSON. Needs `--expose-gc` and a large young generation. */
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle, newIntentId } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { operationRules } from "../../src/gateway/permissions.ts";
import type { Act } from "../../src/specialist/act.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import { runHandler, type EventHandler } from "../../src/specialist/run.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { meaningOf } from "../../src/webhooks/interpret.ts";

/** So many are far less than the young generation that the flags ask for: nothing is collected while they are counted. */
const TIMES = 1_000;

async function bytesOf(step: () => unknown): Promise<number> {
  for (let n = 0; n < TIMES; n++) await step();
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < TIMES; n++) await step();
  return Math.round((process.memoryUsage().heapUsed - before) / TIMES);
}

const profile = shippedProfile("b");
const clock = systemClock();
const random = systemRandom();
const rules = operationRules(createSpecialist({ handle: "scout", may: ["posts.reply"] }), profile, clock);
const post = { kind: "post", id: "p1", content: "hello, is anybody there?", authorId: "a1" };

function handling(handler: EventHandler): () => unknown {
  const signal = new AbortController().signal;
  return () => {
    const request: RunRequest = {
      event: { id: asEventId("post.created:p1"), kind: "post.created", payload: post, hops: 0, beganAt: 1 },
      steps: new Map(),
      me: { handle: asHandle("scout"), id: "agt_1" },
      state: {},
      rules,
      deadlineMs: 60_000,
      read: () => Promise.reject(new Error("nothing to read")),
      saveStep: () => Promise.resolve(),
      newIntentId: () => newIntentId(random, 0),
      fetch: () => Promise.reject(new Error("nothing to fetch")),
      clock,
      log: silentLogger(),
      signal,
    };
    return runHandler(handler, request);
  };
}

function reading(contentLength: number): () => unknown {
  const data = { id: "p1", content: "x".repeat(contentLength), author: { id: "a1", handle: "bob" } };
  const body = Buffer.from(JSON.stringify({ type: "post.created", data }));
  const feed = { handle: asHandle("scout"), accountId: "agt_1", handles: () => true, inThread: () => true, fromMs: 0, maxAgeMs: 1e12 };
  return () => meaningOf({ body, kind: undefined }, { profile, feed, jobs: undefined, handles: () => true, networkNow: () => 0 });
}

const figures = {
  nothing: await bytesOf(handling(() => undefined)),
  reply: await bytesOf(handling((_post: never, act: Act) => void act.reply("p1", "thanks"))),
  promise: await bytesOf(handling(async (_post: never, act: Act) => void act.reply("p1", "thanks"))),
  short: await bytesOf(reading(24)),
  long: await bytesOf(reading(890)),
};
process.stdout.write(JSON.stringify(figures));
