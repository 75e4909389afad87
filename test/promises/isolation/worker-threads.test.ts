/** What `act` promises, in this thread and in one of its own; and what a thread of its own contains. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadDefinition } from "../../../src/config/definitions.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { Fatal, Misconfigured, Refused, Retryable } from "../../../src/core/errors.ts";
import { asHandle, asIntentId, newIntentId } from "../../../src/core/ids.ts";
import type { Json } from "../../../src/core/json.ts";
import { createLogger, type LogLine } from "../../../src/core/log.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { createWorkerPool, type WorkerPool } from "../../../src/handlers/worker/worker-pool.ts";
import { operationRules } from "../../../src/gateway/permissions.ts";
import type { RunRequest } from "../../../src/specialist/run-request.ts";
import { runHandler, type RunResult } from "../../../src/specialist/run.ts";
import { createSpecialist, type Specialist } from "../../../src/specialist/specialist.ts";
import { handlerOf } from "../../../src/specialist/handlers.ts";

const FILE = join(import.meta.dirname, "../../handlers/worker/isolated-definition.ts");
const clock = systemClock();
const profile = resolveProfile({ extends: "set-b" });
const NOW = 1_780_000_000_000;

const lines: LogLine[] = [];
const log = createLogger({ level: "debug", now: () => clock.now(), sink: (line) => void lines.push(line) });
let isolation: WorkerPool;
let careless: Specialist;

beforeAll(async () => {
  const { definition, problems } = await loadDefinition(FILE);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  careless = definition.specialist;
  isolation = createWorkerPool({ clock, log, heapMb: 48 });
});
afterAll(() => isolation.close());

interface Handling extends Partial<RunRequest> {
  readonly kind: string;
  readonly saved?: Map<string, Json>;
}

/** Everything a handling is given, with a network of three posts. */
function requestFor({ kind, saved = new Map<string, Json>(), ...rest }: Handling): RunRequest {
  const random = seededRandom("ids");
  return {
    event: { id: `${kind}:1`, kind, payload: { id: "e1", kind, raw: { rows: 3 } }, hops: 1, beganAt: NOW },
    steps: saved,
    me: { handle: asHandle("careless"), id: "agent_1" },
    state: { count: 4 },
    rules: operationRules(careless, profile, { ...clock, now: () => NOW }),
    deadlineMs: 5_000,
    read: async ({ target }) => {
      if (target === "full") return { suspendedUntil: NOW + 60_000, reason: "the hour is used up" };
      if (target === "gone") throw new Refused("not_found", "posts.get: it is gone");
      return { value: { kind: "post", id: target ?? "", content: `what ${target} says` } };
    },
    saveStep: async (name, value) => void saved.set(name, value),
    newIntentId: () => newIntentId(random, NOW),
    fetch: () => Promise.reject(new Error("nothing to fetch")),
    clock: { ...clock, now: () => NOW },
    log,
    signal: new AbortController().signal,
    ...rest,
  };
}

const ways: readonly { readonly way: string; readonly run: (handling: Handling) => Promise<RunResult> }[] = [
  {
    way: "in this thread",
    run: async (handling) => {
      const handler = handlerOf(careless, handling.kind);
      if (handler === undefined) throw new Error(`there is no handler for ${handling.kind}`);
      return runHandler(handler, requestFor(handling));
    },
  },
  { way: "in a thread of its own", run: (handling) => isolation.run(careless, handling.kind, requestFor(handling)) },
];

const failure = (result: RunResult) => (result.kind === "failed" ? result.error : result);
const finished = (result: RunResult) => {
  if (result.kind !== "finished") throw new Error(`expected it to finish: ${JSON.stringify(result)} ${String(failure(result))}`);
  return result;
};

/** A thread's clock goes on while it works, by milliseconds. */
function untimed(result: RunResult): RunResult {
  if (result.kind !== "finished") return result;
  const intents = result.intents.map((draft) =>
    draft.expiresAt === undefined ? draft : { ...draft, expiresAt: Math.floor(draft.expiresAt / 10_000) },
  );
  return { ...result, intents };
}

