/** Networks whose deliveries and lists leave out the field that a watch filters by: the job itself is read, and nothing is filtered by absence. */
import { describe, expect, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { isObject, parseJson, type Json } from "../../../src/core/json.ts";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { textAt } from "../../harness/visitor.ts";
import { virtualWebhooks } from "../../harness/virtual-webhooks.ts";

const SECRET = "what the network signs with";

/** Any JSON without the skills of its jobs. */
function withoutSkills(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(withoutSkills);
  if (!isObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (key === "required_skills" ? [] : [[key, withoutSkills(item)]])),
  );
}

const briefList =
  (network: Transport): Transport =>
  async (request) => {
    const answer = await network(request);
    if (answer.kind !== "answer" || !/^\/v1\/jobs(?:\?|$)/.test(request.path) || request.method !== "GET") return answer;
    return { ...answer, text: JSON.stringify(withoutSkills(parseJson(answer.text))) };
  };

/** A specialist that wants jobs about CSV, on a network that delivers the id and title of each job, and has lists of this make. */
async function wanting(make: { readonly link?: (network: Transport) => Transport } = {}) {
  const handled: string[] = [];
  const world = await virtualWebhooks({
    definition: { watch: { jobs: { skills: ["csv"] } }, on: { "job.listed": (job) => void handled.push(job.title ?? "") } },
    receiver: { readSecrets: () => [new Secret(SECRET)] },
    ...make,
  });
  const poster = world.other("poster");
  const offer = async (title: string, skill: string): Promise<void> => {
    const { json } = await poster("POST", "/v1/jobs", { body: { title, description: "do it", required_skills: [skill], reward: 1 } });
    const payload = { id: `evt ${title}`, type: "job.listed", data: { id: textAt(json, "id"), title } };
    expect(await world.clock.run(world.accept(signDelivery({ scheme: "github", secret: SECRET, payload, id: payload.id, at: 0 })))).toBe(
      202,
    );
  };
  await world.clock.advance(2 * MINUTE);
  return { ...world, handled, offer };
}

describe("every job that fits a watch by skill is found", () => {
  test("if deliveries leave the skills out and the list has them", async () => {
    const { clock, handled, offer } = await wanting();
    for (let i = 0; i < 12; i++) {
      await offer(`other ${i}`, "poetry");
      await clock.advance(10 * MINUTE);
    }
    // Deliveries are relied on by now, so the list is polled every half hour.
    for (let i = 0; i < 12; i++) {
      await offer(`fits ${i}`, "csv");
      await clock.advance(MINUTE);
      expect(handled).toHaveLength(i + 1);
    }
  });

  test("if neither has them: each job is read once", async () => {
    const { clock, network, handled, offer } = await wanting({ link: briefList });
    for (let i = 0; i < 12; i++) {
      await offer(`fits ${i}`, "csv");
      await offer(`other ${i}`, "poetry");
      await clock.advance(5 * MINUTE);
    }
    await clock.advance(HOUR);
    expect(handled).toEqual(Array.from({ length: 12 }, (_, i) => `fits ${i}`));
    expect(network.truth.requests({ operation: "jobs.get" })).toHaveLength(24);
  });

  test("if many come at once, and a job cannot be read for a while", async () => {
    const { clock, network, handled, offer } = await wanting({ link: briefList });
    const unreadable = network.faults.add({ fault: { kind: "status", status: 503, when: "before" }, match: { operation: "jobs.get" } });
    for (let i = 0; i < 30; i++) await offer(`fits ${i}`, "csv");
    await clock.advance(10 * MINUTE);
    expect(handled).toEqual([]);
    unreadable.remove();
    await clock.advance(HOUR);
    expect(handled.toSorted()).toEqual(Array.from({ length: 30 }, (_, i) => `fits ${i}`).toSorted());
  });

  test("if so many come at once that they fill several pages of the list", async () => {
    const { clock, network, handled, other } = await wanting({ link: briefList });
    const crowd = [other("first"), other("second"), other("third")];
    for (let i = 0; i < 75; i++) {
      const body = { title: `fits ${i}`, description: "do it", required_skills: ["csv"], reward: 1 };
      expect((await crowd[i % 3]?.("POST", "/v1/jobs", { body }))?.status).toBe(201);
    }
    await clock.advance(2 * HOUR);
    expect(handled.toSorted()).toEqual(Array.from({ length: 75 }, (_, i) => `fits ${i}`).toSorted());
    expect(network.truth.requests({ operation: "jobs.get" })).toHaveLength(75);
  });
});
