/** What the network forbids, lacks or no longer says readably stops the right thing, is asked again in time, and is no retry storm. */
import { describe, expect, test } from "vitest";
import type { DriftPolicy } from "../../../src/contract/reading/pinned-fields.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import type { Fault } from "../../../src/local-network/faults/network-faults.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { asking, at, records, textAt, type Heard } from "../../harness/visitor.ts";
import { stage, type Stage } from "../../harness/posting-pair.ts";

describe("an account that the network stopped", () => {
  const ways: readonly [string, Fault, string][] = [
    ["says it is suspended", { kind: "account", answer: "suspended" }, "ann account_stopped"],
    ["shows a page for people", { kind: "account", answer: "challenge" }, "ann challenge"],
  ];
  test.each(ways)("and %s is asked now and then, and works again once it may", async (_, fault, says) => {
    const { clock, network, parked, requests } = await stage();
    await clock.advance(5 * MINUTE);
    const rule = network.faults.add({ fault, match: { agent: "ann" } });
    const before = { ann: requests("ann"), ben: requests("ben") };
    await clock.advance(90 * MINUTE);
    expect(parked).toEqual([says]);
    expect(requests("ann") - before.ann).toBeLessThan(10);
    expect(requests("ben") - before.ben).toBeGreaterThan(100);
    rule.remove();
    const stopped = requests("ann");
    await clock.advance(2 * HOUR);
    expect(requests("ann") - stopped).toBeGreaterThan(50);
  });
});

test("an operation that wants to be paid stops alone, for the one who was asked", async () => {
  const { clock, network, runtime, parked, asked, requests } = await stage();
  network.faults.add({ fault: { kind: "account", answer: "payment" }, match: { agent: "ann", operation: "posts.create" } });
  await clock.advance(2 * HOUR);
  expect(parked).toEqual(["ann payment_required"]);
  expect(runtime().parts.breakers.stops()).toMatchObject([{ rule: "capability", handle: "ann", operation: "posts.create" }]);
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
  expect(runtime().parts.breakers.stops()).toMatchObject([{ rule: "drift", code: "unreadable", operation: "posts.create" }]);
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
    expect(here.runtime().parts.breakers.drift()).toEqual([]);
    isChanged = true;
    const before = written();
    await here.clock.advance(HOUR);
    expect(here.runtime().parts.breakers.drift()[0]).toMatchObject({
      operation: "posts.create",
      severity: "breaking",
      kind: "winner-change",
    });
    return { ...here, written, writtenSince: () => written() - before };
  };

  test("is told of and written to as before, where the policy is to note", async () => {
    const { runtime, writtenSince } = await changing("note");
    expect(runtime().parts.breakers.stops()).toEqual([]);
    expect(writtenSince()).toBeGreaterThan(100);
  });

  test("is written to every five minutes by that operation, where the policy is to slow down", async () => {
    const { runtime, guardian, clock, writtenSince, requests } = await changing("slow");
    expect(runtime().parts.breakers.stops()).toMatchObject([{ rule: "drift", code: "shape_slowed", operation: "posts.create" }]);
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
    const before = here.runtime().parts.breakers.stops();
    await here.restart();
    expect(here.runtime().parts.breakers.stops()).toEqual(before);
    await here.clock.advance(5 * MINUTE - SECOND);
    expect(written(here)).toBe(paid);
    // The look that was due goes out, and no more than it.
    await here.clock.advance(10 * MINUTE);
    expect(written(here)).toBe(paid + 1);
    expect(here.parked.filter((line) => line.endsWith("unreadable"))).toHaveLength(1);
  });

  test("of its speech is tried again under another profile, and of accounts is not", async () => {
    const here = await unreadable();
    here.network.faults.add({ fault: { kind: "account", answer: "suspended" }, match: { agent: "ben" } });
    await here.clock.advance(10 * MINUTE);
    const codes = () =>
      here
        .runtime()
        .parts.breakers.stops()
        .map(({ code }) => code);
    expect(codes().sort()).toEqual(["account_stopped", "unreadable"]);
    await here.restart({ operations: { "posts.create": { answer: "any" } } });
    expect(codes()).toEqual(["account_stopped"]);
    await here.restart({ operations: { "posts.create": { answer: "any", price: { micros: 0 } } } });
    expect(codes()).toEqual(["account_stopped"]);
  });

  test("is forgotten at a person's word, for one specialist or for all, and counts anew", async () => {
    const here = await stage();
    const fault = here.network.faults.add({ fault: { kind: "account", answer: "payment" }, match: { operation: "posts.create" } });
    await here.clock.advance(5 * MINUTE);
    const stopped = () =>
      here
        .runtime()
        .parts.breakers.stops()
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
    expect(here.runtime().parts.breakers.stops()).toEqual([]);
  });
});

