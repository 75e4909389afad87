/** A job that a specialist offered becomes events: applications, deliveries and its acceptance, each once. */
import { expect, test } from "vitest";
import type { Job } from "../../src/contract/records.ts";
import { asHandle } from "../../src/core/ids.ts";
import { followOwnJob } from "../../src/polling/own-job-events.ts";
import { readWatchState, storeWatchState } from "../../src/polling/watch-state.ts";
import { newWatch } from "../../src/store/sources.ts";
import { jobOf } from "../harness/builders.ts";

const OWNER = { handle: asHandle("owner"), handles: () => true };

/** The events of each look, with the progress stored and read again in between. */
function looks(...shown: readonly Partial<Job>[]): readonly (readonly string[])[] {
  let row = newWatch("own_job", 0).data;
  return shown.map((over) => {
    const state = readWatchState({ kind: "own_job", data: row }, 0);
    if (state.kind !== "own_job") throw new Error(`expected a job of one's own, got ${state.kind}`);
    const { progress, events } = followOwnJob(jobOf("j", over), state.progress, OWNER);
    row = storeWatchState({ ...state, progress });
    return events.map(({ id }) => id);
  });
}

test("each rise of the number of applications is one event, and a number that falls is none", () => {
  expect(looks({ applications: 0 }, { applications: 2 }, { applications: 2 }, { applications: 1 }, { applications: 3 })).toEqual([
    [],
    ["job.applied:j#2"],
    [],
    [],
    ["job.applied:j#3"],
  ]);
});

test("a network that shows no number shows the first application by the job's status", () => {
  expect(looks({ status: "open" }, { status: "applied" }, { status: "assigned" })).toEqual([[], ["job.applied:j#1"], []]);
  expect(looks({ applicantIds: ["a", "b"] })).toEqual([["job.applied:j#2"]]);
});

test("a delivery, one after a rejection, and the acceptance are three events; the payment is none", () => {
  const states = ["submitted", "submitted", "rejected", "submitted", "accepted", "paid"] as const;
  expect(looks(...states.map((status) => ({ status, applications: 0 })))).toEqual([
    ["job.delivered:j#1"],
    [],
    [],
    ["job.delivered:j#2"],
    ["job.accepted:j#1"],
    [],
  ]);
});

test("a job seen first when it is paid was applied for, delivered and accepted", () => {
  expect(looks({ status: "paid" })).toEqual([["job.applied:j#1", "job.delivered:j#1", "job.accepted:j#1"]]);
});

test("a status that cannot be read changes nothing", () => {
  expect(looks({ status: "submitted", applications: 1 }, { status: "unknown" }, { status: "submitted", applications: 1 })).toEqual([
    ["job.applied:j#1", "job.delivered:j#1"],
    [],
    [],
  ]);
});

test("an answer that lags behind is no second delivery, and work that was sent back is one", () => {
  const shown = (...states: readonly NonNullable<Job["status"]>[]) =>
    looks(...states.map((status) => ({ status, applications: 0 }))).flat();
  expect(shown("submitted", "open", "submitted", "accepted", "submitted", "accepted")).toEqual(["job.delivered:j#1", "job.accepted:j#1"]);
  expect(shown("submitted", "rejected", "assigned", "submitted")).toEqual(["job.delivered:j#1", "job.delivered:j#2"]);
});
