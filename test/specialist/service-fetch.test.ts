/** Requests to other services: each is a line of the log without what may be secret, has a time limit, and their number is bounded. */
import { expect, test } from "vitest";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { SECOND } from "../../src/core/units.ts";
import type { Act } from "../../src/specialist/act.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import { runHandler } from "../../src/specialist/run.ts";
import { handlingOf } from "../harness/run-request.ts";

async function fetching(handler: (act: Act) => Promise<unknown>, fetch: RunRequest["fetch"]) {
  const lines: LogLine[] = [];
  const { clock, request } = handlingOf({ fetch, deadlineMs: 300 * SECOND });
  const log = createLogger({ level: "debug", now: () => clock.now(), sink: (line) => void lines.push(line) });
  const run = runHandler(async (_payload: never, act: Act) => void (await handler(act)), { ...request, log });
  const result = await clock.run(Promise.resolve(run));
  await clock.settle();
  return { result, lines, timers: clock.pending() };
}

test("a call is told with method, host, path and status, and without query, user, headers or body", async () => {
  const call = (act: Act) =>
    act.fetch("https://me:pass@model.example/v1/chat?key=sk_secret", {
      method: "post",
      headers: { authorization: "Bearer sk_b" },
      body: "sk_c",
    });
  const { lines, timers } = await fetching(call, async () => new Response("ok", { status: 201 }));
  expect(lines).toMatchObject([
    { level: "info", message: "fetch", fields: { method: "POST", address: "https://model.example/v1/chat", status: 201, number: 1 } },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/sk_|pass|me:/);
  expect(timers).toBe(0);
});

const silent: RunRequest["fetch"] = (_input, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error), { once: true });
  });

test.each<[string, Parameters<Act["fetch"]>[1], string]>([
  ["30 s", {}, "within 30000 ms"],
  ["its own limit", { timeout: "90s" }, "within 90000 ms"],
])("without an answer it ends after %s, and may be retried", async (_what, init, words) => {
  const { result, lines } = await fetching((act) => act.fetch("https://model.example/", init), silent);
  expect(result).toMatchObject({ error: { code: "fetch_deadline", name: "Retryable", message: expect.stringContaining(words) as string } });
  expect(lines).toMatchObject([{ level: "warn", message: "fetch failed", fields: { reason: "Retryable" } }]);
});

test("a failure is told and thrown as it came", async () => {
  const broken = new TypeError("fetch failed");
  const { result, lines } = await fetching(
    (act) => act.fetch(new URL("https://model.example/a")),
    () => Promise.reject(broken),
  );
  expect(result).toMatchObject({ kind: "failed", error: broken });
  expect(lines).toMatchObject([{ level: "warn", fields: { address: "https://model.example/a", reason: "TypeError" } }]);
});

test("a handling with more than 200 calls is broken", async () => {
  let calls = 0;
  const { result } = await fetching(
    async (act) => {
      for (;;) await act.fetch("https://model.example/");
    },
    async () => {
      calls++;
      return new Response("ok");
    },
  );
  expect([result, calls]).toMatchObject([{ error: { code: "too_many_fetches" } }, 200]);
});
