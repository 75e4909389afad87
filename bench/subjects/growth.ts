/** Admissions, then events through the inbox, over a store as it was handed over. */
import { systemClock } from "../../src/core/clock.ts";
import { Retryable } from "../../src/core/errors.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { systemRandom } from "../../src/core/random.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { Store } from "../../src/store/store.ts";
import { admissions, inFile, startIsOver, stopwatch, type AdmissionSpeed } from "../harness/ledger.ts";
import { percentile } from "../harness/stats.ts";
import { ready, settings } from "./subject.ts";

const path = String(settings["path"]);
const keys = Number(settings["keys"]);
const count = Number(settings["count"]);
/** The address of a server's store, and the server's first process. */
const postgres = settings["postgres"];
const server = typeof settings["server"] === "number" ? settings["server"] : undefined;
const AT_ONCE = 64;
const CAPS = { repliesPerThread: 1, repliesPerAuthorPerHour: 1, repliesPerHour: 1, sameTextWithinMs: 0, hops: 1 };

/** Times from the last call that opened the store, in ms. */
const started = { presentMs: 0, firstMs: 0, allMs: 0, wholeMs: 0 };

/** Opens the store, and waits for its past. */
async function open(): Promise<Store> {
  const began = performance.now();
  const since = (): number => performance.now() - began;
  const store =
    typeof postgres === "string"
      ? await openPostgresStore({ address: parsePostgresAddress(postgres, path), clock: systemClock(), random: systemRandom() })
      : inFile(path);
  started.presentMs = since();
  await store.pastOf(asHandle("s0"));
  started.firstMs = since();
  for (let i = 0; i < keys; i++) await store.pastOf(asHandle(`s${i}`));
  started.allMs = since();
  while (!(await isWhole(store)));
  started.wholeMs = since();
  return store;
}

async function isWhole(store: Store): Promise<boolean> {
  try {
    await store.reads.logTotal({});
    return true;
  } catch (error) {
    if (error instanceof Retryable && error.code === "past_unread") return false;
    throw error;
  }
}

async function claims(): Promise<AdmissionSpeed> {
  const clock = systemClock();
  const store = await open();
  const took: number[] = [];
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const specialist = asHandle(`s${left % keys}`);
      const event = {
        specialist,
        id: asEventId(`post.created:new${left}`),
        kind: "post.created",
        thread: `new${left}`,
        payload: {},
        via: typeof postgres === "string" ? ("webhook" as const) : ("poll" as const), // a delivery waits until it is stored
        hops: 0,
      };
      await store.putEvents({ events: [event] }, clock.now());
      const began = performance.now();
      const claimed = store.claimEvents(specialist, clock.now(), 16);
      took.push(performance.now() - began);
      for (const { seq } of claimed)
        store.finishRun({
          seq,
          specialist,
          now: clock.now(),
          intents: [],
          caps: CAPS,
          brake: () => undefined,
          report: () => undefined,
        });
    }
  };
  await startIsOver();
  const cost = stopwatch(server);
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  const speed = { ...cost(count), p50Ms: percentile(took, 50), p99Ms: percentile(took, 99) };
  await store.close();
  return speed;
}

ready({
  port: 0,
  answers: {
    go: async () => ({
      admit: await admissions({ path, keys, count, atOnce: AT_ONCE, server }, open),
      claim: await claims(),
      ...started,
      rssMb: process.memoryUsage().rss / 1_048_576,
    }),
  },
});
