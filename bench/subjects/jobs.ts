/** A specialist that does every job, or a loop that asks once when it matters, on a strict network and virtual time. */
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { doJobs, type DoingJobs } from "../../test/harness/job-doer.ts";
import { strictJobs, type Tally } from "../../test/harness/strict-jobs.ts";
import { ready, settings } from "./subject.ts";

const world = settings["world"] as Omit<DoingJobs, "givesMs">;
/** Given at once, or within two to four minutes. */
const givesMs: DoingJobs["givesMs"] = settings["slow"] === true ? (chance) => 2 * MINUTE * (1 + chance.next()) : () => 500;
const REQUESTS_OF_A_JOB = 4;
const LONGEST_MS = 5 * DAY;

/** Knows when each job is given, asks once for it, and never for a payment: list, apply, get, submit, evenly over the quota. */
async function loop({ until, ...ways }: Omit<DoingJobs, "givesMs">): Promise<Tally> {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const chance = seededRandom(9);
  let givenMs = 0;
  const network = strictJobs(clock, { ...ways, givesMs: () => (givenMs = givesMs(chance)) });
  const ask = async (method: "GET" | "POST", path: string): Promise<string> => {
    const answer = await network.transport({ method, origin: "", path, headers: {}, deadlineMs: MINUTE });
    return answer.kind === "answer" ? answer.text : "";
  };
  const done = new Set<string>();
  const one = async (): Promise<void> => {
    const listed = (await ask("GET", "/v1/jobs")).match(/job_\d+/g) ?? [];
    const id = listed.find((job) => !done.has(job));
    if (id === undefined) return;
    done.add(id);
    await ask("POST", `/v1/jobs/${id}/apply`);
    await new Promise<void>((resolve) => void clock.after(givenMs, () => resolve()));
    await ask("GET", `/v1/jobs/${id}`);
    await ask("POST", `/v1/jobs/${id}/submit`);
  };
  const { perHour, perDay } = TIER_LIMITS[ways.tier];
  const everyMs = REQUESTS_OF_A_JOB * ("ms" in until ? HOUR / perHour : DAY / perDay);
  const again = (): void => {
    clock.after(everyMs, again);
    void one();
  };
  again();
  const end = clock.now() + ("ms" in until ? until.ms : LONGEST_MS);
  while (clock.now() < end && !("requests" in until && network.requests() >= until.requests)) await clock.advance(MINUTE);
  return network.tally();
}

ready({ port: 0, answers: { live: () => (settings["loop"] === true ? loop(world) : doJobs({ ...world, givesMs })) } });
