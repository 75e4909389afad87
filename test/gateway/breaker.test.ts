/** The circuit breaker as a state machine: one probe at a time, growing delays, and each kind's own end. */
import { describe, expect, test } from "vitest";
import {
  type BreakerKind,
  isClosedBy,
  isProbeDue,
  openCircuit,
  refuseProbe,
  releaseProbe,
  claimProbe,
  sendProbe,
} from "../../src/gateway/breaker.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";

const NOW = 1_000_000;

test("an open circuit blocks until its probe is due, and then lets one request pass", () => {
  const open = openCircuit("refusal", NOW);
  expect(isProbeDue(open, NOW + 15 * MINUTE - 1)).toBe(false);
  expect(isProbeDue(open, NOW + 15 * MINUTE)).toBe(true);
  const claimed = claimProbe(open);
  expect(isProbeDue(claimed, NOW + HOUR)).toBe(false);
  expect(isProbeDue(releaseProbe(claimed), NOW + HOUR)).toBe(true);
  expect(isProbeDue(sendProbe("refusal", claimed, NOW + HOUR), NOW + HOUR)).toBe(false);
});

test("each refused probe doubles the delay, up to six hours, and keeps the time since which it is open", () => {
  let circuit = openCircuit("refusal", NOW);
  const delays = [circuit.waitMs];
  for (let probe = 1; probe <= 6; probe++) {
    circuit = refuseProbe("refusal", sendProbe("refusal", circuit, NOW + probe), NOW + probe);
    expect(circuit.probeAt).toBe(NOW + probe + circuit.waitMs);
    delays.push(circuit.waitMs);
  }
  expect(delays.map((ms) => ms / MINUTE)).toEqual([15, 30, 60, 120, 240, 360, 360]);
  expect(circuit.since).toBe(NOW);
});

test("a refusal of a request that was under way as the circuit opened changes nothing", () => {
  const open = openCircuit("refusal", NOW);
  expect(refuseProbe("refusal", open, NOW + HOUR)).toBe(open);
  const claimed = claimProbe(open);
  expect(refuseProbe("refusal", claimed, NOW + HOUR)).toBe(claimed);
});

test("a refusal counts once for its probe", () => {
  const refused = refuseProbe("key", sendProbe("key", openCircuit("key", NOW), NOW), NOW);
  expect(refuseProbe("key", refused, NOW + 1)).toBe(refused);
});

describe("a probe without an answer that decides", () => {
  const grown = { since: NOW, probeAt: NOW, waitMs: 4 * HOUR };

  test("is repeated after the present delay, where a request probes", () =>
    expect(sendProbe("refusal", grown, NOW).probeAt).toBe(NOW + 4 * HOUR));

  test("is repeated after the shortest delay, where a key is probed", () =>
    expect(sendProbe("key", grown, NOW).probeAt).toBe(NOW + 15 * MINUTE));
});

test("a circuit that opens again soon after a probe closed it continues to escalate, and later begins at the first delay", () => {
  const closed = { at: NOW, waitMs: HOUR };
  expect(openCircuit("key", NOW + HOUR - 1, closed).waitMs).toBe(2 * HOUR);
  expect(openCircuit("key", NOW + HOUR, closed).waitMs).toBe(15 * MINUTE);
});

test("only a person closes a circuit without a probe", () => {
  const open = { since: NOW, probeAt: undefined, waitMs: 5 * MINUTE };
  expect(isProbeDue(open, Number.MAX_SAFE_INTEGER)).toBe(false);
});

test("each kind is closed by its own outcomes: any checked answer for a key, none for a changed shape", () => {
  const closers = (kind: BreakerKind) =>
    (["confirmed", "pending", "refused", "unauthorized", "limited", "unknown", "never-left"] as const).filter((outcome) =>
      isClosedBy(kind, outcome),
    );
  expect({ refusal: closers("refusal"), key: closers("key"), drift: closers("drift"), trust: closers("trust") }).toEqual({
    refusal: ["confirmed", "pending"],
    key: ["confirmed", "pending", "refused"],
    drift: [],
    trust: [],
  });
});