describe("a handling does exactly the same in this thread and in one of its own", () => {
  const kinds = ["decide", "state", "steps", "reads", "no-room", "read-fails", "me", "refused", "not-allowed", "reviewed"] as const;
  it.each(kinds)("x:%s", async (kind) => {
    const [here, there] = await Promise.all(
      ways.map(async ({ run }) => {
        const saved = new Map<string, Json>();
        const result = await run({ kind: `x:${kind}`, saved });
        return { result: untimed(result), saved: [...saved] };
      }),
    );
    expect(there).toEqual(here);
    expect(here?.result.kind).toBe(kind === "no-room" ? "suspended" : "finished");
  });

  it("its actions have the ids that its request gives, which may be an object with private parts", async () => {
    const ids = await Promise.all(
      ways.map(async ({ run }) => {
        let given = 0;
        const handling: Handling = {
          kind: "x:decide",
          newIntentId() {
            return asIntentId(`${this.event?.kind} ${++given}`);
          },
        };
        return finished(await run(handling)).intents.map(({ id }) => id);
      }),
    );
    expect(ids[0]?.[0]).toBe("x:decide 1");
    expect(ids[1]).toEqual(ids[0]);
  });

  it("a schedule", async () => {
    const [here, there] = await Promise.all(ways.map(({ run }) => run({ kind: "schedule:tick" })));
    expect(there).toEqual(here);
  });

  it.each(["step-twice", "step-no-json", "state-no-json", "too-many", "too-many-steps", "throws"])("x:%s fails alike", async (kind) => {
    const [here, there] = await Promise.all(ways.map(async ({ run }) => failure(await run({ kind: `x:${kind}` }))));
    expect(here).toBeInstanceOf(Error);
    expect(there).toMatchObject({ name: (here as Error).name, message: (here as Error).message });
    expect((there as { readonly code?: string }).code).toBe((here as { readonly code?: string }).code);
  });
});

describe.each(ways)("an error of a handler is retried alike $way", ({ run }) => {
  const inAnHour = NOW + 3_600_000;
  it.each([
    ["refused", Refused, { name: "Refused", code: "x:out_of_stock", details: { hint: "ask tomorrow" } }],
    ["misconfigured", Misconfigured, { name: "Misconfigured", code: "x:no_model" }],
    ["fatal", Fatal, { name: "Fatal", code: "x:index_broken" }],
    ["retryable", Retryable, { name: "Retryable", code: "x:model_busy", retryAt: inAnHour }],
    ["own-refused", Refused, { name: "OutOfStock", code: "x:out_of_stock" }],
    ["own-retryable", Retryable, { name: "ModelBusy", code: "x:model_busy", retryAt: inAnHour }],
  ])("%s", async (name, Class, shown) => {
    for (const kind of [`x:throws-${name}`, `x:step-throws-${name}`]) {
      const error = failure(await run({ kind }));
      expect(error).toBeInstanceOf(Class);
      expect(error).toMatchObject(shown);
    }
  });

  it("a class of one's own that says nothing of it", async () => {
    const error = failure(await run({ kind: "x:throws-own-error" }));
    expect(error).toMatchObject({ name: "OddError", code: "x:odd", message: "nobody knows" });
    expect([Refused, Retryable, Misconfigured, Fatal].filter((Class) => error instanceof Class)).toEqual([]);
  });
});

describe.each(ways)("act $way", ({ run }) => {
  it("gives decisions in their written order, with what only the rules know", async () => {
    const { intents } = finished(await run({ kind: "x:decide" }));
    expect(intents.map(({ operation, ordinal }) => `${ordinal} ${operation}`)).toEqual([
      "0 posts.create",
      "1 posts.reply",
      "2 posts.reply",
      "3 posts.vote",
      "4 jobs.submit",
    ]);
    expect(intents[1]?.targetIntent).toBe(intents[0]?.id);
    expect(intents[0]).toMatchObject({ label: "opening", data: { n: 1 }, hops: 1 });
    expect(Number(intents[0]?.expiresAt) - NOW).toBeGreaterThanOrEqual(7_200_000);
    expect(Number(intents[0]?.expiresAt) - NOW).toBeLessThan(7_205_000);
    const [held] = finished(await run({ kind: "x:reviewed" })).intents;
    expect(held?.review?.payloadHash).toMatch(/^[0-9a-f]{64}$/);
    const [forbidden] = finished(await run({ kind: "x:not-allowed" })).intents;
    expect(forbidden?.refusal?.code).toBe("not_allowed");
  });

  it("refuses at once, inside the handler, with the codes of the rules", async () => {
    expect(finished(await run({ kind: "x:refused" })).state).toMatchObject({
      unknown: "operation_unknown",
      input: "input_invalid",
      target: "target_missing",
      read: "operation_is_read",
      data: "value_invalid",
    });
  });

  it("stores steps and reads, and does not repeat them", async () => {
    const saved = new Map<string, Json>();
    const first = finished(await run({ kind: "x:steps", saved }));
    expect([...saved.keys()]).toEqual(["step:one", "step:two"]);
    saved.set("step:one", { made: "before" });
    expect(finished(await run({ kind: "x:steps", saved })).state).toEqual({ ...first.state, one: { made: "before" } });
    const reads = new Map<string, Json>();
    await run({ kind: "x:reads", saved: reads });
    const offline = async (): Promise<never> => Promise.reject(new Error("read again"));
    expect(finished(await run({ kind: "x:reads", saved: reads, read: offline })).state).toEqual({
      content: "what p9 says",
      again: "what p9 says",
    });
  });

  it("suspends on a read without room, and decides nothing", async () => {
    expect(await run({ kind: "x:no-room" })).toEqual({ kind: "suspended", until: NOW + 60_000, reason: "the hour is used up" });
  });

  it("logs through the handling's own logger", async () => {
    const own: LogLine[] = [];
    const logger = createLogger({ level: "debug", now: () => NOW, sink: (line) => void own.push(line) }, { handle: "careless" });
    await run({ kind: "x:logs", log: logger });
    expect(own).toMatchObject([
      { level: "info", message: "it says", fields: { handle: "careless", n: 1 } },
      { level: "warn", message: "and more", fields: { handle: "careless", part: "two" } },
    ]);
  });

  it("ends a handler that hangs at its deadline, and takes nothing from it", async () => {
    const error = failure(await run({ kind: "x:hangs", deadlineMs: 50 }));
    expect(error).toMatchObject({ name: "RunInterrupted", code: "run_deadline", message: "expected the handler to end within 50 ms" });
  });

  it("tells a handler that the runtime stops, and calls that no failure of its own", async () => {
    const stopping = new AbortController();
    const waiting = Promise.withResolvers<void>();
    const logger = createLogger({ level: "debug", now: () => NOW, sink: () => waiting.resolve() });
    const result = run({ kind: "x:waits-for-the-end", signal: stopping.signal, log: logger });
    await waiting.promise;
    stopping.abort(new Error("stop"));
    const error = failure(await result);
    expect(["run_stopped", undefined]).toContain((error as { readonly code?: string }).code);
  });

  it("cannot be used after the handler has returned", async () => {
    const before = lines.length;
    expect(finished(await run({ kind: "x:late" })).intents).toEqual([]);
    const late = () => lines.slice(before).find(({ message }) => message === "late");
    await expect.poll(() => late()?.fields).toMatchObject({ outcome: "act_closed" });
  });
});

