/** Every way a network says no for longer, over a day: what stops, why, when it is asked again, and how seldom. */
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import type { Fault } from "../../../src/local-network/faults/network-faults.ts";
import { stage } from "../../harness/posting-pair.ts";

const POST = { operation: "posts.create", agent: "ann" };

interface Way {
  readonly name: string;
  readonly fault: Fault;
  readonly match: { readonly agent: string; readonly operation?: string };
  /** What stops, and for whom: an undefined operation is all of them. */
  readonly stops: { readonly code: string; readonly operation: string | undefined; readonly handle: string | undefined };
}

const posting = (code: string): Way["stops"] => ({ code, operation: "posts.create", handle: "ann" });
const all = (code: string): Way["stops"] => ({ code, operation: undefined, handle: "ann" });
const status = (code: number): Fault => ({ kind: "status", status: code, when: "before" });

const WAYS: readonly Way[] = [
  { name: "403", fault: status(403), match: POST, stops: posting("forbidden") },
  { name: "404 at an address without an object", fault: status(404), match: POST, stops: posting("operation_missing") },
  { name: "405", fault: status(405), match: POST, stops: posting("operation_missing") },
  { name: "402", fault: { kind: "account", answer: "payment" }, match: POST, stops: posting("payment_required") },
  { name: "a suspended account", fault: { kind: "account", answer: "suspended" }, match: { agent: "ann" }, stops: all("account_stopped") },
  { name: "a page for people", fault: { kind: "account", answer: "challenge" }, match: { agent: "ann" }, stops: all("challenge") },
  {
    name: "404 to the feed",
    fault: status(404),
    match: { agent: "ann", operation: "posts.list" },
    stops: { ...posting("operation_missing"), operation: "posts.list" },
  },
];

/** Requests that belong to what is stopped. */
const LINES: { readonly [operation: string]: RegExp } = { "posts.create": /^POST \/v1\/posts$/, "posts.list": /^GET \/v1\/posts$/ };
const MAX_ASKED = 12;

function gapsOf(times: readonly number[]): readonly number[] {
  return times.slice(1).map((at, i) => at - (times[i] ?? 0));
}

describe.each(WAYS)("$name", ({ fault, match, stops }) => {
  test("is asked a handful of times in a day, at growing distances, and is over once the network says so", async () => {
    const { clock, network, parked, runtime, times } = await stage({ every: "10m", news: 0.1 });
    const what = LINES[stops.operation ?? ""] ?? /./;
    await clock.advance(10 * MINUTE);
    const rule = network.faults.add({ fault, match });
    const from = clock.now();
    await clock.advance(DAY);
    const asked = times("ann", what, from);
    const probes = gapsOf(asked).filter((gap) => gap > MINUTE);
    expect(parked).toEqual([`ann ${stops.code}`]);
    const [stop, ...others] = runtime().parts.breakers.stops();
    expect(others).toEqual([]);
    expect(stop).toMatchObject({ rule: "capability", ...stops });
    expect(stop?.probeAt).toBeGreaterThan(clock.now());
    expect(stop?.probeAt).toBeLessThanOrEqual(clock.now() + 6 * HOUR);
    // Those under way as it began, then after 15 minutes, twice as long each time, and every 6 hours in the end.
    expect(asked.length).toBeLessThanOrEqual(MAX_ASKED);
    expect(probes.length).toBeGreaterThanOrEqual(6);
    expect(probes.slice(1).every((gap, i) => gap >= 0.9 * (probes[i] ?? 0))).toBe(true);
    expect(Math.max(...probes)).toBeLessThanOrEqual(6.5 * HOUR);
    // Nobody else is held up by it.
    expect(times("ben", LINES["posts.create"] ?? /./, from).length).toBeGreaterThanOrEqual(140);

    rule.remove();
    await clock.advance(6.5 * HOUR);
    expect(runtime().parts.breakers.stops()).toEqual([]);
    expect(times("ann", what, from + DAY).length).toBeGreaterThan(50);
  });
});

