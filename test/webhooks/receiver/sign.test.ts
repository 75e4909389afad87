/** Deliveries as a network signs them. Each scheme's acceptance is tested with `signatures`. */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { DELIVERY_SCHEMES, signDelivery } from "../../../src/webhooks/receiver/sign.ts";

const AT = 1_780_000_000_000;
const delivery = { secret: "the secret", payload: { n: 1 }, at: AT };

test("the body is the payload's bytes as they are given, in every scheme that adds nothing to it", () => {
  for (const scheme of DELIVERY_SCHEMES.filter((one) => one !== "in-body")) {
    expect(signDelivery({ ...delivery, scheme }).body.toString()).toBe('{"n":1}');
    expect(signDelivery({ ...delivery, scheme, payload: '{ "n": 1 }' }).body.toString()).toBe('{ "n": 1 }');
    expect(signDelivery({ ...delivery, scheme, payload: Uint8Array.of(0xff, 0xfe) }).body).toEqual(Buffer.of(0xff, 0xfe));
  }
});

test("a signature in the body is a member of it", () => {
  const { body } = signDelivery({ ...delivery, scheme: "in-body" });
  expect(JSON.parse(body.toString())).toEqual({ n: 1, signature: expect.stringMatching(/^sha256=[0-9a-f]{64}$/) });
});

test("a header's signature is the HMAC of the body, and a stated kind stands beside it", () => {
  const { headers } = signDelivery({ ...delivery, scheme: "github", kind: "post.created" });
  const hmac = createHmac("sha256", "the secret").update('{"n":1}').digest("hex");
  expect(Object.values(headers)).toContain(`sha256=${hmac}`);
  expect(Object.values(headers)).toContain("post.created");
});

test("without a scheme nothing is signed", () => {
  expect(JSON.stringify(signDelivery({ ...delivery, scheme: "none" }).headers)).not.toMatch(/signature|[0-9a-f]{64}/i);
});