describe("a thread of its own", () => {
  const there = (handling: Handling): Promise<RunResult> => isolation.run(careless, handling.kind, requestFor(handling));
  const fine = async (): Promise<void> => expect((await there({ kind: "x:state" })).kind).toBe("finished");

  it("is ended at the deadline when the handler blocks it, while others are handled", async () => {
    await Promise.all([fine(), fine()]); // two threads have started
    let over = false;
    const blocked = there({ kind: "x:blocks", deadlineMs: 2_000 }).finally(() => (over = true));
    for (let i = 0; i < 10; i++) await fine();
    expect(over).toBe(false);
    expect(failure(await blocked)).toMatchObject({ code: "run_deadline", message: expect.stringContaining("blocked its thread") });
  });

  it("is ended when the handler exits, with the exit code in the reason", async () => {
    expect(failure(await there({ kind: "x:exits" }))).toMatchObject({
      code: "run_exited",
      message: expect.stringContaining("exit code 3"),
    });
    await fine();
  });

  it("is ended when the handler takes more memory than it may", async () => {
    expect(failure(await there({ kind: "x:eats", deadlineMs: 20_000 }))).toMatchObject({ code: "run_out_of_memory" });
    await fine();
  });

  it("that an earlier handling still blocks is replaced, and the next handling is not blamed", async () => {
    const pool = createWorkerPool({ clock, log });
    const one = (kind: string) => pool.run(careless, kind, requestFor({ kind }));
    const before = lines.length;
    expect((await one("x:leaves-a-bomb")).kind).toBe("finished");
    await expect.poll(() => lines.slice(before).map(({ message }) => message)).toContain("boom");
    expect((await one("x:state")).kind).toBe("finished");
    await pool.close();
  });

  it("survives a promise that fails when nobody waits for it, and says so", async () => {
    const before = lines.length;
    await there({ kind: "x:fails-later" });
    await expect.poll(() => lines.slice(before).map(({ fields }) => fields["message"])).toContain("nobody waits for this");
    await fine();
  });

  it("cannot flood the runtime's log", async () => {
    const own: LogLine[] = [];
    await there({ kind: "x:chatters", log: createLogger({ level: "debug", now: () => NOW, sink: (line) => void own.push(line) }) });
    expect(own).toHaveLength(1_001);
    expect(own.at(-1)?.message).toBe("further log lines were dropped");
  });

  it("is kept for the next handling, and ended when it has nothing to do", async () => {
    const pool = createWorkerPool({ clock, log, idleMs: 50 });
    for (let i = 0; i < 5; i++) await pool.run(careless, "x:state", requestFor({ kind: "x:state" }));
    expect(pool.threads).toBe(1);
    await expect.poll(() => pool.threads).toBe(0);
    await pool.close();
  });

  it("is refused to a definition that came from no file", () => {
    const made = createSpecialist({ handle: "made", isolate: "worker" });
    expect(() => isolation.use(made)).toThrow(expect.objectContaining({ code: "isolate_needs_file" }) as Error);
  });
});
