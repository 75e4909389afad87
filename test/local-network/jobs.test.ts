/** The life of a job, and what residents make of it. */
import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import type { LocalNetworkOptions } from "../../src/local-network/options.ts";
import { lab, records, textAt, type Ask, type Lab } from "../harness/visitor.ts";
import { rebuildTask } from "../../src/local-network/residents/jobs/job-kinds.ts";
import { SOLVERS } from "./residents/reference/index.ts";
import { object } from "./residents/reference/read.ts";

const ONLY_OFFERS = { post: 0, reply: 0, like: 0, follow: 0, work: 0, offer: 30 };

/** A world in which residents do nothing but offer jobs. */
const market = (options: Partial<LocalNetworkOptions> = {}): Lab => lab({ residents: { perMinute: ONLY_OFFERS }, ...options });

const firstJob = async ({ clock, network }: Lab): Promise<string> => {
  await clock.runUntil(() => network.jobs().length > 0, MINUTE);
  return network.jobs()[0]?.id ?? "";
};
const stateOf = ({ network }: Lab, id: string): string => network.jobs().find((job) => job.id === id)?.status ?? "gone";

const untilState = async (room: Lab, id: string, state: string, limitMs = MINUTE): Promise<number> => {
  const from = room.clock.now();
  await room.clock.runUntil(() => stateOf(room, id) === state, limitMs);
  expect(stateOf(room, id)).toBe(state);
  return room.clock.now() - from;
};

/** By the reference solvers, which share no code with the checkers. */
const rightFor = ({ network }: Lab, id: string): Json => {
  const job = network.jobs().find((one) => one.id === id);
  const solve = job?.task === undefined ? undefined : SOLVERS[job.task.kind];
  if (job?.task === undefined || solve === undefined) throw new Error(`expected ${id} to be a checkable job`);
  return solve(job.description, object(rebuildTask(job.task).input));
};

const apply = (ask: Ask, id: string) => ask("POST", `/v1/jobs/${id}/apply`, { body: { message: "I can" } });
const submit = (ask: Ask, id: string, deliverable: Json) => ask("POST", `/v1/jobs/${id}/submit`, { body: { deliverable } });

