/** What a specialist's wake asks: what has something due, what failed before, and nothing else. Real runtime and rows, virtual time. */
import { expect, test } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { virtualRuntime } from "../harness/harness.ts";

/** A clerk with a feed to look at and something to do every minute, over a store that `wrap` may watch. */
function clerk(wrap: (store: Store) => Store, change: Partial<SpecialistDefinition> = {}) {
  const clock = virtualClock(Date.parse("2026-11-21T00:00:10Z"));
  const random = seededRandom("due");
  const opened = openSqliteStore({ path: ":memory:", clock, random });
  const ran: number[] = [];
  const looked: number[] = [];
  const transport: Transport = async () => {
    looked.push(clock.now());
    return { kind: "answer", status: 200, headers: { "content-type": "application/json" }, text: "[]", elapsedMs: 1 };
  };
  const defined = (changed: Partial<SpecialistDefinition>) =>
    createSpecialist({
      handle: "clerk",
      id: "agt_1",
      watch: { feed: true },
      on: { "post.created": () => undefined },
      may: ["posts.create"],
      schedules: { minute: { cron: "* * * * *", run: () => undefined } },
      ...changed,
    });
  const runtime = virtualRuntime({
    specialists: [defined(change)],
    store: wrap(opened),
    transport,
    keyOf: () => "sk_live_0123456789abcdef",
    clock,
    random,
  });
  runtime.announcer.on("run", ({ at, kind }) => void (kind.startsWith("schedule:") && ran.push(at)));
  return {
    clock,
    store: opened,
    ran,
    looked,
    start: () => clock.run(runtime.start()),
    define: (changed: Partial<SpecialistDefinition>) => clock.run(runtime.put(defined(changed))),
    retire: () => runtime.retire(asHandle("clerk")),
    async stop() {
      await clock.run(runtime.stop());
      await clock.run(opened.close());
    },
  };
}

/** A store that tells which of its questions are asked. */
function noted(store: Store, note: (question: string) => void): Store {
  return new Proxy(store, {
    get(target, question) {
      note(String(question));
      const answer: unknown = Reflect.get(target, question);
      return answer;
    },
  });
}

test("a schedule that is due is looked at alone", async () => {
  const asked = new Set<string>();
  const { clock, ran, start, stop } = clerk((store) => noted(store, (question) => asked.add(question)));
  const others = ["dueDeliveries", "dueIntents", "doubtfulIntents", "dueWatches"];
  await start();
  await clock.advance(20 * SECOND);
  expect(others.filter((question) => asked.has(question))).toEqual(others); // a start asks everything
  asked.clear();
  await clock.advance(40 * SECOND);
  expect(ran).toHaveLength(1);
  expect(others.filter((question) => asked.has(question))).toEqual([]);
  await stop();
});

test("a question that could not be asked at the start, before any row, is asked again", async () => {
  let failing = true;
  const { clock, ran, looked, start, stop } = clerk((store) => ({
    ...store,
    sources: (handle) => (failing ? Promise.reject(new Error("the disk hiccups")) : store.sources(handle)),
  }));
  await start();
  await clock.advance(SECOND);
  expect(looked).toEqual([]);
  failing = false;
  await clock.advance(2 * MINUTE);
  expect(looked.length).toBeGreaterThan(0);
  expect(ran.length).toBeGreaterThan(0);
  await stop();
});

test("a wake that finds nothing due any more, as after what waited was withdrawn, is followed by the next", async () => {
  let asked = 0;
  const watched = (opened: Store): Store => noted(opened, (question) => void (question === "dueWork" && asked++));
  const { clock, store, ran, start, stop } = clerk(watched, {
    watch: {},
    on: {},
    schedules: { word: { every: "5m", run: (act) => void act.post("A word", { expiresIn: "30s" }) } },
  });
  await clock.run(store.stop("halt", EVERYONE, "a test", clock.now()));
  await start();
  // Each word is held for a minute by the halt, and withdrawn before that is over.
  await clock.advance(16 * MINUTE);
  expect(ran).toHaveLength(3);
  expect(asked).toBeLessThan(4 * ran.length);
  await stop();
});

test("a source that a definition drops is no longer due, until it is back", async () => {
  let asked = 0;
  const { clock, ran, looked, start, stop, define, retire } = clerk((opened) =>
    noted(opened, (question) => void (question === "dueWork" && asked++)),
  );
  /** How often the rows are asked in an hour, after what was due has been looked at. */
  const hour = async (): Promise<number> => {
    await clock.advance(20 * MINUTE);
    asked = 0;
    await clock.advance(60 * MINUTE);
    return asked;
  };
  await start();
  await clock.advance(20 * MINUTE);
  const before = { ran: ran.length, looked: looked.length };
  expect(before.ran).toBe(20);
  await define({ watch: {}, on: {}, schedules: {} });
  expect(await hour()).toBe(0);
  expect({ ran: ran.length, looked: looked.length }).toEqual(before);
  await define({});
  await clock.advance(MINUTE);
  expect(ran.length).toBe(before.ran + 2); // the minute that has begun is on time yet
  expect(looked.length).toBe(before.looked + 1);
  retire();
  expect(await hour()).toBe(0);
  await stop();
});

test("a specialist begins once its past is here; the start does not wait for it, and asks of it nothing else", async () => {
  const past = Promise.withResolvers<void>();
  let isHere = false;
  const asked = new Set<string>();
  const { clock, ran, looked, start, stop } = clerk((store) =>
    noted({ ...store, pastOf: () => (isHere ? undefined : past.promise) }, (question) => asked.add(question)),
  );
  await start();
  asked.clear();
  await clock.advance(10 * MINUTE);
  expect({ ran: ran.length, looked: looked.length }).toEqual({ ran: 0, looked: 0 });
  expect([...asked].filter((question) => /^(due|intents|claim|sources)/.test(question))).toEqual([]);
  isHere = true;
  past.resolve();
  await clock.advance(2 * MINUTE);
  expect(looked.length).toBeGreaterThan(0);
  expect(ran.length).toBeGreaterThan(0);
  await stop();
});
