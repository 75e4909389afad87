/** Jobs applied for are checked by one read of the list of offers, for all that wait and for all that share it. Whole runtime, virtual time. */
import { describe, expect, test, vi } from "vitest";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { harness } from "../harness/harness.ts";

vi.setConfig({ testTimeout: 120_000 });

const SECONDS_OF_AN_HOUR = HOUR / SECOND;

interface World {
  readonly specialists: number;
  /** Jobs offered to each at once. */
  readonly jobs: number;
  readonly tier: "free" | "pro";
  /** The list leaves out the status, so that only a job itself shows it. */
  readonly withoutStatus?: boolean;
}

/** Specialists that wait for an assignment, chosen after half an hour to two hours, and what each of them reads. */
async function waiting({ specialists, jobs, tier, withoutStatus = false }: World) {
  const reads: { readonly of: "list" | "job"; readonly key: string; readonly at: number }[] = [];
  const assigned = new Map<string, number>();
  const here = await harness({
    seed: 7,
    network: { scale: SECONDS_OF_AN_HOUR },
    specialists: Array.from({ length: specialists }, (_, i) => ({
      handle: `w${i}`,
      tier,
      may: ["jobs.apply"],
      watch: { jobs: { from: "start", skills: [`w${i}`] } },
      on: {
        "job.listed": (job, act) => void act.apply(job, { message: "here" }),
        "job.assigned": (job, act) => void assigned.set(job.id, act.now),
      },
    })),
    link:
      (plain, { clock }) =>
      async (request) => {
        const [path = ""] = request.path.split("?", 1);
        const isJob = path.startsWith("/v1/jobs/");
        const key = String(request.headers["authorization"]);
        if (request.method === "GET" && (isJob || path === "/v1/jobs")) reads.push({ of: isJob ? "job" : "list", key, at: clock.now() });
        const answer = await plain(request);
        if (!withoutStatus || request.method !== "GET" || path !== "/v1/jobs" || answer.kind !== "answer") return answer;
        const page = parseJson(answer.text);
        const items = isObject(page) && Array.isArray(page["items"]) ? page["items"] : [];
        return { ...answer, text: JSON.stringify({ items: items.map((item) => without(isObject(item) ? item : {}, "status")) }) };
      },
    start: false,
  });
  const { clock, network } = here;
  const post = here.other("poster");
  const offer = async (skill: string): Promise<void> => {
    const body = { title: "a job", description: "to be done", skills: [skill], reward: 1, deadline: "2026-11-25T00:00:00Z" };
    await post("POST", "/v1/jobs", { body });
  };
  for (let times = 0; times < 3; times++) await offer("of nobody"); // lists with too little in common prove nothing
  await clock.run(here.runtime.start());
  await clock.advance(HOUR);
  /** Offers a round of jobs and waits until all were noticed. */
  const round = async () => {
    const from = clock.now();
    const before = new Set(assigned.keys());
    for (let i = 0; i < specialists; i++) for (let n = 0; n < jobs; n++) await offer(`w${i}`);
    const news = (): readonly string[] => [...assigned.keys()].filter((id) => !before.has(id));
    await clock.runUntil(() => news().length === specialists * jobs, 12 * HOUR);
    const late = news().map(
      (id) => (assigned.get(id) ?? Infinity) - (network.jobs().find((job) => job.id === id)?.assignedAt ?? Number.NaN),
    );
    const hours = (clock.now() - from) / HOUR;
    const within = reads.filter(({ at }) => at >= from);
    const byKey = (of: "list" | "job"): readonly number[] => {
      const grouped = Map.groupBy(
        within.filter((read) => read.of === of),
        ({ key }) => key,
      );
      return [...grouped.values()].map((all) => all.length / hours);
    };
    return { lateMs: Math.max(...late), lists: byKey("list"), jobs: byKey("job") };
  };
  return { round, end: here.end };
}

function without(record: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== member));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

describe.each(["free", "pro"] as const)("on %s", (tier) => {
  test("ten jobs that wait together are checked by the list, and none of them by itself until it leaves the list", async () => {
    const listed = await waiting({ specialists: 1, jobs: 10, tier });
    const alone = await waiting({ specialists: 1, jobs: 10, tier, withoutStatus: true });
    await listed.round();
    await alone.round();
    const [byList, byJob] = [await listed.round(), await alone.round()];
    expect(sum(byList.jobs)).toBeLessThan(sum(byJob.jobs) / 2);
    expect(byList.lateMs).toBeLessThanOrEqual(byJob.lateMs);
    await listed.end();
    await alone.end();
  });
});

test("five that wait on one list read it no more often than one does, each about as often as the others, and learn as soon", async () => {
  const alone = await waiting({ specialists: 1, jobs: 2, tier: "pro" });
  const together = await waiting({ specialists: 5, jobs: 2, tier: "pro" });
  await alone.round();
  await together.round();
  const [one, five] = [await alone.round(), await together.round()];
  expect(Math.max(...five.lists)).toBeLessThanOrEqual(1.1 * sum(one.lists));
  expect(sum(five.jobs) / 5).toBeLessThanOrEqual(1.1 * sum(one.jobs));
  expect(Math.max(...five.lists) / Math.min(...five.lists)).toBeLessThan(1.5);
  expect(five.lateMs).toBeLessThanOrEqual(MINUTE);
  await alone.end();
  await together.end();
});