describe("a job", () => {
  it("goes from open to paid: assigned within 3 s, judged, paid, and reputation grows", async () => {
    const room = market();
    const scout = room.join("scout");
    room.network.start();
    const id = await firstJob(room);
    expect(stateOf(room, id)).toBe("open");
    expect((await apply(scout.b, id)).status).toBe(201);
    expect(stateOf(room, id)).toBe("applied");
    expect(await untilState(room, id, "assigned")).toBeLessThanOrEqual(3 * SECOND);
    const submitted = await submit(scout.b, id, rightFor(room, id));
    expect(textAt(submitted.json, "status")).toBe("submitted");
    await untilState(room, id, "accepted");
    await untilState(room, id, "paid");
    expect(textAt((await scout.b("GET", `/v1/jobs/${id}`)).json, "feedback")).toBe("right in every field");
    expect(room.network.summary(["scout"]).jobs).toEqual({
      seen: 1,
      applied: 1,
      assigned: 1,
      delivered: 1,
      accepted: 1,
      rejected: 0,
      paid: 1,
    });
    expect(room.network.find("scout")).toMatchObject({ reputation: 5, earned: room.network.jobs()[0]?.reward });
    await room.network.stop();
  });

  it("is shown without its input in lists, and with it alone", async () => {
    const room = market();
    const scout = room.join("scout");
    room.network.start();
    const id = await firstJob(room);
    const [listed] = records(await scout.b("GET", "/v1/jobs"));
    expect(listed).toMatchObject({ id, status: "open" });
    expect(listed).not.toHaveProperty("input");
    expect(JSON.stringify((await scout.b("GET", `/v1/jobs/${id}`)).json["input"]).length).toBeGreaterThan(2_000);
    expect((await scout.a("GET", `/v1/jobs/${id}`)).json).toHaveProperty("input");
    await room.network.stop();
  });

  it.each([
    ["empty", () => ({}), /./],
    ["wrong", () => ({ rows: "many" }), /./],
  ])("%s deliverables are rejected with a reason, and reputation does not grow", async (_name, make, reason) => {
    const room = market();
    const scout = room.join("scout");
    room.network.start();
    const id = await firstJob(room);
    await apply(scout.b, id);
    await untilState(room, id, "assigned");
    await submit(scout.b, id, make());
    await untilState(room, id, "rejected");
    expect(room.network.jobs()[0]?.verdict).toMatch(reason);
    expect(room.network.find("scout")?.reputation).toBe(0);
    await room.network.stop();
  });

  it("a late deliverable is taken and rejected as late", async () => {
    const room = market({ residents: { perMinute: ONLY_OFFERS, jobDeadlineMs: 30 * SECOND } });
    const scout = room.join("scout");
    room.network.start();
    const id = await firstJob(room);
    await apply(scout.b, id);
    await untilState(room, id, "assigned");
    await untilState(room, id, "expired");
    const answer = await submit(scout.b, id, rightFor(room, id));
    expect(answer.status).toBe(200);
    expect(textAt(answer.json, "status")).toBe("rejected");
    expect(textAt(answer.json, "feedback")).toMatch(/late/);
    expect((await submit(scout.b, id, rightFor(room, id))).status).toBe(409);
    await room.network.stop();
  });

  it("a deliverable copied from somebody else's submission for the same task is rejected", async () => {
    const room = market({ residents: { perMinute: ONLY_OFFERS } });
    const [scout, quill] = [room.join("scout"), room.join("quill")];
    room.network.start();
    await room.clock.runUntil(() => room.network.jobs().length > 1, MINUTE);
    const [first, second] = room.network.jobs();
    if (first?.task === undefined || second === undefined) throw new Error("expected two jobs");
    Object.assign(second, { task: first.task }); // the same task offered twice
    const deliverable = rightFor(room, first.id);
    await apply(scout.b, first.id);
    await apply(quill.b, second.id);
    await untilState(room, first.id, "assigned");
    await room.clock.runUntil(() => second.status === "assigned", MINUTE);
    await submit(scout.b, first.id, deliverable);
    await submit(quill.b, second.id, deliverable);
    await untilState(room, first.id, "accepted");
    await untilState(room, second.id, "rejected");
    expect(second.verdict).toMatch(/copied/);
    await room.network.stop();
  });

  it("refuses what its state does not allow", async () => {
    const room = market();
    const [scout, quill] = [room.join("scout"), room.join("quill")];
    room.network.start();
    const id = await firstJob(room);
    expect((await submit(scout.b, id, {})).status).toBe(403);
    await apply(scout.b, id);
    const twice = await apply(scout.a, id);
    expect([twice.status, textAt(twice.json, "error.code")]).toEqual([409, "already_applied"]);
    await untilState(room, id, "assigned");
    const tooLate = await apply(quill.b, id);
    expect([tooLate.status, textAt(tooLate.json, "error.code")]).toEqual([409, "job_not_open"]);
    expect((await submit(quill.b, id, {})).status).toBe(403);
    expect((await apply(quill.b, "job_999")).status).toBe(404);
    await submit(scout.b, id, rightFor(room, id));
    expect((await submit(scout.b, id, rightFor(room, id))).status).toBe(409);
    const own = await quill.b("POST", "/v1/jobs", { body: { title: "mine", description: "my own" } });
    expect((await apply(quill.b, textAt(own.json, "id"))).status).toBe(403);
    await room.network.stop();
  });

  it("nobody applies for it: it expires at its deadline and leaves the list", async () => {
    const room = market({ residents: { perMinute: ONLY_OFFERS, jobDeadlineMs: MINUTE } });
    const scout = room.join("scout");
    room.network.start();
    const id = await firstJob(room);
    await room.clock.advance(MINUTE);
    expect(stateOf(room, id)).toBe("expired");
    expect(records(await scout.b("GET", "/v1/jobs", { query: { limit: "100" } })).some((job) => job["id"] === id)).toBe(false);
    expect(records(await scout.b("GET", "/v1/jobs", { query: { status: "expired" } }))[0]?.["id"]).toBe(id);
    await room.network.stop();
  });

  it("a specialist's own job is done by a resident and paid", async () => {
    const room = lab({ residents: { perMinute: { post: 0, reply: 0, like: 0, follow: 0, offer: 0, work: 20 } } });
    const scout = room.join("scout");
    room.network.start();
    const id = textAt(
      (await scout.b("POST", "/v1/jobs", { body: { title: "Write a line", description: "about rain", reward: 5 } })).json,
      "id",
    );
    expect(await untilState(room, id, "paid", 5 * MINUTE)).toBeGreaterThan(0);
    await room.network.stop();
  });
});

describe("a minute with residents", () => {
  it("offers at least 20 jobs and shows something new every few seconds, the same for the same seed", async () => {
    const minute = async (seed: number): Promise<string[]> => {
      const room = lab({ residents: {}, random: seededRandom(seed) });
      const scout = room.join("scout");
      room.network.start();
      await room.clock.advance(MINUTE);
      const posts = records(await scout.b("GET", "/v1/posts", { query: { limit: "100" } }));
      expect(room.network.jobs().length).toBeGreaterThanOrEqual(20);
      expect(posts.length).toBeGreaterThanOrEqual(12);
      await room.network.stop();
      expect(room.clock.pending()).toBe(0);
      return [...posts.map((post) => textAt(post, "content")), ...room.network.jobs().map(({ title }) => title)];
    };
    const first = await minute(5);
    expect(await minute(5)).toEqual(first);
    expect(await minute(6)).not.toEqual(first);
  });
});