test("a key that is refused is tried by one read after 15 minutes, and ever more rarely, until there is another", async () => {
  const { clock, network, parked, times } = await stage({ every: "10m", news: 0.1 });
  await clock.advance(10 * MINUTE + SECOND);
  network.faults.add({ fault: status(401), match: { agent: "ann" } });
  const from = clock.now();
  await clock.advance(DAY);
  expect(parked).toEqual(["ann key_refused"]);
  const asked = times("ann", /./, from);
  const first = asked[0] ?? 0;
  const probes = asked.filter((at) => at > first + MINUTE);
  // At most as many as were under way at once, then the probes.
  expect(asked.length - probes.length).toBeLessThanOrEqual(4);
  expect(times("ann", /^GET/, from + first + MINUTE)).toHaveLength(probes.length);
  const gaps = gapsOf([first, ...probes]).map((gap) => Math.round(gap / MINUTE));
  expect(gaps).toEqual([15, 30, 60, 120, 240, 360, 360]);
});

test("a key that only writes are refused with is not taken for a good one by each read that works", async () => {
  const { clock, network, times } = await stage({ every: "10m", news: 0.1 });
  await clock.advance(10 * MINUTE);
  network.faults.add({ fault: status(401), match: POST });
  const from = clock.now();
  await clock.advance(DAY);
  const written = times("ann", LINES["posts.create"] ?? /./, from);
  expect(written.length).toBeGreaterThan(4);
  expect(written.length).toBeLessThanOrEqual(MAX_ASKED);
});

describe("a key that was refused by mistake", () => {
  const wronged = async () => {
    const at = await stage({ every: "10m", news: 0.1 });
    const { clock, network, guardian } = at;
    const fault = network.faults.add({ fault: status(401), match: { agent: "ann" } });
    await clock.advance(20 * MINUTE);
    const shown = async (hand = guardian()) =>
      (await clock.run(hand.status({}))).specialists.find(({ handle }) => handle === "ann")?.parked?.code;
    expect(await shown()).toBe("key_refused");
    fault.remove();
    return { ...at, shown, from: clock.now() };
  };

  test("is used again by itself, and until then status and why say when it is tried", async () => {
    const { clock, guardian, shown, times, from } = await wronged();
    const { specialists } = await clock.run(guardian().status({}));
    const at = specialists.find(({ handle }) => handle === "ann")?.parked?.probeAt;
    expect(at).toBeGreaterThan(from);
    expect(at).toBeLessThanOrEqual(from + 30 * MINUTE);
    const { reasons } = await clock.run(guardian().why({ id: "ann" }));
    expect(reasons).toContainEqual(expect.objectContaining({ rule: "key_refused", until: at }));
    await clock.advance(HOUR);
    expect(times("ann", /POST/, from).length).toBeGreaterThanOrEqual(4);
    expect(await shown()).toBeUndefined();
  });

  test("is used again on a person's word", async () => {
    const { clock, guardian, shown, times, from } = await wronged();
    await clock.run(guardian().retry({ id: "ann" }));
    await clock.advance(HOUR);
    expect(times("ann", /POST/, from).length).toBeGreaterThanOrEqual(5);
    expect(await shown()).toBeUndefined();
  });

  test("is used again after a restart, and nothing says any more that it is refused", async () => {
    const { clock, restart, asleep, shown, times, from } = await wronged();
    await restart();
    await clock.advance(HOUR);
    expect(times("ann", /POST/, from).length).toBeGreaterThanOrEqual(5);
    expect(await shown()).toBeUndefined();
    await asleep(async (hand) => expect(await shown(hand)).toBeUndefined());
  });
});

test("what waits for the network's own Guardian is asked once each, and is not sent again", async () => {
  const { clock, network, runtime, times, guardian } = await stage({ every: "1h", news: 0.1 });
  network.assume({ prices: { "posts.create": 2 } });
  network.setSpending("ann", { perTransaction: 1 });
  const from = clock.now();
  await clock.advance(DAY);
  const written = times("ann", LINES["posts.create"] ?? /./, from).length;
  expect(written).toBeGreaterThanOrEqual(23);
  expect(written).toBeLessThanOrEqual(25);
  expect(network.truth.effects(POST)).toEqual([]);
  expect(runtime().parts.breakers.stops()).toEqual([]);
  const { specialists } = await clock.run(guardian().status({}));
  expect(specialists.find(({ handle }) => handle === "ann")?.open["pending"]).toBe(written);
});
