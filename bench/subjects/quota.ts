/** One key's virtual days through one limiter, always with demand, judged by a server that counts to the millisecond, or refused by it. */
import { join } from "node:path";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { LANES, type Lane } from "../../src/contract/operations.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { StrictServer } from "../../test/harness/strict-server.ts";
import { takeOverTime } from "../harness/virtual-time.ts";
import { ACCEPTED, RefusingServer, type Answer } from "./refusing-server.ts";
import { ready, settings } from "./subject.ts";

interface Limiter {
  /** Sends once there is room. */
  run(lane: Lane, send: () => Promise<Answer>): Promise<unknown>;
  close?(): Promise<void>;
}
type Limits = { readonly perHour: number; readonly perDay: number };

const HOUR_MS = 3_600_000;
const SLOWEST_MS = 800;
const ALIGNMENTS = 24;

const limits = settings["limits"] as Limits;
const hours = Number(settings["hours"]);
const restartEveryHours = Number(settings["restartEveryHours"] ?? Infinity);
const name = String(settings["limiter"]);
/** Whether the server refuses what is over, for clients that go by its answers. */
const enforced = settings["enforced"] === true;
const random = seededRandom(7);
const start = Date.UTC(2026, 2, 1, 0, 17);
/** Admissions on their way to the disk. */
let committing = 0;
const time = takeOverTime(start, () => committing > 0);

/** The product's own admission: rows on disk, opened again after each restart. */
async function retinue(): Promise<Limiter> {
  const clock = systemClock();
  const store = openSqliteStore({ path: join(String(settings["folder"]), "quota.sqlite"), clock, random, lateLandingMs: 2_000 });
  await store.recover(clock.now(), 0);
  const [specialist, key] = [asHandle("scout"), asKeyId("key")];
  await store.registerKey(specialist, key, { limits, floors: DEFAULT_FLOORS }, clock.now());
  return {
    async run(lane, send) {
      for (;;) {
        const now = clock.now();
        committing++;
        const admitted = store.admit(
          {
            request: { specialist, key, operation: "posts.get", effect: "read", lane, price: { kind: "free" } },
            now,
            deadlineAt: now + 30_000,
            holdExpiresAt: now,
            known: { may: undefined, review: false, caps: [] },
          },
          decide,
        );
        const admission = await admitted.finally(() => committing--);
        if (admission.kind === "admitted") {
          const { attempt } = admission;
          await send();
          const end = {
            key,
            attempt: attempt.seq,
            lane,
            cost: 1,
            admittedAt: attempt.startedAt,
            deadlineAt: attempt.deadlineAt,
            ending: "answered" as const,
          };
          return store.complete({ attempt, end, outcome: "confirmed", now: clock.now(), events: [], watches: [] });
        }
        const until = admission.kind === "wait" ? (admission.until ?? now + 60_000) : now + 60_000;
        await new Promise((resolve) => setTimeout(resolve, Math.max(1, until - now)));
      }
    },
    close: () => store.close(),
  };
}

async function open(): Promise<Limiter> {
  if (name === "Retinue") return retinue();
  const path: string = enforced ? "./reacting.js" : "./limiters.js"; // their packages are the peers', whose types are not installed here
  const module = (await import(path)) as Readonly<Record<string, Readonly<Record<string, (limits: Limits) => Limiter>>>>;
  const make = module[enforced ? "REACTING" : "LIMITERS"]?.[name];
  if (make === undefined) throw new Error(`there is no limiter "${name}"`);
  return make(limits);
}

async function live(): Promise<unknown> {
  const server = new StrictServer(limits, ALIGNMENTS);
  const refusing = new RefusingServer(limits);
  const end = start + hours * HOUR_MS;
  let generation = 0;
  let sent = 0;
  /** Each lane always has its next request waiting. */
  const want = async (mine: number, limiter: Limiter, lane: Lane): Promise<void> => {
    while (mine === generation && time.now() < end)
      await limiter.run(lane, async () => {
        if (mine !== generation || time.now() >= end) return new Promise(() => undefined); // the process is gone
        sent++;
        const latency = 50 + random.int(SLOWEST_MS - 50);
        const counted = random.int(latency);
        if (!enforced) server.count(time.now() + counted);
        await new Promise((resolve) => setTimeout(resolve, counted));
        const answer = enforced ? refusing.answer(time.now()) : ACCEPTED;
        await new Promise((resolve) => setTimeout(resolve, latency - counted));
        return answer;
      });
  };
  for (let from = start; from < end; from += restartEveryHours * HOUR_MS) {
    const limiter = await open();
    const mine = ++generation;
    for (const lane of LANES)
      void want(mine, limiter, lane).catch((error: unknown) => {
        if (mine === generation) throw error; // what a gone process still wanted ends with its store
      });
    await time.runUntil(Math.min(end, from + restartEveryHours * HOUR_MS));
    generation++;
    await limiter.close?.();
    time.forget();
  }
  return {
    sent,
    refused: enforced ? refusing.refused : undefined,
    verdicts: server.judge(),
    // Both windows start empty, so that a part of a day has room for a whole one.
    capacity: Math.min(limits.perDay * Math.ceil(hours / 24), limits.perHour * Math.ceil(hours)),
  };
}

ready({ port: 0, answers: { live } });
