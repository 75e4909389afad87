/** What the network forbids, lacks or no longer says readably stops the right thing, is asked again in time, and is no retry storm. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { createKeys } from "../../src/client/auth.ts";
import type { Transport } from "../../src/client/transport.ts";
import type { DriftPolicy } from "../../src/contract/pins.ts";
import { resolveProfile } from "../../src/contract/profile.ts";
import type { ProfileSource } from "../../src/contract/profile-source.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import type { Mishap } from "../../src/network/faults.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import type { LocalNetwork } from "../../src/network/local-network.ts";
import { createGuardian, type Guardian } from "../../src/runtime/guardian.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "../network/plain-link.ts";

interface Stage {
  readonly clock: VirtualClock;
  readonly network: LocalNetwork;
  /** The one that runs now. */
  readonly runtime: () => Runtime;
  readonly guardian: () => Guardian;
  /** Ends the runtime and starts another on what the first one stored. */
  restart(changes?: Partial<ProfileSource>): Promise<void>;
  /** Ends the runtime, lets a person look at what it left, and starts it again. */
  asleep(look: (guardian: Guardian) => Promise<void>): Promise<void>;
  readonly parked: string[];
  /** Requests of a handle so far, by method and first word of the path. */
  requests(handle: string): number;
  asked(pattern: RegExp): number;
}

// Hours of virtual time take seconds of a processor, which a busy machine shares out.
vi.setConfig({ testTimeout: 60_000 });

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
  const link = plainLink(network, "b");
  const transport: Transport = async (request) => {
    const { method, path, headers } = request;
    const line = `${method} ${path.split("?", 1)[0]}`;
    const handle = [...keys].find(([, key]) => headers["authorization"] === `Bearer ${key}`)?.[0] ?? "";
    log.push({ handle, line });
    const answer = await link(request);
    return answer.kind === "answer" ? { ...answer, text: options.spoil?.(line, answer.text) ?? answer.text } : answer;
  };
  const announcer = createAnnouncer();
  const parked: string[] = [];
  announcer.on("parked", ({ handle, code }) => void parked.push(`${handle} ${code}`));
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
  const disk = openDatabase(MEMORY);
  const begin = async (changes: Partial<ProfileSource>) => {
    const store = openSqliteStore({ path: "", database: disk, clock, random });
    const runtime = createRuntime({
      specialists,
      profile: resolveProfile({ extends: "set-b", ...(options.drift === undefined ? {} : { drift: options.drift }), ...changes }),
      baseUrl: "http://network/v1",
      store,
      transport,
      keys: createKeys({ read: (handle) => keys.get(handle), salt: new Secret("salt of this test") }),
      pacer: virtualPacer(clock, {}),
      clock,
      random,
      log: silentLogger(),
      announcer,
    });
    await clock.run(runtime.start());
    const guardian = createGuardian({ store, clock, live: { runtime, startedAt: clock.now(), baseUrl: "http://network/v1" } });
    return { store, runtime, guardian };
  };
  const end = async ({ store, runtime }: Pick<Awaited<ReturnType<typeof begin>>, "store" | "runtime">): Promise<void> => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
  };
  network.start();
  let now = await begin({});
  closers.push(async () => {
    await end(now);
    await clock.run(network.stop());
    disk.close();
  });
  return {
    clock,
    network,
    runtime: () => now.runtime,
    guardian: () => now.guardian,
    async restart(changes = {}) {
      await end(now);
      now = await begin(changes);
    },
    async asleep(look) {
      await end(now);
      const store = openSqliteStore({ path: "", database: disk, clock, random });
      await look(createGuardian({ store, clock }));
      await clock.run(store.close());
      now = await begin({});
    },
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
  expect(runtime().parts.standing.stops()).toMatchObject([{ rule: "capability", handle: "ann", operation: "posts.create" }]);
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
  expect(runtime().parts.standing.stops()).toMatchObject([{ rule: "drift", code: "unreadable", operation: "posts.create" }]);
  expect(asked(/^POST \/v1\/posts$/)).toBeLessThanOrEqual(9);
  expect(network.truth.effects({ operation: "posts.create" }).length).toBeLessThanOrEqual(9);
});

/** Who wrote it, in another place than before: the rest can be read, and that is not taken over. */
const moved = (text: string): string => text.replaceAll('"author_id":', '"agent_id":');

