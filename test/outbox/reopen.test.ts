import { describe, expect, test } from "vitest";
import { MINUTE } from "../../src/core/units.ts";
import { open, world, type Job } from "../harness/function-network.ts";

/** Two jobs, of which the first one's delivery is lost on its way, on a network that shows deliveries or `hides` them. */
async function losingTheFirst(hides: boolean) {
  const handed = new Set<string>();
  const showJob = (job: Job): object => ({ ...open(job), ...(handed.has(String(job.id)) && !hides ? { status: "submitted" } : {}) });
  const at = await world({
    showJob,
    drops: ["jobs/j1/submit", 1],
    answerSubmit: (job) => {
      handed.add(String(job.id));
      return { ...open(job), status: "submitted" };
    },
  });
  const give = async (id: string): Promise<void> => {
    const given = at.job(id);
    await at.after(2 * MINUTE);
    given.assignee = "me";
    await at.after(30 * MINUTE);
  };
  return { ...at, give };
}

describe("the first delivery of work that was ever made, and was lost", () => {
  test("waits for a person until another one shows that jobs tell of deliveries, and is then sent again", async () => {
    const { give, fate, done } = await losingTheFirst(false);
    await give("j1");
    expect(await fate("j1")).toContain("jobs.submit parked absent_unproven");
    await give("j2");
    expect(await fate("j1")).toContain("jobs.submit confirmed");
    expect(done.filter((path) => path.endsWith("submit"))).toEqual(["jobs/j2/submit", "jobs/j1/submit"]);
  });

  test("stays with a person where jobs do not tell of deliveries, and costs no further reads", async () => {
    const { give, fate, done } = await losingTheFirst(true);
    for (const id of ["j1", "j2", "j3"]) await give(id);
    expect(await fate("j1")).toContain("jobs.submit parked absent_unproven");
    expect(done.filter((path) => path.endsWith("submit"))).toEqual(["jobs/j2/submit", "jobs/j3/submit"]);
  });
});
