import { expect, onTestFinished, test } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { virtualRuntime } from "../harness/harness.ts";

const profile = resolveProfile({
  extends: "set-b",
  operations: { "posts.create": { receipt: { check: "check.id", question: "check.question" } } },
  pending: { at: "published", words: false, reference: "check.id" },
  extra: {
    "checks.answer": {
      method: "POST",
      path: "/checks/{check}",
      effect: "idempotent",
      record: "post",
      input: { check: { type: "text", required: true }, solution: { type: "text", required: true } },
      body: { solution: "{solution}" },
      completes: "check",
    },
  },
});

/** A poster whose posts are published once a question is answered; `answers` says to which check it sends its solution. */
async function posting(answers: (check: unknown) => string, before = (whole: Store): Store => whole) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const sent: string[] = [];
  const told: string[] = [];
  const answer = (status: number, body: object): WireAnswer => ({
    kind: "answer",
    status,
    headers: {},
    text: JSON.stringify(body),
    elapsedMs: 1,
  });
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  const begin = async (over: Store): Promise<Runtime> => {
    const runtime = runtimeOn(over);
    await clock.run(runtime.start());
    return runtime;
  };
  const runtimeOn = (over: Store): Runtime =>
    virtualRuntime({
      clock,
      random: seededRandom(2),
      store: over,
      profile,
      specialists: [
        createSpecialist({
          handle: "poet",
          tier: "pro",
          may: ["posts.create", "checks.answer"],
          schedules: { verse: { every: "10m", run: (act) => void act.post("a verse", { expiresIn: "5m" }) } },
          brakes: { sameTextWithin: 0 },
          on: {
            "intent.pending": (receipt, act) => {
              told.push(JSON.stringify(receipt.answer));
              act.perform("checks.answer", { input: { check: answers(receipt.answer?.["check"]), solution: "42" } });
            },
            "intent.confirmed": ({ operation, created = "" }) => void told.push(`${operation} ${created}`),
          },
        }),
      ],
      transport: ({ method, path }) => {
        if (method === "GET") return Promise.resolve(answer(200, { agents: [{ id: "me", handle: "poet" }] }));
        sent.push(path);
        const post = { published: false, check: { id: `c${sent.length}`, question: "6 × 7" } };
        return Promise.resolve(answer(200, path === "/v1/posts" ? post : { id: "p9", content: "a verse" }));
      },
      keyOf: () => "sk_live_of_poet",
    });
  let runtime = await begin(before(store));
  onTestFinished(async () => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
  });
  await clock.advance(12 * MINUTE);
  const states = async (): Promise<readonly string[]> => {
    const intents = await store.intents({ specialist: asHandle("poet"), limit: 10 });
    return intents.map(({ operation, state }) => `${operation} ${state}`).toSorted();
  };
  const startAgain = async (): Promise<void> => {
    await clock.run(runtime.stop());
    runtime = await begin(store);
    await clock.advance(SECOND);
  };
  return { sent, told, states, startAgain };
}

test("an action that waits for a challenge has happened once the challenge is answered", async () => {
  const { sent, told, states } = await posting(String);
  expect(sent).toEqual(["/v1/posts", "/v1/checks/c1"]);
  expect(told).toEqual(['{"check":"c1","question":"6 × 7"}', "checks.answer p9", "posts.create p9"]);
  expect(await states()).toEqual(["checks.answer confirmed", "posts.create confirmed"]);
});

test("an answer to another challenge completes nothing", async () => {
  const { states } = await posting(() => "c7");
  expect(await states()).toEqual(["checks.answer confirmed", "posts.create pending"]);
});

test("a process that ends between an answer to a challenge and what it completes leaves nothing pending for good", async () => {
  const ended = (whole: Store): Store =>
    new Proxy(whole, {
      get: (store, name) =>
        name === "moveIntent" ? () => Promise.reject(new TypeError("the process ended here")) : (Reflect.get(store, name) as unknown),
    });
  const { sent, told, states, startAgain } = await posting(String, ended);
  expect(await states()).toEqual(["checks.answer confirmed", "posts.create pending"]);
  await startAgain();
  expect(await states()).toEqual(["checks.answer confirmed", "posts.create confirmed"]);
  expect(told.at(-1)).toBe("posts.create p9");
  expect(sent).toEqual(["/v1/posts", "/v1/checks/c1"]);
});
