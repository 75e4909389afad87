/** The request for an admission: cost, price, rules, and what the store does not know. */
import { expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import type { Call } from "../../src/contract/call.ts";
import { asKeyId } from "../../src/core/ids.ts";
import { Secret } from "../../src/core/secret.ts";
import { admitFor } from "../../src/gateway/admission-request.ts";
import { createUnkeptHalts } from "../../src/gateway/unkept-halts.ts";
import { ledgerTime } from "../../src/limits/ledger-clock.ts";
import { intentOf, memberOf } from "../harness/builders.ts";
import { BASE_URL, harness } from "../harness/harness.ts";

const KEY = { key: new Secret("sk_live_0123"), fingerprint: asKeyId("k") };
const POST: Call = { operation: "posts.create", input: { content: "hello" } };

async function asking() {
  const { clock, runtime } = await harness({
    specialists: [{ handle: "scout" }],
    profile: {
      tiers: { free: { prices: { "posts.create": { micros: 5 } } } },
      limits: [{ name: "posts", operations: ["posts.create"], max: 1, per: "30m" }],
    },
    start: false,
  });
  const unkeptHalts = createUnkeptHalts();
  const { profile, breakers } = runtime.parts;
  const sources = {
    client: createClient({ profile, clock, baseUrl: BASE_URL.b, transport: () => Promise.reject(new Error("expected no request")) }),
    ledger: ledgerTime(clock),
    breakers,
    caps: () => [],
    unkeptHalts,
    holdMs: 1_000,
    noticeCalls: () => 5,
  };
  const member = memberOf({ may: ["posts.create"], review: ["posts.create"] });
  const of = (over: Partial<Parameters<typeof admitFor>[1]> = {}) => admitFor(sources, { member, call: POST, lane: "act", ...over }, KEY);
  return { clock, profile, unkeptHalts, of };
}

test("it states price, own limits and the end of the answer's time by the profile", async () => {
  const { of, clock, profile } = await asking();
  expect(of()).toMatchObject({
    request: {
      effect: "reconciled",
      price: { kind: "priced", worst: { micros: 5 } },
      ownLimits: [{ name: "posts", max: 1 }],
    },
    now: clock.now(),
    deadlineAt: clock.now() + profile.timing.deadlineMs,
    holdExpiresAt: clock.now() + 1_000,
  });
});

test("an application promises a delivery, and an exchange of a key for a token is no write", async () => {
  const { of } = await asking();
  expect(of({ call: { operation: "jobs.apply", target: "j1", input: {} } }).request.promises).toBe(1);
  expect(of({ trade: true }).request.effect).toBe("read");
});

test("a payload is hashed where a person reviews it, and the runtime's own request needs no permission", async () => {
  const { of } = await asking();
  expect(of({ intent: intentOf() }).request.payloadHash).toMatch(/^[0-9a-f]{64}$/);
  expect(of({ intent: intentOf(), member: memberOf({ may: ["posts.create"] }) }).request).toMatchObject({ payloadHash: undefined });
  const own = of({ own: true, call: { operation: "webhooks.create", input: {} } });
  expect(own.known).toMatchObject({ may: ["webhooks.create"], review: false });
});

test("a halt that the store does not have yet goes with it", async () => {
  const { of, unkeptHalts } = await asking();
  expect(of().known).toMatchObject({ halt: undefined });
  unkeptHalts.hold({ scope: "scout", since: 1, reason: "lunch" });
  expect(of().known.halt).toMatchObject({ reason: "lunch" });
});
