/** The shown state of a watched job is stored with its events and the time of the next check. Real store. */
import { describe, expect, test } from "vitest";
import { DAY, HOUR } from "../../src/core/units.ts";
import { LONGEST_MS } from "../../src/polling/record-watch.ts";
import { MAX_TITLE } from "../../src/store/sources.ts";
import { jobOf } from "../harness/builders.ts";
import { applied, mine } from "../harness/watched-job.ts";

test("an assignment is one event, and starts its next status with the next check", async () => {
  const { clock, look, events, row, woken } = await applied();
  await clock.advance(HOUR);
  await look(mine("assigned"));
  await look(mine("assigned"));
  expect(await events()).toEqual(["job.assigned:j1#1"]);
  expect(woken).toEqual(["events"]);
  expect(await row()).toMatchObject({ state: "assigned", data: { followedAt: clock.now(), looks: 1 } });
  expect((await row()).dueAt).toBeGreaterThan(clock.now());
});

test("the delay of an assignment is learnt from two checks around it", async () => {
  const { clock, look, parts } = await applied();
  await clock.advance(HOUR);
  await look(mine("open", { assigneeId: undefined }));
  await clock.advance(HOUR);
  const before = parts.timings.of("given");
  await look(mine("assigned"));
  expect(parts.timings.of("given")).not.toEqual(before);
});

describe("a watch ends", () => {
  test("once the job is paid, or given to somebody else", async () => {
    const paid = await applied();
    await paid.look(mine("paid"));
    expect((await paid.row()).dueAt).toBeNull();
    const lost = await applied();
    await lost.look(jobOf("j1", { status: "assigned", assigneeId: "bob" }));
    expect(await lost.row()).toMatchObject({ state: "lost", dueAt: null });
  });

  test("after a month without news, and after an hour where our work was rejected", async () => {
    const { clock, look, row } = await applied();
    await look(mine("rejected"));
    expect((await row()).dueAt).not.toBeNull();
    await clock.advance(HOUR + 1);
    await look(mine("rejected"));
    expect((await row()).dueAt).toBeNull();
    const silent = await applied();
    await silent.clock.advance(LONGEST_MS + DAY);
    await silent.look(mine("open", { assigneeId: undefined }));
    expect((await silent.row()).dueAt).toBeNull();
  });
});

test("a check keeps the job's title, reward and deadline for people, the title cut; what a later one leaves out stays", async () => {
  const { clock, look, row } = await applied();
  const deadlineMs = clock.now() + DAY;
  await look(mine("assigned", { title: "x".repeat(1_000_000), reward: 12.5, deadlineMs }));
  const seen = { title: "x".repeat(MAX_TITLE), reward: 12.5, deadlineMs };
  expect((await row()).data).toMatchObject(seen);
  await look(mine("submitted", { title: undefined, reward: undefined }));
  expect(await row()).toMatchObject({ state: "submitted", data: seen });
});
