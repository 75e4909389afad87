/** A job applied for that a list everybody looks at still calls open is not asked for itself, and what becomes of it is learnt as soon. */
import { expect, test } from "vitest";
import { isObject, parseJson, type JsonObject } from "../../../src/core/json.ts";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { textAt } from "../../harness/visitor.ts";
import { harness } from "../../harness/harness.ts";
import { virtualWebhooks, withoutIds } from "../../harness/virtual-webhooks.ts";

interface Saying {
  /** What the list says instead of what is so, item by item. */
  readonly listed?: (job: JsonObject) => JsonObject;
  /** Further items of the list. */
  readonly besides?: () => readonly unknown[];
}

/** An applicant is chosen after an hour and a half to six hours. */
const CHOSEN_LATE = (3 * HOUR) / SECOND;

const offer = (skill: string): JsonObject => ({
  title: "a job",
  description: "to be done",
  skills: [skill],
  reward: 1,
  deadline: "2026-11-25T00:00:00Z",
});

/** Between two looks at a job that nothing is heard of, on a tier whose quota has room for more. */
const PAUSE_MS = 10 * MINUTE;
const SIGNED_WITH = "what the network signs with";

const withoutStatus = (job: JsonObject): JsonObject => Object.fromEntries(Object.entries(job).filter(([name]) => name !== "status"));

