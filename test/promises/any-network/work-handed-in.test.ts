/** Work handed in on networks that lose a delivery, send it back without a word of their own, or answer "already so" to a repetition. */
import { describe, expect, test } from "vitest";
import { Secret } from "../../../src/core/secret.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { isObject, parseJson, type Json } from "../../../src/core/json.ts";
import type { Transport } from "../../../src/client/transport.ts";
import { open, world, type Job } from "../../harness/function-network.ts";
import { records, textAt } from "../../harness/visitor.ts";
import { virtualWebhooks } from "../../harness/virtual-webhooks.ts";

const SECRET = "what the network signs with";

/** A network that shows which jobs were handed in, unless it `hides` that. */
async function handingIn(hides = false) {
  const handed = new Set<string>();
  const showJob = (job: Job): object => ({ ...open(job), ...(handed.has(String(job.id)) && !hides ? { status: "submitted" } : {}) });
  const at = await world({
    showJob,
    drops: ["jobs/j2/submit", 1],
    answerSubmit: (job) => {
      handed.add(String(job.id));
      return { ...open(job), status: "submitted" };
    },
  });
  const give = async (id: string): Promise<void> => {
    const given = at.job(id);
    await at.after(2 * MINUTE);
    given.assignee = "me";
    await at.after(20 * MINUTE);
  };
  return { ...at, give };
}

describe("a delivery of work that is lost on its way", () => {
  test("is sent again once the job itself shows that it is not there", async () => {
    const { give, fate, done } = await handingIn();
    await give("j1");
    await give("j2");
    expect(done.filter((path) => path.endsWith("submit"))).toEqual(["jobs/j1/submit", "jobs/j2/submit"]);
    expect(await fate("j2")).toContain("jobs.submit confirmed");
  });

  test("waits for a person where jobs have never been seen to show a delivery", async () => {
    const { give, fate, done } = await handingIn(true);
    await give("j1");
    await give("j2");
    expect(done.filter((path) => path.endsWith("submit"))).toEqual(["jobs/j1/submit"]);
    expect(await fate("j2")).toContain("jobs.submit parked absent_unproven");
  });
});

/** What the network shows of jobs, changed. */
const showing =
  (change: (status: Json | undefined) => Json | undefined) =>
  (network: Transport): Transport =>
  async (request) => {
    const answer = await network(request);
    const body = answer.kind === "answer" && request.path.startsWith("/v1/jobs/") ? parseJson(answer.text) : undefined;
    if (answer.kind !== "answer" || !isObject(body) || request.method !== "GET") return answer;
    return { ...answer, text: JSON.stringify({ ...body, status: change(body["status"]) ?? null }) };
  };

test("work that a delivery says is rejected is told of, where the job then reads as in progress", async () => {
  const told: string[] = [];
  const state = { rejected: false };
  const world = await virtualWebhooks({
    definition: {
      watch: { jobs: true },
      may: ["jobs.apply", "jobs.submit"],
      on: {
        "job.listed": (job, act) => void act.apply(job),
        "job.assigned": (job, act) => {
          told.push("assigned");
          act.submit(job, "the work");
        },
        "job.rejected": () => void told.push("rejected"),
      },
    },
    receiver: { readSecrets: () => [new Secret(SECRET)] },
    link: showing((status) =>
      ["submitted", "accepted", "paid"].includes(typeof status === "string" ? status : "")
        ? state.rejected
          ? "in_progress"
          : "submitted"
        : status,
    ),
  });
  const { clock, network, accept } = world;
  const poster = world.other("poster");
  await clock.advance(MINUTE);
  const { json } = await poster("POST", "/v1/jobs", { body: { title: "a job", description: "do it", reward: 1 } });
  const id = textAt(json, "id");
  for (let i = 0; i < 60 && network.truth.effects({ operation: "jobs.submit" }).length === 0; i++) await clock.advance(MINUTE);
  expect(network.truth.effects({ operation: "jobs.submit" })).toHaveLength(1);
  state.rejected = true;
  for (const nth of ["first", "second"]) {
    const payload = { id: `evt ${nth}`, type: "job.rejected", data: { id, status: "in_progress" } };
    const delivery = signDelivery({ scheme: "github", secret: SECRET, payload, id: payload.id, at: 0 });
    expect(await clock.run(accept(delivery))).toBe(202);
    await clock.advance(MINUTE);
    expect(await clock.run(accept(delivery))).toBe(200); // known
    await clock.advance(MINUTE);
  }
  await clock.advance(10 * MINUTE);
  expect(told).toEqual(["assigned", "rejected", "rejected"]);
});

test("an event of the network's own is known by its time alone", async () => {
  const told: Json[] = [];
  const { clock, accept } = await virtualWebhooks({
    definition: { on: { "x:season.ended": ({ raw }) => void told.push(raw["at"] ?? null) } },
    receiver: { readSecrets: () => [new Secret(SECRET)] },
    profile: { webhooks: { occurrence: ["at"] } },
  });
  for (const [nth, at] of ["2026-11-21", "2026-11-21", "2026-11-22"].entries()) {
    const delivery = signDelivery({ scheme: "github", secret: SECRET, payload: { type: "season.ended", at, nth }, at: 0 });
    expect(await clock.run(accept(delivery))).toBe(202);
    await clock.advance(MINUTE);
  }
  expect(told).toEqual(["2026-11-21", "2026-11-22"]);
});

test("a repetition that the network answers with 409 has happened, where the lost answer may have been a yes", async () => {
  const { clock, network, store, mine } = await virtualWebhooks({
    definition: {
      may: ["communities.join"],
      schedules: { join: { every: "1h", run: (act) => void act.perform("communities.join", { target: "data" }) } },
    },
    receiver: { readSecrets: () => [new Secret(SECRET)] },
    link: (plain) => {
      let joins = 0;
      return async (request) => {
        if (!request.path.endsWith("/join")) return plain(request);
        joins += 1;
        const text = JSON.stringify({ error: { code: "already_member", message: "you are a member already" } });
        if (joins > 1) return { kind: "answer", status: 409, headers: {}, text, elapsedMs: 1 };
        await plain(request);
        return { kind: "unknown", reason: "ECONNRESET" };
      };
    },
  });
  await clock.advance(70 * MINUTE);
  const intents = await clock.run(store.intents({ operation: "communities.join", limit: 10 }));
  expect(intents.map(({ state }) => state)).toContain("confirmed");
  expect(intents.map(({ state }) => state)).not.toContain("refused");
  expect(network.truth.effects({ operation: "communities.join" })).toHaveLength(1);
  expect(records(await mine("GET", "/v1/communities")).length).toBeGreaterThan(0);
});
