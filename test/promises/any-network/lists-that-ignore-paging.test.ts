/** Lists that ignore the paging of their network: the same page, whatever place is asked for. */
import { expect, onTestFinished, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import type { Announcements } from "../../../src/core/events.ts";
import { parseJson } from "../../../src/core/json.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { at, textAt } from "../../harness/visitor.ts";
import { virtualRuntime } from "../../harness/harness.ts";
import { virtualWebhooks } from "../../harness/virtual-webhooks.ts";

const OFFSETS = { paging: { style: "offset", parameter: "offset" } } as const;

/** A network whose list of webhooks is a bare array, whole at every offset. */
const bareWebhooks =
  (network: Transport): Transport =>
  async (request) => {
    const [path = ""] = request.path.split("?", 1);
    if (request.method !== "GET" || path !== "/v1/webhooks") return network(request);
    const answer = await network({ ...request, path });
    return answer.kind === "answer" ? { ...answer, text: JSON.stringify(at(parseJson(answer.text), "items")) } : answer;
  };

test("a webhook that each page shows again is one webhook, and is kept", async () => {
  const { clock, network, registered } = await virtualWebhooks({
    profile: OFFSETS,
    link: bareWebhooks,
    receiver: { readSecrets: () => [new Secret("what the network signs with")] },
  });
  await clock.advance(MINUTE);
  const made = await registered();
  expect(made).toHaveLength(1);
  await clock.advance(13 * HOUR);
  expect(await registered()).toEqual(made);
  expect(network.truth.requests({ operation: "webhooks.create" })).toHaveLength(1);
  expect(network.truth.requests({ operation: "webhooks.delete" })).toHaveLength(0);
});

test("a webhook removed behind such a list is found missing, and made again", async () => {
  const { clock, mine, registered } = await virtualWebhooks({
    profile: OFFSETS,
    link: bareWebhooks,
    receiver: { readSecrets: () => [new Secret("what the network signs with")] },
  });
  await clock.advance(MINUTE);
  const [first] = await registered();
  const id = textAt(first, "id");
  await mine("DELETE", `/v1/webhooks/${id}`);
  await clock.advance(7 * HOUR);
  expect((await registered()).map((one) => at(one, "id"))).not.toContain(id);
  expect(await registered()).toHaveLength(1);
});

test("reading back a gap ends at the first page that brings nothing new, and the gap is told of", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const gaps: Announcements["gap"][] = [];
  const seen: string[] = [];
  let offered = Array.from({ length: 12 }, (_, i) => `j${i}`);
  const requested: string[] = [];
  const runtime = virtualRuntime({
    clock,
    random: seededRandom(2),
    profile: resolveProfile({ extends: "set-b", ...OFFSETS }),
    specialists: [
      createSpecialist({
        handle: "reader",
        tier: "pro",
        watch: { jobs: { from: "start" } },
        on: { "job.listed": (job) => void seen.push(job.id) },
      }),
    ],
    transport: async ({ path }) => {
      const isJobs = path.startsWith("/v1/jobs");
      if (isJobs) requested.push(path);
      const body = isJobs ? offered.map((id) => ({ id, title: id, status: "open" })) : { agents: [{ id: "me", handle: "reader" }] };
      return { kind: "answer", status: 200, headers: {}, text: JSON.stringify(body), elapsedMs: 1 };
    },
    keyOf: () => "sk_live_of_reader",
  });
  runtime.announcer.on("gap", (gap) => void gaps.push(gap));
  await clock.run(runtime.start());
  onTestFinished(() => clock.run(runtime.stop()));
  await clock.advance(5_000);
  expect(requested.filter((path) => path.includes("offset"))).toEqual(["/v1/jobs?offset=12"]);
  expect(seen).toHaveLength(12);
  offered = offered.map((id) => `new-${id}`);
  await clock.advance(MINUTE);
  expect(seen).toHaveLength(24);
  expect(gaps.at(-1)).toMatchObject({ handle: "reader", source: "jobs" });
});
