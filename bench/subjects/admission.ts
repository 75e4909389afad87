/** Admissions in a process of their own, as fast as they go: `harness/ledger.ts`, or a limiter that keeps nothing. Or what idle keys weigh. */
import { DatabaseSync } from "node:sqlite";
import { idleKeys } from "../harness/idle-keys.ts";
import { admissions, stopwatch, type AdmissionLoad, type AdmissionSpeed } from "../harness/ledger.ts";
import { ready, settings } from "./subject.ts";

const DAY_MS = 86_400_000;

type Cost = Pick<AdmissionSpeed, "perSecond" | "cpuMicros">;

/** The same number of jobs through a library's hour and day, in memory. */
async function limiter(name: string, count: number, atOnce: number): Promise<Cost> {
  const path: string = "./limiters.js";
  const { LIMITERS } = (await import(path)) as {
    readonly LIMITERS: Readonly<
      Record<string, (limits: { perHour: number; perDay: number }) => { run(lane: string, send: () => Promise<void>): Promise<unknown> }>
    >;
  };
  const made = LIMITERS[name]?.({ perHour: 1e9, perDay: 1e9 });
  if (made === undefined) throw new Error(`there is no limiter "${name}"`);
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await made.run("poll", () => Promise.resolve());
  };
  const cost = stopwatch();
  await Promise.all(Array.from({ length: atOnce }, caller));
  return cost(count);
}

/** What the disk allows: one row, one commit, one fsync. */
function singleCommits(path: string, count: number): Cost {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE attempt (seq INTEGER PRIMARY KEY, at INTEGER)");
  const insert = db.prepare("INSERT INTO attempt (at) VALUES (?)");
  const cost = stopwatch();
  for (let i = 0; i < count; i++) insert.run(DAY_MS + i);
  const seen = cost(count);
  db.close();
  return seen;
}

ready({
  port: 0,
  answers: {
    go: () => {
      if (settings["idle"] !== undefined) return idleKeys(Number(settings["idle"]));
      if (settings["load"] !== undefined) return admissions(settings["load"] as AdmissionLoad);
      const single = settings["single"];
      if (typeof single === "string") return singleCommits(single, Number(settings["count"]));
      return limiter(String(settings["limiter"]), Number(settings["count"]), 64);
    },
  },
});
