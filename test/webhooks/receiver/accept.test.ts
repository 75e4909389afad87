/** A delivery is verified, stored and only then answered; each answer says what its sender should do. Without HTTP. */
import { describe, expect, test } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../../src/core/log.ts";
import { Scrubber } from "../../../src/core/scrubber.ts";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createGate, type GateHint, type GateOptions, type VerifiedDelivery } from "../../../src/webhooks/receiver/accept.ts";
import { signDelivery, type DeliveryToSign } from "../../../src/webhooks/receiver/sign.ts";
import { SECRET } from "../../harness/webhook-secret.ts";

const OLD = "the secret before the rotation";

function setUp(options: Partial<GateOptions> = {}) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const log: LogLine[] = [];
  const stored: VerifiedDelivery[] = [];
  const hints: GateHint[] = [];
  const gate = createGate({
    clock,
    scrubber: new Scrubber(),
    log: createLogger({ level: "debug", now: () => clock.now(), sink: (line) => void log.push(line) }),
    rules: resolveProfile({ extends: "set-b" }).webhooks,
    secretsOf: (handle) => (handle === asHandle("scout") ? [new Secret(SECRET), new Secret(OLD)] : undefined),
    allowUnsigned: false,
    async put(delivery) {
      const known = stored.some(({ id }) => id === delivery.id);
      if (!known) stored.push(delivery);
      return known ? "known" : "stored";
    },
    onHint: (_, hint) => void hints.push(hint),
    ...options,
  });
  const signed = (over: Partial<DeliveryToSign> = {}) =>
    signDelivery({ scheme: "standard", secret: SECRET, payload: { n: 1 }, id: "d1", at: clock.now(), ...over });
  return { clock, gate, log, stored, hints, signed };
}

test("a verified delivery is stored and answered with 202, and with 200 where it was there already", async () => {
  const { gate, signed, stored } = setUp();
  expect(await gate.accept("scout", signed())).toEqual({ status: 202, verified: true });
  expect(await gate.accept("scout", signed({ payload: { n: 2 } }))).toEqual({ status: 200, verified: true });
  expect(stored).toMatchObject([{ specialist: "scout", id: "id:d1", scheme: "standard" }]);
});

test("the answer comes after the store has it, and is to come back where it cannot", async () => {
  const order: string[] = [];
  const { gate, signed } = setUp({
    async put() {
      await Promise.resolve();
      order.push("stored");
      return "stored";
    },
  });
  await gate.accept("scout", signed()).then(() => order.push("answered"));
  expect(order).toEqual(["stored", "answered"]);
  const later = { status: 503, retryAfterS: 5, verified: true };
  expect(await setUp({ put: async () => "full" }).gate.accept("scout", signed())).toEqual(later);
  const failing = setUp({ put: () => Promise.reject(new Error("disk full")) });
  expect(await failing.gate.accept("scout", signed())).toEqual(later);
  expect(failing.gate.counts().failed).toBe(1);
});

describe("an unverified delivery is not stored, and answered alike", () => {
  test.each<[string, Partial<DeliveryToSign>]>([
    ["with another secret", { secret: "another secret of somebody" }],
    ["without a signature", { scheme: "none" }],
    ["an hour old", { at: Date.UTC(2026, 10, 21) - HOUR }],
    ["of the next hour", { at: Date.UTC(2026, 10, 21) + HOUR }],
  ])("%s", async (_, over) => {
    const { gate, signed, stored } = setUp();
    expect(await gate.accept("scout", signed(over))).toEqual({ status: 401, verified: false });
    expect(stored).toEqual([]);
    expect(Object.values(gate.counts().refused).reduce((sum, n) => sum + n)).toBe(1);
  });

  test("a flood of it is one line in the log a minute", async () => {
    const { gate, signed, log, clock } = setUp();
    for (let i = 0; i < 100; i++) await gate.accept("scout", signed({ secret: "forged" }));
    expect(log).toHaveLength(1);
    await clock.advance(MINUTE);
    await gate.accept("scout", signed({ secret: "forged", at: clock.now() }));
    expect(log.map(({ fields }) => fields["count"])).toEqual([1, 100]);
  });
});

test("a delivery is timely by the network's clock, where ours is hours off", async () => {
  const { gate, signed } = setUp({ networkNow: () => Date.UTC(2026, 10, 21) - 3 * HOUR });
  expect(await gate.accept("scout", signed({ at: Date.UTC(2026, 10, 21) - 3 * HOUR }))).toMatchObject({ status: 202 });
});

test("each secret of a rotation is taken, and counted by its place", async () => {
  const { gate, signed } = setUp();
  await gate.accept("scout", signed({ secret: OLD }));
  expect(gate.counts().bySecret).toEqual([0, 1]);
});

test("nobody by that name is 404", async () => {
  const { gate, signed } = setUp();
  expect([gate.knows("quill"), await gate.accept("quill", signed())]).toEqual([false, { status: 404, verified: false }]);
});

test("unsigned deliveries are hints where a person allowed that, and never facts", async () => {
  const { gate, signed, stored, hints } = setUp({ allowUnsigned: true, secretsOf: () => [] });
  expect(await gate.accept("scout", signed({ scheme: "none" }))).toEqual({ status: 202, verified: false });
  expect([stored.length, hints.length]).toEqual([0, 1]);
});

test("bytes that come again without a signed id are a hint: they may tell of something else", async () => {
  const { gate, signed, hints } = setUp();
  for (let i = 0; i < 2; i++) await gate.accept("scout", signed({ scheme: "github" }));
  expect(hints).toMatchObject([{ signed: true }]);
});
