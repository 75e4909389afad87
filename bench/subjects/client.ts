/** One GET after another through a client, so many at a time; answers how many a second and how long each took. */
import { join } from "node:path";
import { Agent, request } from "undici";
import { createClient } from "../../src/client/client.ts";
import { createTransport } from "../../src/client/transport.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { percentile } from "../harness/stats.ts";
import { ready, settings } from "./subject.ts";

type Get = () => Promise<unknown>;

const origin = `http://127.0.0.1:${settings.sink}`;
const path = "/v1/posts/e1";
const count = Number(settings["count"]);
const atOnce = Number(settings["atOnce"]);

const CLIENTS: Readonly<Record<string, () => Promise<Get>>> = {
  undici: async () => {
    const dispatcher = new Agent({ connections: 64, pipelining: 1 });
    return async () => (await request(`${origin}${path}`, { dispatcher, headers: { authorization: "Bearer x" } })).body.json();
  },
  "retinue memory": () => retinue(":memory:"),
  "retinue durable": () => retinue(join(String(settings["folder"]), "client.sqlite")),
};

/** Through the client with everything on: admission before, settlement after, the answer read into a record. */
async function retinue(file: string): Promise<Get> {
  const clock = systemClock();
  const store = openSqliteStore({ path: file, clock, random: systemRandom() });
  const transport = createTransport({ clock });
  const client = createClient({ profile: resolveProfile({ extends: "set-b" }), baseUrl: `${origin}/v1`, transport: transport.send, clock });
  const [specialist, id] = [asHandle("scout"), asKeyId("key")];
  await store.registerKey(specialist, id, { limits: { perHour: 1e9, perDay: 1e9 }, floors: DEFAULT_FLOORS }, clock.now());
  const key = new Secret("sk_live_bench_abcdefghijkl");
  const known = { may: [], review: false, caps: [] };
  return async () => {
    const now = clock.now();
    const admission = await store.admit(
      {
        request: { specialist, key: id, operation: "posts.get", effect: "read", lane: "watch", price: { kind: "free" } },
        target: "e1",
        now,
        deadlineAt: now + 30_000,
        holdExpiresAt: now,
        known,
      },
      decide,
    );
    if (admission.kind !== "admitted") throw new Error(`not admitted: ${JSON.stringify(admission)}`);
    const outcome = await client.send({ operation: "posts.get", target: "e1", input: {} }, { key });
    if (outcome.class !== "confirmed") throw new Error(`not confirmed: ${JSON.stringify(outcome)}`);
    const { attempt } = admission;
    const end = {
      key: id,
      attempt: attempt.seq,
      lane: "watch" as const,
      cost: 1,
      admittedAt: attempt.startedAt,
      deadlineAt: attempt.deadlineAt,
      ending: "answered" as const,
    };
    store.complete({ attempt, end, outcome: "confirmed", status: 200, now: clock.now(), events: [], watches: [] });
  };
}

async function open(name: string): Promise<Get> {
  const ours = CLIENTS[name];
  if (ours !== undefined) return ours();
  const peers: string = "./clients.js"; // packages of the peers, whose types are not installed here
  const { CLIENTS: theirs } = (await import(peers)) as {
    readonly CLIENTS: Readonly<Record<string, (origin: string, path: string) => Get>>;
  };
  const make = theirs[name];
  if (make === undefined) throw new Error(`there is no client "${name}"`);
  return make(origin, path);
}

async function go(): Promise<unknown> {
  const get = await open(String(settings["client"]));
  const run = async (total: number, took: number[]): Promise<void> => {
    let left = total;
    const caller = async (): Promise<void> => {
      while (left-- > 0) {
        const began = performance.now();
        await get();
        took.push(performance.now() - began);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, caller));
  };
  await run(Math.min(2_000, count), []);
  const took: number[] = [];
  const began = performance.now();
  const before = process.cpuUsage();
  await run(count, took);
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (count / (performance.now() - began)) * 1_000, p99Ms: percentile(took, 99), cpuMicros: (user + system) / count };
}

ready({ port: 0, answers: { go } });
