/** Virtual days of specialists that want jobs, through the whole runtime or by fixed intervals: how long after a job each applied. */
import { createKeys } from "../../src/client/auth.ts";
import type { Transport } from "../../src/client/transport.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { isObject, parseJson } from "../../src/core/json.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom, type Random } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { DAY, HOUR, SECOND } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { Deliver } from "../../src/local-network/webhooks/deliver.ts";
import type { LocalNetwork } from "../../src/local-network/options.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { ready, settings } from "./subject.ts";

const count = Number(settings["count"]);
const days = Number(settings["days"]);
const webhooks = settings["webhooks"] === true;
/** Whether the feed is watched beside the jobs. */
const feed = settings["feed"] === true;
/** Looks a day of each, where they are fixed; undefined for Retinue. */
const fixedLooks = settings["fixed"] as FixedLooks | undefined;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/** The network's own waits are so long that an applicant would be chosen only when its job is over. */
const NOBODY_CHOSEN = (2 * HOUR) / SECOND;
/** An empty window lets everybody look more often on the first day than on any other. */
const WARM_UP_DAYS = 1;
const JOBS_PER_DAY_EACH = 8;
const LATENCY_MS = 100;
const KEEP = { requests: 100_000, effects: 100_000 };

interface FixedLooks {
  readonly jobs: number;
  readonly feed: number;
  /** At what became of an application. */
  readonly applied: number;
}

type Ask = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

interface World {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly network: LocalNetwork;
  readonly keys: ReadonlyMap<string, string>;
}

function openWorld(deliver: Deliver): World {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(Number(settings["seed"]));
  const residents = { perMinute: { post: 0.05, reply: 0, like: 0, follow: 0, offer: 0, work: 0 }, already: { post: 8 } };
  const network = createLocalNetwork({
    clock,
    random: random.fork("network"),
    residents,
    scale: NOBODY_CHOSEN,
    webhooks: { deliver },
    keep: KEEP,
  });
  const keys = new Map(Array.from({ length: count }, (_, i) => [`w${i}`, network.provision({ handle: `w${i}`, tier: "free" }).key]));
  return { clock, random, network, keys };
}

function asking({ network, clock }: Pick<World, "network" | "clock">, key: string): Ask {
  return async (method, path, body) => {
    await later(clock, LATENCY_MS);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await network.handle("b", { method, path, query: {}, headers, body: body === undefined ? "" : JSON.stringify(body) });
    const json = parseJson(reply.body);
    return { status: reply.status, ...(isObject(json) ? json : {}) };
  };
}

function later(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, () => resolve()));
}

/** Offers jobs at random moments, each for the skill of one specialist; nobody is chosen, and each is gone after an hour. */
function offerJobs(world: World): readonly { readonly id: string; readonly at: number }[] {
  const { clock, network } = world;
  const chance = world.random.fork("jobs");
  const ask = asking(world, network.provision({ handle: "poster", tier: "pro" }).key);
  const meanMs = DAY / (JOBS_PER_DAY_EACH * count);
  const offered: { readonly id: string; readonly at: number }[] = [];
  const offer = (): void => {
    const job = {
      title: "a job",
      description: "to be applied for",
      skills: [`skill${chance.int(count)}`],
      reward: 1,
      deadline: new Date(clock.now() + HOUR).toISOString(),
    };
    void ask("POST", "/v1/jobs", job).then(({ id }) => offered.push({ id: String(id), at: clock.now() }));
    clock.after(Math.max(SECOND, -Math.log(1 - chance.next()) * meanMs), offer);
  };
  clock.after(meanMs, offer);
  return offered;
}

