/** A session that ends at any statement of a start or of a commit: nothing that was promised is lost, and nothing is there twice. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asEventId, asHandle, asIntentId } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { DEFAULT_BRAKES } from "../../../src/specialist/specialist.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { startCuttingProxy, type CutKind } from "../../harness/cutting-proxy.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const clock = systemClock();
const scout = asHandle("scout");
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

const opened = async (url: string): Promise<Store> => {
  const context = { onTestFinished } as Parameters<typeof folder>[0];
  return openPostgresStore({ address: parsePostgresAddress(url, folder(context)), clock, random: seededRandom(1) });
};
const ended = (store: Store | undefined): Promise<void> => store?.close().catch(() => undefined) ?? Promise.resolve();

/** A step of work; it is promised once the state of the network behind it is stored. */
const STEPS = 2;
async function work(store: Store, done: number[]): Promise<void> {
  for (let i = 0; i < STEPS; i++) {
    const payload = { id: `p${i}` };
    await store.putEvents(
      { events: [{ specialist: scout, id: asEventId(`post.created:p${i}`), kind: "post.created", payload, via: "poll", hops: 0 }] },
      clock.now(),
    );
    const event = {
      specialist: scout,
      id: asEventId(`schedule:${i}`),
      kind: "schedule:talk",
      payload: {},
      via: "runtime",
      hops: 0,
    } as const;
    const intent = {
      id: asIntentId(`i${i}`),
      ordinal: 0,
      operation: "posts.create",
      input: { content: `post ${i}` },
      effect: "reconciled",
      lane: "act",
      conflictKey: `post ${i}`,
      hops: 0,
    } as const;
    const run = {
      specialist: scout,
      now: clock.now(),
      intents: [intent],
      caps: DEFAULT_BRAKES,
      brake: () => undefined,
      report: () => undefined,
    };
    await store.recordRun(event, run).catch((error: { readonly code?: string }) => {
      if (error.code !== "run_superseded") throw error; // it is known
    });
    await store.saveNetworkState({ put: [{ kind: "test", name: "barrier", data: { i } }], drop: [] }, clock.now());
    done.push(i);
  }
}

/** What the store knows of the work. */
async function known(store: Store): Promise<{ readonly events: readonly string[]; readonly intents: readonly string[] }> {
  await store.recover(clock.now(), 0);
  const [events, intents] = [await store.reads.eventsOf(scout, 100), await store.reads.intents({ limit: 100 })];
  return { events: events.map(({ id }) => id).toSorted(), intents: intents.map(({ id }) => id).toSorted() };
}

const names = (steps: readonly number[]) => ({
  events: [...steps.map((i) => `post.created:p${i}`), ...steps.map((i) => `schedule:${i}`)].toSorted(),
  intents: steps.map((i) => `i${i}`),
});
const ALL = Array.from({ length: STEPS }, (_, i) => i);
const KINDS: readonly CutKind[] = ["unheard", "unanswered"];

/** Statements that differ by their table alone are one form: a start reads some sixty tables alike. */
const formOf = (text: string): string =>
  text.startsWith("DECLARE")
    ? "DECLARE"
    : text
        .replaceAll(/load_\w+|retinue\.\w+/g, "*")
        .replaceAll(/\s+/g, " ")
        .slice(0, 70);

async function afterwards(url: string, promised: readonly number[]): Promise<void> {
  const store = await opened(url);
  const found = await known(store);
  const { events, intents } = names(promised);
  expect(found.events).toEqual(expect.arrayContaining(events));
  expect(found.intents).toEqual(expect.arrayContaining(intents));
  await work(store, []); // all of it again, as after an answer that did not come
  await store.close();
  const again = await opened(url);
  expect(await known(again)).toEqual(names(ALL));
  await again.close();
}

test.each(KINDS)("at each statement of a commit, %s", async (kind) => {
  const proxy = await startCuttingProxy({ onTestFinished }, server.port);
  for (let k = 1; ; k++) {
    const url = await server.database();
    const store = await opened(proxy.through(url));
    await store.recover(clock.now(), 0);
    const done: number[] = [];
    proxy.cutAt(kind, (_text, count) => count === k);
    const failure = await work(store, done).then(
      () => "none",
      (error: { readonly code?: string }) => error.code,
    );
    await ended(store);
    if (!proxy.hasCut) break; // it had fewer statements
    expect(["none", "store_lost"], `cut at ${k}`).toContain(failure);
    await afterwards(url, done);
    expect(k).toBeLessThan(100);
  }
});

test.each(KINDS)("at each form of statement of a start behind a crash, %s", { timeout: 180_000 }, async (kind) => {
  const proxy = await startCuttingProxy({ onTestFinished }, server.port);
  const forms = new Set<string>();
  const seen = (text: string): boolean => {
    const form = formOf(text);
    const isNew = !forms.has(form);
    forms.add(form);
    return isNew;
  };
  const url = await server.database();
  const first = await opened(url);
  await work(first, []);
  await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue writer'");
  await ended(first);
  for (;;) {
    proxy.cutAt(kind, seen);
    const store = await opened(proxy.through(url)).catch(() => undefined);
    await store?.recover(clock.now(), 0).catch(() => undefined);
    await ended(store);
    if (!proxy.hasCut && store !== undefined) break; // a session that was cut may still have the shards
  }
  expect(forms.size).toBeGreaterThan(30);
  await afterwards(url, ALL);
});
