/** The outcome of one attempt decides the intent's next state. */
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/contract/call.ts";
import { HOUR } from "../../src/core/units.ts";
import { conclude } from "../../src/outbox/outcome-to-state.ts";
import { intentOf as intent } from "../harness/builders.ts";

const SENT = 1_000_000;
const QUIET = 210_000;

describe("an outcome", () => {
  const refused: Outcome = { class: "refused", status: 404, code: "x:gone", message: "no such post" };
  const unknown: Outcome = { class: "unknown", reason: "reset" };
  const timing = { quietMs: QUIET, firstCheckMs: 2_000 };

  test("that refuses does not settle what an earlier attempt may have done", () => {
    expect(conclude(intent({ everUnknown: true }), refused, timing, SENT).state).toBe("in_doubt");
    expect(conclude(intent({ everUnknown: false }), refused, timing, SENT).state).toBe("refused");
    expect(conclude(intent({ everUnknown: true, effect: "idempotent" }), refused, timing, SENT).state).toBe("refused");
  });

  test("that is unknown leaves a write in doubt", () => {
    expect(conclude(intent(), unknown, timing, SENT)).toMatchObject({ state: "in_doubt", everUnknown: true, nextAt: SENT + 2_000 });
    expect(conclude(intent({ effect: "at-most-once" }), unknown, timing, SENT).state).toBe("in_doubt");
  });

  test("that is unknown sends an idempotent write again, through an outage of most of a day and no longer", () => {
    const tries = [conclude(intent({ effect: "idempotent", attempt: 1 }), unknown, timing, SENT)];
    while (tries.at(-1)?.state === "ready")
      tries.push(conclude(intent({ effect: "idempotent", attempt: tries.length + 1 }), unknown, timing, tries.at(-1)?.nextAt ?? 0));
    const lastAt = (tries.at(-2)?.nextAt ?? 0) - SENT;
    expect(lastAt).toBeGreaterThan(12 * HOUR);
    expect(lastAt).toBeLessThan(24 * HOUR);
    expect(tries.length).toBeLessThan(50); // each is charged
    expect(tries.at(-1)).toMatchObject({ state: "parked", code: "attempts_spent", everUnknown: true });
  });

  test("that provably did not happen makes it ready again, later and later", () => {
    const delay = (attempt: number): number =>
      (conclude(intent({ attempt }), { class: "never-left", reason: "refused" }, timing, SENT).nextAt ?? 0) - SENT;
    expect([1, 2, 3, 40].map(delay)).toEqual([1_000, 2_000, 4_000, 300_000]);
  });
});
