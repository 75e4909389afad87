/** What the network forbids, lacks or no longer says readably stops the right thing, is asked again in time, and is no retry storm. */
import { afterEach, describe, expect, test } from "vitest";
import { createKeys } from "../../src/client/auth.ts";
import type { Transport } from "../../src/client/transport.ts";
import { shippedProfile } from "../../src/contract/profile.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import type { DriftPolicy } from "../../src/client/drift.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import type { Mishap } from "../../src/network/faults.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import type { LocalNetwork } from "../../src/network/local-network.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

interface Stage {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  readonly runtime: Runtime;
  readonly parked: string[];
  /** Requests of a handle so far, by method and first word of the path. */
  requests(handle: string): number;
  asked(pattern: RegExp): number;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Two specialists that post every minute and watch the feed. */
async function stage(
  options: { readonly drift?: DriftPolicy; readonly spoil?: (path: string, text: string) => string } = {},
): Promise<Stage> {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(5);
  const network = createLocalNetwork({
    clock,
    random,
    residents: { perMinute: { post: 2, reply: 0, like: 0, offer: 0, work: 0, follow: 0 } },
  });
  const keys = new Map(["ann", "ben"].map((handle) => [handle, network.provision({ handle, tier: "starter" }).key]));
  const log: { readonly handle: string; readonly line: string }[] = [];
  const transport: Transport = async ({ method, path, headers, body = "" }) => {
    const [name = "", search = ""] = path.split("?", 2);
    const query = Object.fromEntries(new URLSearchParams(search));
    const handle = [...keys].find(([, key]) => headers["authorization"] === `Bearer ${key}`)?.[0] ?? "";
    log.push({ handle, line: `${method} ${name}` });
    const reply = await network.handle("b", { method, path: name, query, headers, body });
    const text = options.spoil?.(`${method} ${name}`, reply.body) ?? reply.body;
    return { kind: "answer", status: reply.status, headers: reply.headers, text, elapsedMs: 1 };
  };
  const announcer = createAnnouncer();
  const parked: string[] = [];
  announcer.on("parked", ({ handle, code }) => void parked.push(`${handle} ${code}`));
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const specialists = ["ann", "ben"].map((handle) =>
    createSpecialist({
      handle,
      tier: "starter",
      may: ["posts.create"],
      watch: { feed: true },
      on: { "post.created": () => undefined },
      schedules: { talk: { every: "1m", run: (act) => void act.post(`${handle} at ${act.now}`) } },
    }),
  );
  const runtime = createRuntime({
    specialists,
    profile: shippedProfile("b"),
    baseUrl: "http://network/v1",
    store,
    transport,
    keys: createKeys({ read: (handle) => keys.get(handle), salt: new Secret("salt of this test") }),
    pacer: virtualPacer(clock, {}),
    clock,
    random,
    log: silentLogger(),
    announcer,
    ...(options.drift === undefined ? {} : { drift: options.drift }),
  });
  network.start();
  await clock.run(runtime.start());
  closers.push(async () => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
    await clock.run(network.stop());
  });
  return {
    clock,
    network,
    runtime,
    parked,
    requests: (handle) => log.filter((entry) => entry.handle === handle).length,
    asked: (pattern) => log.filter(({ line }) => pattern.test(line)).length,
  };
}

describe("an account that the network stopped", () => {
  const ways: readonly [string, Mishap, string][] = [
    ["says it is suspended", { do: "account", answer: "suspended" }, "ann account_stopped"],
    ["shows a page for people", { do: "account", answer: "challenge" }, "ann challenge"],
  ];
  test.each(ways)("and %s is asked now and then, and works again once it may", async (_, mishap, says) => {
    const { clock, network, parked, requests } = await stage();
    await clock.advance(5 * MINUTE);
    const fault = network.faults.add({ mishap, match: { agent: "ann" } });
    const before = { ann: requests("ann"), ben: requests("ben") };
    await clock.advance(90 * MINUTE);
    expect(parked).toEqual([says]);
    expect(requests("ann") - before.ann).toBeLessThan(10);
    expect(requests("ben") - before.ben).toBeGreaterThan(100);
    fault.remove();
    const stopped = requests("ann");
    await clock.advance(2 * HOUR);
    expect(requests("ann") - stopped).toBeGreaterThan(50);
  });
});

test("an operation that wants to be paid stops alone, for the one who was asked", async () => {
  const { clock, network, runtime, parked, asked, requests } = await stage();
  network.faults.add({ mishap: { do: "account", answer: "payment" }, match: { agent: "ann", operation: "posts.create" } });
  await clock.advance(2 * HOUR);
  expect(parked).toEqual(["ann payment_required"]);
  expect(runtime.parts.standing.stops()).toMatchObject([{ rule: "capability", handle: "ann", operation: "posts.create" }]);
  expect(asked(/^GET \/v1\/posts$/)).toBeGreaterThan(20);
  expect(network.truth.effects({ operation: "posts.create" }).filter(({ agent }) => agent === "ben").length).toBeGreaterThan(100);
  expect(network.truth.effects({ operation: "posts.create" }).filter(({ agent }) => agent === "ann")).toEqual([]);
  expect(requests("ann")).toBeGreaterThan(10);
});

test("answers to writes that cannot be read stop that operation after a bound, for everyone", async () => {
  const { clock, network, runtime, parked, asked } = await stage({
    spoil: (line, text) => (line === "POST /v1/posts" ? '{"glitter": true}' : text),
  });
  await clock.advance(HOUR);
  expect(parked.filter((line) => line.endsWith("unreadable"))).toHaveLength(1);
  expect(runtime.parts.standing.stops()).toMatchObject([{ rule: "drift", code: "unreadable", operation: "posts.create" }]);
  expect(asked(/^POST \/v1\/posts$/)).toBeLessThanOrEqual(9);
  expect(network.truth.effects({ operation: "posts.create" }).length).toBeLessThanOrEqual(9);
});

describe("a network that changes the shape of its answers", () => {
  const renamed = (line: string, text: string): string => (line === "POST /v1/posts" ? text.replace('"id":', '"identity":') : text);

  test("is only told of, where the policy is to note", async () => {
    let isChanged = false;
    const { clock, runtime } = await stage({
      spoil: (line, text) => (isChanged && line === "GET /v1/posts" ? text.replaceAll('"votes":', '"points":') : text),
    });
    await clock.advance(20 * MINUTE);
    isChanged = true;
    await clock.advance(40 * MINUTE);
    expect(runtime.parts.standing.drift().length).toBeGreaterThan(0);
    expect(runtime.parts.standing.stops()).toEqual([]);
  });

  test("is not written to by that operation, where the policy is to stop", async () => {
    let isChanged = false;
    const { clock, runtime, asked } = await stage({
      drift: "stop-writes",
      spoil: (line, text) => (isChanged ? renamed(line, text) : text),
    });
    await clock.advance(10 * MINUTE);
    const before = asked(/^POST \/v1\/posts$/);
    expect(before).toBeGreaterThan(10);
    isChanged = true;
    await clock.advance(HOUR);
    expect(runtime.parts.standing.drift()[0]).toMatchObject({ operation: "posts.create", severity: "breaking" });
    expect(asked(/^POST \/v1\/posts$/) - before).toBeLessThanOrEqual(3);
  });
});