/** Free specialists on one list, of whom the first applies for one job each time somebody offers one. */
async function openWorld({ listed = (job) => job, besides = () => [] }: Saying = {}) {
  const asked: { readonly path: string; readonly at: number }[] = [];
  const assigned: { readonly job: string; readonly at: number }[] = [];
  const here = await harness({
    seed: 11,
    network: { scale: CHOSEN_LATE },
    specialists: Array.from({ length: 5 }, (_, i) => ({
      handle: `w${i}`,
      may: ["jobs.apply"],
      watch: { jobs: { from: "start", skills: [`w${i}`] } },
      on: {
        "job.listed": (job, act) => void act.apply(job, { message: "here" }),
        "job.assigned": (job, act) => void assigned.push({ job: job.id, at: act.now }),
      },
    })),
    link:
      (plain, { clock: now }) =>
      async (request) => {
        const answer = await plain(request);
        const [path = ""] = request.path.split("?", 1);
        if (request.method === "GET" && path.startsWith("/v1/jobs/")) asked.push({ path, at: now.now() });
        if (request.method !== "GET" || path !== "/v1/jobs" || answer.kind !== "answer") return answer;
        const page = parseJson(answer.text);
        if (!isObject(page) || !Array.isArray(page["items"])) throw new Error(`expected a list of jobs, got ${answer.text}`);
        return {
          ...answer,
          text: JSON.stringify({ ...page, items: [...besides(), ...page["items"].map((job) => listed(isObject(job) ? job : {}))] }),
        };
      },
    start: false,
  });
  const { clock, network } = here;
  const post = here.other("poster");
  // Nobody's, for two lists with too little in common prove nothing.
  for (let times = 0; times < 3; times++) await post("POST", "/v1/jobs", { body: offer("of nobody") });
  await clock.run(here.runtime.start());
  await clock.advance(HOUR); // two keys have been seen to get the same list
  return {
    clock,
    network,
    assigned,
    /** How often it was asked for a job itself. */
    asks: (job: string) => asked.filter(({ path }) => path === `/v1/jobs/${job}`).length,
    /** When it was asked for a job itself, up to a time. */
    askedAt: (job: string, until: number) => asked.flatMap(({ path, at }) => (path === `/v1/jobs/${job}` && at <= until ? [at] : [])),
    async offer(): Promise<string> {
      return textAt((await post("POST", "/v1/jobs", { body: offer("w0") })).json, "id");
    },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Offers a job and waits until its applicant has learnt that it was chosen. Answers how long it was open and how late that was learnt. */
async function oneJob(world: World) {
  const { clock, network, assigned, asks } = world;
  const offeredAt = clock.now();
  const id = await world.offer();
  while (!assigned.some(({ job }) => job === id)) {
    if (clock.now() - offeredAt > 12 * HOUR) throw new Error("never learnt that it was chosen");
    await clock.advance(MINUTE);
  }
  const assignedAt = network.jobs().find((job) => job.id === id)?.assignedAt ?? Number.NaN;
  const learntAt = assigned.find(({ job }) => job === id)?.at ?? Number.NaN;
  return { id, openMs: assignedAt - offeredAt, lateMs: learntAt - assignedAt, asks: asks(id) };
}

test("one of five specialists asks for its jobs less than half as often, and learns as soon that it was chosen", async () => {
  const lived = async (saying: Saying) => {
    const world = await openWorld(saying);
    const jobs: Awaited<ReturnType<typeof oneJob>>[] = [];
    await oneJob(world); // shows how long this network takes
    for (let times = 0; times < 6; times++) jobs.push(await oneJob(world));
    const sum = (of: (job: (typeof jobs)[number]) => number): number => jobs.reduce((total, job) => total + of(job), 0);
    return {
      asksAnHour: sum(({ asks }) => asks) / (sum(({ openMs }) => openMs) / HOUR),
      lateMs: sum(({ lateMs }) => lateMs) / jobs.length,
    };
  };
  const without = await lived({ listed: withoutStatus });
  const seen = await lived({});
  expect(seen.asksAnHour).toBeLessThan(without.asksAnHour / 2);
  expect(seen.lateMs).toBeLessThan(without.lateMs + MINUTE);
});

test.each<["id" | "kind", number]>([
  ["id", 0],
  ["kind", 0],
  ["id", HOUR],
  ["kind", HOUR],
])(
  "a job that a delivery by %s reports is read itself, however open a list shows it, also if reads fail for %i ms",
  async (tells, failMs) => {
    const assigned: number[] = [];
    let toldAt = Number.NaN;
    const hand: { now?: () => number } = {};
    const now = (): number => hand.now?.() ?? Number.NaN;
    const world = await virtualWebhooks({
      definition: {
        may: ["jobs.apply"],
        watch: { jobs: { from: "start" } },
        on: {
          "job.listed": (job, act) => void act.apply(job, { message: "here" }),
          "job.assigned": (_, act) => void assigned.push(act.now),
        },
      },
      receiver: { readSecrets: () => [new Secret(SIGNED_WITH)] },
      assume: { deliveryDetail: "id" },
      scale: CHOSEN_LATE,
      altered(delivery) {
        toldAt = now();
        return tells === "kind" ? withoutIds(SIGNED_WITH)(delivery) : delivery;
      },
      link: (plain) => async (request) => {
        const [path = ""] = request.path.split("?", 1);
        const isLook = request.method === "GET" && path.startsWith("/v1/jobs/");
        if (isLook && now() - toldAt < failMs) return { kind: "answer", status: 503, headers: {}, text: "{}", elapsedMs: 1 };
        const answer = await plain(request);
        if (request.method !== "GET" || path !== "/v1/jobs" || answer.kind !== "answer") return answer;
        const items = world.network.jobs().map(({ id }) => ({ id, title: "a job", status: "open", skills: ["w0"] }));
        return { ...answer, text: JSON.stringify({ items }) };
      },
    });
    const { clock, network, other } = world;
    hand.now = () => clock.now();
    await other("poster")("POST", "/v1/jobs", { body: offer("w0") });
    await clock.runUntil(() => assigned.length > 0, 12 * HOUR);
    await clock.advance(HOUR);
    const chosenAt = network.jobs()[0]?.assignedAt ?? Number.NaN;
    expect(assigned).toHaveLength(1);
    expect((assigned[0] ?? Number.NaN) - chosenAt).toBeLessThan(failMs === 0 ? MINUTE : failMs + PAUSE_MS);
  },
);

test("a list that shows open what is taken delays it by three looks, and is not relied on again", async () => {
  const taken: unknown[] = [];
  const world = await openWorld({ besides: () => taken });
  const lied = await world.offer();
  taken.push({ id: lied, title: "a job", status: "open", skills: ["w0"] });
  await world.clock.advance(12 * HOUR);
  const chosenAt = world.network.jobs().find(({ id }) => id === lied)?.assignedAt ?? Number.NaN;
  const asked = world.askedAt(lied, chosenAt);
  expect(asked.length).toBeGreaterThan(3);
  for (const [i, at] of asked.entries()) expect(at - (asked[i - 1] ?? at)).toBeLessThan(4 * PAUSE_MS);
  expect((world.assigned[0]?.at ?? Number.NaN) - chosenAt).toBeLessThan(4 * PAUSE_MS);
  const first = await oneJob(world);
  const second = await oneJob(world);
  const silent = await openWorld({ listed: withoutStatus });
  for (let times = 0; times < 2; times++) await oneJob(silent);
  const without = await oneJob(silent);
  const perHour = ({ asks, openMs }: { asks: number; openMs: number }): number => (asks * HOUR) / openMs;
  expect(perHour(first)).toBeGreaterThan(perHour(without) * 0.7);
  expect(perHour(second)).toBeGreaterThan(perHour(without) * 0.7);
});