/** The ids of all posts that are not ann's, by another key. */
async function everything(network: LocalNetwork): Promise<readonly string[]> {
  const ask = asking(network, "b", network.provision({ handle: "reader", tier: "pro" }).key);
  const found: string[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined;) {
    const page: Heard = await ask("GET", "/v1/posts", { query: { limit: "100", ...(cursor === "" ? {} : { cursor }) } });
    found.push(...records(page).flatMap((post) => (at(post, "author_handle") === "ann" ? [] : [textAt(post, "id")])));
    const next = at(page.json, "pagination.next_cursor");
    cursor = typeof next === "string" ? next : undefined;
  }
  return found;
}

describe("a feed that changes its shape in mid-run", () => {
  const flips: readonly (readonly [name: string, flip: (text: string) => string, drift: string])[] = [
    ["ids under another name", (text) => text.replaceAll('"id":', '"uuid":'), "id at uuid"],
    ["its items under another name", (text) => text.replace('{"items":', '{"results":'), "list at results"],
    ["authors by another name", (text) => text.replaceAll('"author_id":', '"user_id":'), "authorId at user_id"],
  ];
  test.each(flips)("%s: is told of, read no other way, asked no oftener, and read on once it is as before", async (_, flip, drift) => {
    let isFlipped = false;
    const handled: string[] = [];
    const { clock, guardian, network, times } = await stage({
      every: "1h",
      news: 0.5,
      spoil: (line, text) => (isFlipped && line === "GET /v1/posts" ? flip(text) : text),
      onPost: (handle, post) => void (handle === "ann" && handled.push(post)),
    });
    const looks = (since: number): number => times("ann", /^GET \/v1\/posts$/, since).length;
    const start = clock.now();
    await clock.advance(2 * HOUR);
    const before = looks(start);
    expect(handled.length).toBeGreaterThan(20);
    isFlipped = true;
    const since = clock.now();
    await clock.advance(2 * HOUR);
    expect((await clock.run(guardian().status({}))).drift[0]).toMatchObject({ operation: "posts.list", severity: "breaking", path: drift });
    expect(looks(since)).toBeLessThanOrEqual(before * 1.5);
    isFlipped = false;
    await clock.advance(2 * HOUR);
    const posts = await everything(network);
    expect(handled.filter((post, i) => handled.indexOf(post) !== i)).toEqual([]);
    // Nothing of the time between is lost either, save what was still to come when this ended.
    expect(handled.filter((post) => !posts.includes(post))).toEqual([]);
    expect(posts.filter((post) => !handled.includes(post)).length).toBeLessThanOrEqual(3);
    expect(posts.length).toBeGreaterThan(100);
  });

  test("and does so while nothing runs, is told of all the same, until a person takes it as it is", async () => {
    let isFlipped = false;
    const handled: string[] = [];
    const { clock, guardian, network, restart } = await stage({
      every: "1h",
      news: 0.5,
      spoil: (line, text) => (isFlipped && line === "GET /v1/posts" ? text.replaceAll('"id":', '"uuid":') : text),
      onPost: (handle, post) => void (handle === "ann" && handled.push(post)),
    });
    await clock.advance(HOUR);
    isFlipped = true;
    await restart();
    const before = handled.length;
    await clock.advance(HOUR);
    expect((await clock.run(guardian().status({}))).drift[0]).toMatchObject({
      operation: "posts.list",
      severity: "breaking",
      path: "id at uuid",
    });
    expect(handled.length).toBeLessThanOrEqual(before + 1);
    await clock.run(guardian().retry({ id: "posts.list" }));
    await clock.advance(HOUR);
    expect((await clock.run(guardian().status({}))).drift).toEqual([]);
    expect(handled.filter((post, i) => handled.indexOf(post) !== i)).toEqual([]);
    expect((await everything(network)).filter((post) => !handled.includes(post)).length).toBeLessThanOrEqual(3);
  });
});
