/** The time at which a refused read may be repeated, so that no read is paid for the same refusal twice. */
import { expect, test } from "vitest";
import { createAnnouncer } from "../../src/core/events.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { endOfRefusal } from "../../src/gateway/end-of-refusal.ts";
import { createBreakers } from "../../src/gateway/network-breakers.ts";
import { memberOf } from "../harness/builders.ts";

function setUp() {
  const clock = virtualClock(1_000);
  const breakers = createBreakers({
    clock,
    announcer: createAnnouncer(),
    drift: "stop",
    trust: {},
    writes: () => true,
    keep: () => undefined,
  });
  return {
    clock,
    breakers,
    end: (refusal: { readonly status?: number }) => endOfRefusal({ breakers, clock }, memberOf(), "posts.list", refusal),
  };
}

test("a refusal by a rule of ours, or of this object alone, has no end", () => {
  const { end } = setUp();
  expect([end({}), end({ status: 404 }), end({ status: 422 })]).toEqual([{ kind: "never" }, { kind: "never" }, { kind: "never" }]);
});

test("a redirect says nothing of the request", () => {
  expect(setUp().end({ status: 302 })).toEqual({ kind: "unknown" });
});

test("a refusal of the whole operation ends with the probe of its breaker", () => {
  const { breakers, clock, end } = setUp();
  const outcome = { class: "refused", status: 405, code: "forbidden", message: "" } as const;
  breakers.heard("scout", { operation: "posts.list", input: {} }, false, outcome);
  expect(end({ status: 405 })).toMatchObject({ kind: "stop", until: clock.now() + 15 * MINUTE });
});

test("a breaker that only a person closes is asked about in an hour", () => {
  const { clock } = setUp();
  const breakers = {
    ...setUp().breakers,
    stop: () =>
      ({
        rule: "drift",
        code: "shape_changed",
        message: "m",
        handle: undefined,
        operation: "posts.list",
        since: 0,
        probeAt: undefined,
      }) as const,
  };
  expect(endOfRefusal({ breakers, clock }, memberOf(), "posts.list", { status: 403 })).toEqual({
    kind: "stop",
    until: clock.now() + HOUR,
    message: "m",
  });
});
