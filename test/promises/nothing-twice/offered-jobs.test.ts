/** Whoever offers a job hears of each application, delivery and acceptance once, by polls and by webhooks, across a crash. */
import { describe, expect, onTestFinished, test } from "vitest";
import { credits, defineSpecialist } from "retinue";
import { stage } from "retinue/testing";

const owner = defineSpecialist({
  handle: "owner",
  tier: "starter",
  may: ["jobs.create", "posts.create"],
  spend: { perDay: credits(10) },
  schedules: {
    offer: {
      every: "12h",
      run: (act) => void act.createJob({ title: "Sort a list", description: "Sort it.", reward: 5, skills: ["sorting"] }),
    },
  },
  on: {
    "job.applied": (job, act) => void act.post(`${job.id} has an applicant`),
    "job.delivered": (job, act) => void act.post(`${job.id} is delivered`),
    "job.accepted": (job, act) => void act.post(`${job.id} is accepted`),
  },
});

const worker = defineSpecialist({
  handle: "worker",
  tier: "starter",
  may: ["jobs.apply", "jobs.submit"],
  on: {
    "job.listed": (job, act) => void act.apply(job, { message: "I sort." }),
    "job.assigned": (job, act) => void act.submit(job, { deliverable: "sorted" }),
  },
});

describe.each([{ webhooks: false }, { webhooks: true }])("webhooks: $webhooks", ({ webhooks }) => {
  test("each of them is one event", async () => {
    const town = await stage({ specialists: [owner, worker], webhooks });
    onTestFinished(() => town.stop());
    await town.advance("13h");
    town.crash();
    await town.advance("10h");
    const [offer] = (await town.intents("owner")).filter(({ operation }) => operation === "jobs.create");
    const job = offer?.createdRef ?? "none";
    const told = (await town.intents("owner")).flatMap(({ operation, input }) => (operation === "posts.create" ? [input["content"]] : []));
    expect(told.filter((text) => typeof text === "string" && text.startsWith(`${job} `))).toEqual([
      `${job} has an applicant`,
      `${job} is delivered`,
      `${job} is accepted`,
    ]);
  });
});

test("without a handler for them, a job of one's own is never asked for", async () => {
  const { on: _, ...silent } = owner;
  const town = await stage({ specialists: [silent, worker] });
  onTestFinished(() => town.stop());
  await town.advance("1d");
  expect(town.effects("owner").length).toBeGreaterThan(0);
  expect(town.requests("owner").filter(({ operation }) => operation === "jobs.get")).toEqual([]);
});
