/** Jobs whose list leaves out what a watch filters by are read by themselves, a bounded number at a time. */
import { expect, test } from "vitest";
import type { Job } from "../../src/contract/records.ts";
import { asHandle } from "../../src/core/ids.ts";
import type { GatewayAnswer } from "../../src/gateway/gateway-answer.ts";
import { completeJobs } from "../../src/polling/complete-jobs.ts";
import type { JobsReader } from "../../src/polling/job-events.ts";
import { readListState } from "../../src/polling/list-state.ts";
import { jobOf, memberOf } from "../harness/builders.ts";
import { harness } from "../harness/harness.ts";

const reader: JobsReader = {
  handle: asHandle("scout"),
  accountId: "me",
  fromMs: 0,
  maxAgeMs: Infinity,
  skills: ["csv"],
  handles: () => true,
};
const found = (record: Job): GatewayAnswer => ({ kind: "answered", outcome: { class: "confirmed", status: 200, body: undefined, record } });
const full: GatewayAnswer = { kind: "waits", until: 9, rule: "quota_lane", message: "full", lane: "poll" };

/** `read` answers for the job with this id. */
async function complete(page: readonly Job[], read: (id: string) => GatewayAnswer) {
  const { clock, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  const asked: string[] = [];
  const gateway = {
    ...runtime.parts.gateway,
    async read(_: unknown, { target = "" }: { readonly target?: string }): Promise<GatewayAnswer> {
      asked.push(target);
      return read(target);
    },
  };
  const cursor = readListState(undefined, clock.now()).cursor;
  const done = await completeJobs({ ...runtime.parts, gateway }, memberOf(), page, cursor, reader);
  return { asked, done };
}

test("a job that states its skills is taken as listed, and one that does not is read", async () => {
  const page = [jobOf("whole", { skills: ["csv"] }), jobOf("brief")];
  const { asked, done } = await complete(page, (id) => found(jobOf(id, { skills: ["csv"] })));
  expect(asked).toEqual(["brief"]);
  expect(done).toEqual({ items: [page[0], jobOf("brief", { skills: ["csv"] })], leaves: false, isUnfinished: false });
});

test("more than ten are read by later polls, which find them again", async () => {
  const page = Array.from({ length: 14 }, (_, i) => jobOf(`j${i}`));
  const { asked, done } = await complete(page, (id) => found(jobOf(id, { skills: [] })));
  expect([asked.length, done.items.length, done.isUnfinished]).toEqual([10, 10, true]);
});

test("without room for a read the others are not asked for, and stay unseen", async () => {
  const { asked, done } = await complete([jobOf("a"), jobOf("b")], () => full);
  expect(asked).toHaveLength(1);
  expect(done).toEqual({ items: [], leaves: true, isUnfinished: false });
});

test("a job that the network does not show is taken as listed", async () => {
  const { done } = await complete([jobOf("a")], () => ({
    kind: "answered",
    outcome: { class: "refused", status: 404, code: "input_invalid", message: "no" },
  }));
  expect(done.items).toEqual([jobOf("a")]);
});