/** The product with shipped defaults; with webhooks, deliveries reach it without a socket. */
function retinue({ clock, random, network, keys }: World): Runtime {
  const transport: Transport = async ({ method, path, headers, body = "" }) => {
    await later(clock, LATENCY_MS);
    const { pathname, search } = new URL(path, "http://network");
    const query = Object.fromEntries(new URLSearchParams(search));
    const reply = await network.handle("b", { method, path: pathname, query, headers, body });
    return { kind: "answer", status: reply.status, headers: reply.headers, text: reply.body, elapsedMs: LATENCY_MS };
  };
  const receiver = {
    port: undefined,
    host: "127.0.0.1",
    url: "https://bots.example.net",
    allowUnsigned: false,
    local: true,
    readSecrets: () => [new Secret(SECRET)],
  };
  return createRuntime({
    specialists: [...keys.keys()].map((handle, i) =>
      createSpecialist({
        handle,
        may: ["jobs.apply"],
        watch: { feed: feed && { from: "now" }, jobs: { from: "now", skills: [`skill${i}`] } },
        on: {
          ...(feed ? { "post.created": () => undefined } : {}),
          "job.listed": (job, act) => void act.apply(job, { message: "here" }),
        },
      }),
    ),
    profile: shippedProfile("b"),
    baseUrl: "http://network/v1",
    store: openSqliteStore({ path: ":memory:", clock, random: random.fork("store") }),
    transport,
    keys: createKeys({ read: (handle) => keys.get(handle), salt: new Secret("salt of a benchmark") }),
    pacer: virtualPacer(clock, {}),
    clock,
    random: random.fork("runtime"),
    log: silentLogger(),
    ...(webhooks ? { receiver } : {}),
  });
}

/** What one would write without it: each looks when an interval is over, from a moment of its own, and applies at once. */
function fixed(world: World, perDay: FixedLooks): void {
  const { clock, keys, random } = world;
  const every = (times: number, phase: string, look: () => Promise<unknown>): void => {
    if (times <= 0) return;
    const everyMs = Math.round(DAY / times);
    const again = (): void => {
      clock.after(everyMs, again);
      void look();
    };
    clock.after(random.fork(phase).int(everyMs), again);
  };
  for (const [i, key] of [...keys.values()].entries()) {
    const ask = asking(world, key);
    const seen = new Set<string>();
    let latest: string | undefined;
    every(perDay.feed, `feed phase ${i}`, () => ask("GET", "/v1/posts"));
    every(perDay.applied, `applied phase ${i}`, async () => latest !== undefined && ask("GET", `/v1/jobs/${latest}`));
    every(perDay.jobs, `phase ${i}`, async () => {
      const { items } = await ask("GET", "/v1/jobs");
      for (const job of Array.isArray(items) ? items : []) {
        const id: unknown = isObject(job) ? job["id"] : undefined;
        if (typeof id !== "string" || seen.has(id) || !JSON.stringify(job).includes(`"skill${i}"`)) continue;
        seen.add(id);
        await ask("POST", `/v1/jobs/${id}/apply`, { message: "here" });
        latest = id;
      }
    });
  }
}

async function live(): Promise<unknown> {
  let runtime: Runtime | undefined;
  const world = openWorld(async ({ url, headers, body }) => {
    const handle = new URL(url).pathname.split("/").at(-1) ?? "";
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const taken = await runtime?.webhooks?.accept(handle, { headers: lower, body: Buffer.from(body) });
    return taken?.status ?? 503;
  });
  const { clock, network } = world;
  network.start();
  const offered = offerJobs(world);
  if (fixedLooks === undefined) {
    runtime = retinue(world);
    await clock.run(runtime.start());
  } else fixed(world, fixedLooks);
  const measuredFrom = clock.now() + WARM_UP_DAYS * DAY;
  await clock.advance(WARM_UP_DAYS * DAY + days * DAY);
  const measuredTo = clock.now();
  const requests = network.truth.requests().filter(({ at, agent }) => at >= measuredFrom && at < measuredTo && agent !== "poster");
  const offers = offered.filter(({ at }) => at >= measuredFrom && at < measuredTo - HOUR);
  const applied = new Map(network.truth.effects({ operation: "jobs.apply" }).map(({ target, at }) => [target, at]));
  const found = offers.flatMap(({ id, at }) => {
    const appliedAt = applied.get(id);
    return appliedAt === undefined ? [] : [appliedAt - at];
  });
  if (runtime !== undefined) await clock.run(runtime.stop());
  await network.stop();
  const perDay: Record<string, number> = {};
  for (const { operation = "other" } of requests) perDay[operation] = (perDay[operation] ?? 0) + 1 / days / count;
  return {
    delaysMs: found,
    missed: offers.length - found.length,
    perDay,
    refused: requests.filter(({ status }) => status === 429).length,
  };
}

ready({ port: 0, answers: { live } });
