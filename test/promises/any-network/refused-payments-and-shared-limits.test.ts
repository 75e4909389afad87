/** Networks that refuse a single action for its price, and limits that count reads and deliveries together. */
import { expect, onTestFinished, test } from "vitest";
import type { WireAnswer } from "../../../src/client/transport.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE, SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { virtualRuntime } from "../../harness/harness.ts";

interface Job {
  readonly id: string;
  assignee?: string;
  status: string;
}

/** A worker on a network of jobs: `offers` says which are listed at each read, `refuses` which cost too much. */
async function working(options: {
  readonly offers: (reads: number) => readonly string[];
  readonly refuses?: (job: string) => boolean;
  readonly profile?: object;
}) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const jobs = new Map<string, Job>();
  const calls: { readonly what: string; readonly id: string; readonly at: number }[] = [];
  let reads = 0;
  const answer = (status: number, body: object): WireAnswer => ({
    kind: "answer",
    status,
    headers: {},
    text: JSON.stringify(body),
    elapsedMs: 1,
  });
  const show = ({ id, status, assignee }: Job): object => ({
    id,
    title: id,
    status,
    ...(assignee === undefined ? {} : { assignee: { id: assignee } }),
  });
  const runtime = virtualRuntime({
    clock,
    random: seededRandom(2),
    profile: resolveProfile({ extends: "set-b", ...options.profile }),
    specialists: [
      createSpecialist({
        handle: "worker",
        tier: "pro",
        watch: { jobs: { from: "start" } },
        may: ["jobs.apply", "jobs.submit"],
        on: {
          "job.listed": (job, act) => void act.apply(job, { message: "I can" }),
          "job.assigned": (job, act) => void act.submit(job, { done: true }),
        },
      }),
    ],
    transport: async ({ method, path }) => {
      const [, kind, id = "", verb] = (path.split("?", 1)[0] ?? "").split("/").slice(1);
      if (kind !== "jobs") return answer(200, { agents: [{ id: "me", handle: "worker" }] });
      calls.push({ what: verb ?? (id === "" ? "list" : "get"), id, at: clock.now() });
      if (id === "") {
        for (const offered of options.offers(reads++)) if (!jobs.has(offered)) jobs.set(offered, { id: offered, status: "open" });
        return answer(200, { jobs: [...jobs.values()].filter(({ status }) => status === "open").map(show) });
      }
      const job = jobs.get(id);
      if (job === undefined) return answer(404, { error: { code: "not_found", message: "no such job" } });
      if (method === "GET") return answer(200, show(job));
      if (verb === "apply" && options.refuses?.(id) === true)
        return answer(402, { error: { code: "payment_required", message: "this one costs more than you have" } });
      if (verb === "apply") [job.status, job.assignee] = ["assigned", "me"];
      else job.status = "submitted";
      return answer(201, verb === "apply" ? { id: `a-${id}`, status: "applied" } : show(job));
    },
    keyOf: () => "sk_live_of_worker",
  });
  await clock.run(runtime.start());
  onTestFinished(() => clock.run(runtime.stop()));
  const times = (what: string): ReadonlyMap<string, number> =>
    new Map(calls.filter((call) => call.what === what).map(({ id, at }) => [id, at]));
  return { clock, calls, times };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `j${i}`);

test("one application that costs too much stops none of the others", async () => {
  const { clock, times } = await working({ offers: () => names(8), refuses: (job) => job === "j2" });
  await clock.advance(2 * MINUTE);
  expect([...times("apply").keys()].toSorted()).toEqual(names(8));
  expect([...times("submit").keys()].toSorted()).toEqual(names(8).filter((id) => id !== "j2"));
});

test("three applications in a row that cost too much stop the operation", async () => {
  const { clock, times } = await working({ offers: (reads) => names(Math.min(20, reads + 1)), refuses: () => true });
  await clock.advance(10 * MINUTE);
  expect(times("apply").size).toBe(3);
});

test("a limit that counts reads and deliveries together keeps room for what is owed", async () => {
  const { clock, times, calls } = await working({
    offers: (reads) => names(Math.floor(reads / 4)),
    profile: { limits: [{ name: "job calls", operations: ["jobs.list", "jobs.get", "jobs.apply", "jobs.submit"], max: 10, per: "90s" }] },
  });
  await clock.advance(30 * MINUTE);
  const submitted = times("submit");
  expect(submitted.size).toBeGreaterThan(5);
  const assigned = calls.filter(({ what }) => what === "get");
  const waits = [...submitted].map(([id, at]) => at - (assigned.find((call) => call.id === id && call.at <= at)?.at ?? at));
  expect(Math.max(...waits)).toBeLessThan(10 * SECOND);
  const ends = calls.map(({ at }) => at);
  const most = Math.max(...ends.map((end) => ends.filter((at) => at > end - 90 * SECOND && at <= end).length));
  expect(most).toBeLessThanOrEqual(10);
});
