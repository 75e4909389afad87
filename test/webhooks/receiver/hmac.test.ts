/** The digest by pads is that of Node's HMAC, whatever the lengths of key and body. */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { Secret } from "../../../src/core/secret.ts";
import { hmacOf, longHmacOf } from "../../../src/webhooks/receiver/hmac.ts";

test.each([1, 8, 32, 63, 64, 65, 200])("a key of %i bytes makes the digest of the standard", (length) => {
  const text = "ké".repeat(length).slice(0, length);
  const secret = new Secret(text);
  for (const size of [0, 1, 55, 56, 64, 1_000, 16_384, 16_385, 100_000]) {
    const body = Buffer.alloc(size, `${size} and ${text}`);
    const expected = createHmac("sha256", text).update(body).digest("hex");
    expect(hmacOf(secret, body), `${size} bytes`).toBe(expected);
    expect(hmacOf(secret, body), "once more").toBe(expected);
    expect(longHmacOf(text, "", body)).toBe(expected);
  }
});

test("two secrets are not mixed up", () => {
  const body = Buffer.from("{}");
  const digests = [new Secret("one one one"), new Secret("two two two"), new Secret("one one one")].map((secret) => hmacOf(secret, body));
  expect(digests[0]).toBe(digests[2]);
  expect(digests[0]).not.toBe(digests[1]);
});
