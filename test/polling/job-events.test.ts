/** Jobs become events: offers that fit, and each assignment, verdict and payment once. */
import { describe, expect, test } from "vitest";
import type { Job } from "../../src/contract/records.ts";
import { asHandle } from "../../src/core/ids.ts";
import { DAY, HOUR } from "../../src/core/units.ts";
import { followJob, readJobs, type JobsReader } from "../../src/polling/job-events.ts";
import { readListState } from "../../src/polling/list-state.ts";
import type { JobProgress } from "../../src/polling/watch-state.ts";
import { jobOf } from "../harness/builders.ts";

const NOW = Date.UTC(2026, 10, 21);
const job = (id: string, over: Partial<Job> = {}): Job => jobOf(id, { createdAtMs: NOW - HOUR, ...over });
const APPLIED: JobProgress = { status: "applied", assigned: 0, accepted: 0, rejected: 0, paid: 0 };
const fresh = readListState(undefined, NOW).cursor;

describe("jobs", () => {
  const jobs: JobsReader = { handle: asHandle("scout"), accountId: "me", fromMs: 0, maxAgeMs: DAY, skills: ["csv"], handles: () => true };

  test("are offered when open, not one's own, in time and asking for a skill", () => {
    const list = [
      job("yes", { skills: ["CSV"] }),
      job("own", { skills: ["csv"], authorId: "me" }),
      job("late", { skills: ["csv"], deadlineMs: NOW - 1 }),
      job("taken", { skills: ["csv"], status: "assigned" }),
      job("other", { skills: ["html"] }),
    ];
    expect(readJobs(list, fresh, jobs, NOW).events.map(({ id }) => id)).toEqual(["job.listed:yes"]);
  });

  test("assigned twice are two events, looked at twice are one", () => {
    const mine = job("j", { status: "assigned", assigneeId: "me" });
    const first = followJob(mine, APPLIED, jobs, NOW);
    const again = followJob(mine, first.progress, jobs, NOW);
    const back = followJob(job("j", { status: "open" }), again.progress, jobs, NOW);
    const second = followJob(mine, back.progress, jobs, NOW);
    expect([first, again, back, second].map(({ events }) => events.map(({ id }) => id))).toEqual([
      ["job.assigned:j#1"],
      [],
      [],
      ["job.assigned:j#2"],
    ]);
  });

  test("given to somebody else are lost, and followed no more", () => {
    const change = followJob(job("j", { status: "assigned", assigneeId: "bob" }), APPLIED, jobs, NOW);
    expect(change).toMatchObject({ state: "lost", ended: true, events: [] });
  });

  test("paid at the next look were accepted in between", () => {
    const change = followJob(job("j", { status: "paid", assigneeId: "me" }), { ...APPLIED, status: "submitted", assigned: 1 }, jobs, NOW);
    expect(change.events.map(({ kind }) => kind)).toEqual(["job.accepted", "job.paid"]);
    expect(change.ended).toBe(true);
  });
});
