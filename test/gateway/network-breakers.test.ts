/** The open breakers of a network: the requests that they block, the one that they let through, and the rows that they leave. */
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/contract/call.ts";
import type { DriftPolicy, Observation } from "../../src/contract/reading/pinned-fields.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createBreakers, type Breakers } from "../../src/gateway/network-breakers.ts";
import type { NetworkStateRow } from "../../src/store/network-state.ts";

const refused = (status: number, message = ""): Outcome => ({ class: "refused", status, code: "forbidden", message });
const confirmed: Outcome = { class: "confirmed", status: 200, body: undefined };
const breaking: Observation = { severity: "breaking", kind: "missing-field", record: "post", path: "id at id", type: "missing" };
const REPLY = { operation: "posts.reply", target: "p_1", input: {} };

function setUp(drift: DriftPolicy = "note") {
  const clock = virtualClock(1_000_000);
  const announcer = createAnnouncer();
  const parked: string[] = [];
  announcer.on("parked", ({ handle, code }) => void parked.push(`${handle} ${code}`));
  const rows = new Map<string, NetworkStateRow>();
  const open = (): Breakers =>
    createBreakers({
      clock,
      announcer,
      drift,
      trust: {},
      writes: (operation) => operation !== "posts.list",
      keep({ put, drop }) {
        for (const { kind, name } of drop) rows.delete(`${kind} ${name}`);
        for (const row of put) rows.set(`${row.kind} ${row.name}`, row);
      },
    });
  const reopened = (): Breakers => {
    const again = open();
    again.restore([...rows.values()]);
    return again;
  };
  return { clock, parked, rows, breakers: open(), reopened };
}

describe("a stopped account", () => {
  const stopped = refused(403, "account suspended");

  test("blocks all of one specialist, is announced once, and is known after a restart", () => {
    const { breakers, parked, reopened } = setUp();
    breakers.heard("ann", REPLY, true, stopped);
    breakers.heard("ann", REPLY, true, stopped);
    expect(parked).toEqual(["ann account_stopped"]);
    for (const known of [breakers, reopened()]) {
      expect(known.stop("ann", "posts.list", false)).toMatchObject({ code: "account_stopped", probeAt: 1_000_000 + 15 * MINUTE });
      expect(known.stop("ben", "posts.list", false)).toBeUndefined();
    }
  });

  test("lets one read of any operation through as the probe, and none while that one asks for admission", async () => {
    const { breakers, clock } = setUp();
    breakers.heard("ann", REPLY, true, stopped);
    await clock.advance(15 * MINUTE);
    expect(breakers.stop("ann", "posts.list", false)).toBeUndefined();
    const release = breakers.claim("ann", "posts.list", false);
    expect(breakers.stop("ann", "jobs.list", false)?.probeAt).toBe(clock.now() + 1_000);
    release?.();
    expect(breakers.stop("ann", "jobs.list", false)).toBeUndefined();
    breakers.leaving("ann", "jobs.list", false);
    expect(breakers.stop("ann", "posts.list", false)?.probeAt).toBe(clock.now() + 15 * MINUTE);
  });

  test("lets no write through, which asks again every minute, until no read has come for half an hour", async () => {
    const { breakers, clock } = setUp();
    breakers.heard("ann", REPLY, true, stopped);
    await clock.advance(16 * MINUTE);
    expect(breakers.stop("ann", "posts.reply", true)?.probeAt).toBe(clock.now() + MINUTE);
    await clock.advance(29 * MINUTE);
    expect(breakers.stop("ann", "posts.reply", true)).toBeUndefined();
  });

  test("is closed by a confirmed probe, with its row", async () => {
    const { breakers, clock, rows } = setUp();
    breakers.heard("ann", REPLY, true, stopped);
    await clock.advance(15 * MINUTE);
    breakers.leaving("ann", "posts.list", false);
    breakers.heard("ann", { operation: "posts.list", input: {} }, false, confirmed);
    expect(breakers.stops()).toEqual([]);
    expect(rows.size).toBe(0);
  });

  test("does not let an operation pass that is stopped itself, though its own probe is due", async () => {
    const { breakers, clock } = setUp();
    breakers.heard("ann", REPLY, true, stopped);
    await clock.advance(10 * MINUTE);
    breakers.heard("ann", { operation: "jobs.list", input: {} }, false, refused(405));
    await clock.advance(5 * MINUTE);
    expect(breakers.stop("ann", "posts.list", false)).toBeUndefined();
    expect(breakers.stop("ann", "jobs.list", false)).toMatchObject({ code: "operation_missing" });
  });
});

describe("a changed shape", () => {
  test.each([
    ["note", undefined],
    ["slow", "shape_slowed"],
    ["stop", "shape_changed"],
  ] as const)("with the policy %s leaves reads alone, and writes under %s", (policy, code) => {
    const { breakers, reopened } = setUp(policy);
    breakers.drifted("posts.reply", [breaking]);
    breakers.drifted("posts.list", [breaking]);
    const listed = code === undefined ? [] : [code];
    for (const known of [breakers, reopened()]) {
      expect(known.stops().map((one) => one.code)).toEqual(listed);
      expect(known.stop("ann", "posts.list", false)).toBeUndefined();
      expect(known.stop("ann", "posts.reply", true)?.code).toBe(policy === "stop" ? code : undefined);
    }
  });

  test("with the policy slow spaces writes by five minutes, over a restart too, and confirmed ones do not end that", async () => {
    const { breakers, clock, reopened } = setUp("slow");
    breakers.drifted("posts.reply", [breaking]);
    breakers.leaving("ann", "posts.reply", true);
    breakers.heard("ann", REPLY, true, confirmed);
    for (const known of [breakers, reopened()])
      expect(known.stop("ben", "posts.reply", true)).toMatchObject({ code: "shape_slowed", probeAt: clock.now() + 5 * MINUTE });
    await clock.advance(5 * MINUTE);
    for (const known of [breakers, reopened()]) expect(known.stop("ben", "posts.reply", true)).toBeUndefined();
  });

  test("is accepted by a person's order, and its rows go", () => {
    const { breakers, rows } = setUp("slow");
    breakers.drifted("posts.reply", [breaking]);
    breakers.leaving("ann", "posts.reply", true);
    expect(breakers.lift("posts.list")).toBeUndefined();
    const change = breakers.lift("posts.reply");
    expect(change?.drop.map(({ kind }) => kind).toSorted()).toEqual(["drift", "slowed"]);
    expect(new Set(change?.drop.map(({ kind, name }) => `${kind} ${name}`))).toEqual(new Set(rows.keys()));
    expect([breakers.stops(), breakers.drift()]).toEqual([[], []]);
  });
});

test("a person's order for one specialist leaves the same breaker of another", () => {
  const { breakers } = setUp();
  for (const handle of ["ann", "ben"]) breakers.heard(handle, REPLY, true, refused(405));
  breakers.lift("posts.reply", "ann");
  expect(breakers.stops().map(({ handle }) => handle)).toEqual(["ben"]);
});