describe("a network that changes the shape of its answers in mid-run", () => {
  const changing = async (drift: DriftPolicy) => {
    let isChanged = false;
    const here = await stage({ drift, spoil: (line, text) => (isChanged && line === "POST /v1/posts" ? moved(text) : text) });
    const written = (): number => here.asked(/^POST \/v1\/posts$/);
    await here.clock.advance(10 * MINUTE);
    expect(written()).toBeGreaterThan(15);
    expect(here.runtime().parts.standing.drift()).toEqual([]);
    isChanged = true;
    const before = written();
    await here.clock.advance(HOUR);
    expect(here.runtime().parts.standing.drift()[0]).toMatchObject({
      operation: "posts.create",
      severity: "breaking",
      kind: "winner-change",
    });
    return { ...here, written, writtenSince: () => written() - before };
  };

  test("is told of and written to as before, where the policy is to note", async () => {
    const { runtime, writtenSince } = await changing("note");
    expect(runtime().parts.standing.stops()).toEqual([]);
    expect(writtenSince()).toBeGreaterThan(100);
  });

  test("is written to every five minutes by that operation, where the policy is to slow down", async () => {
    const { runtime, guardian, clock, writtenSince, requests } = await changing("slow");
    expect(runtime().parts.standing.stops()).toMatchObject([{ rule: "drift", code: "shape_slowed", operation: "posts.create" }]);
    // Those that were under way as it changed, then one in five minutes for both specialists together.
    expect(writtenSince()).toBeGreaterThanOrEqual(11);
    expect(writtenSince()).toBeLessThanOrEqual(14);
    expect(requests("ann")).toBeGreaterThan(30);
    expect((await clock.run(guardian().status({}))).stopped).toMatchObject([{ code: "shape_slowed" }]);
  });

  test("is not written to by that operation, where the policy is to stop, until a person has looked", async () => {
    const { clock, guardian, restart, written, writtenSince } = await changing("stop");
    expect(writtenSince()).toBeLessThanOrEqual(2);
    await restart();
    await clock.advance(75 * MINUTE);
    expect(writtenSince()).toBeLessThanOrEqual(2);
    const why = await clock.run(guardian().why({ id: "posts.create" }));
    expect(why).toMatchObject({ about: "operation", state: "stopped" });
    expect(why.reasons.map(({ rule }) => rule)).toEqual(["shape_changed", "drift_breaking"]);
    const before = written();
    await clock.run(guardian().retry({ id: "posts.create" }));
    await clock.advance(10 * MINUTE);
    expect(written() - before).toBeGreaterThan(15);
    expect((await clock.run(guardian().status({}))).drift).toEqual([]);
  });

  test("shows paths and types and never values", async () => {
    const { clock, guardian } = await changing("note");
    const { drift } = await clock.run(guardian().status({}));
    expect(drift[0]?.path).toBe("authorId at agent_id");
    expect(drift[0]?.type).toBe("string");
    expect(drift[0]?.count).toBeGreaterThanOrEqual(1);
  });
});

describe("what was learnt of a network", () => {
  const unreadable = () => stage({ spoil: (line, text) => (line === "POST /v1/posts" ? '{"glitter": true}' : text) });
  const written = ({ asked }: Stage): number => asked(/^POST \/v1\/posts$/);

  test("is not paid for again after a restart", async () => {
    const here = await unreadable();
    await here.clock.advance(10 * MINUTE);
    const paid = written(here);
    expect(paid).toBeLessThanOrEqual(4); // two specialists: one may be under way as the other's third comes back
    const before = here.runtime().parts.standing.stops();
    await here.restart();
    expect(here.runtime().parts.standing.stops()).toEqual(before);
    await here.clock.advance(5 * MINUTE - SECOND);
    expect(written(here)).toBe(paid);
    // The look that was due goes out, and no more than it.
    await here.clock.advance(10 * MINUTE);
    expect(written(here)).toBe(paid + 1);
    expect(here.parked.filter((line) => line.endsWith("unreadable"))).toHaveLength(1);
  });

  test("of its speech is tried again under another profile, and of accounts is not", async () => {
    const here = await unreadable();
    here.network.faults.add({ mishap: { do: "account", answer: "suspended" }, match: { agent: "ben" } });
    await here.clock.advance(10 * MINUTE);
    const codes = () =>
      here
        .runtime()
        .parts.standing.stops()
        .map(({ code }) => code);
    expect(codes().sort()).toEqual(["account_stopped", "unreadable"]);
    await here.restart({ operations: { "posts.create": { answer: "any" } } });
    expect(codes()).toEqual(["account_stopped"]);
    await here.restart({ operations: { "posts.create": { answer: "any", price: { micros: 0 } } } });
    expect(codes()).toEqual(["account_stopped"]);
  });

  test("is forgotten at a person's word, for one specialist or for all, and counts anew", async () => {
    const here = await stage();
    const fault = here.network.faults.add({ mishap: { do: "account", answer: "payment" }, match: { operation: "posts.create" } });
    await here.clock.advance(5 * MINUTE);
    const stopped = () =>
      here
        .runtime()
        .parts.standing.stops()
        .map(({ handle, operation }) => `${handle ?? "all"} ${operation ?? "all"}`);
    expect(stopped().sort()).toEqual(["ann posts.create", "ben posts.create"]);
    fault.remove();
    await here.clock.run(here.guardian().retry({ id: "posts.create", handle: "ann" }));
    expect(stopped()).toEqual(["ben posts.create"]);
    const effects = (agent: string): number => here.network.truth.effects({ agent, operation: "posts.create" }).length;
    await here.clock.advance(5 * MINUTE);
    expect(effects("ann")).toBeGreaterThan(4);
    expect(effects("ben")).toBe(0);
    await here.clock.run(here.guardian().retry({ id: "posts.create" }));
    await here.clock.advance(5 * MINUTE);
    expect(effects("ben")).toBeGreaterThan(4);
    await expect(here.clock.run(here.guardian().retry({ id: "posts.create" }))).rejects.toThrow(/nothing called/);
  });

  test("can be seen and lifted while nothing runs", async () => {
    const here = await unreadable();
    await here.clock.advance(10 * MINUTE);
    await here.asleep(async (guardian) => {
      expect((await here.clock.run(guardian.status({}))).stopped).toMatchObject([{ code: "unreadable", operation: "posts.create" }]);
      const why = await here.clock.run(guardian.why({ id: "ann" }));
      expect(why.reasons.map(({ rule }) => rule)).toContain("unreadable");
      await here.clock.run(guardian.retry({ id: "posts.create" }));
      expect((await here.clock.run(guardian.status({}))).stopped).toEqual([]);
    });
    expect(here.runtime().parts.standing.stops()).toEqual([]);
  });
});
