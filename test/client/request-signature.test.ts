import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { signatureHeaders } from "../../src/client/request-signature.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { Secret } from "../../src/core/secret.ts";

const SIGN = { header: "x-proof", over: "{timestamp}.{method}.{path}.{body}", timestampHeader: "x-time" };

function signed(more: object = {}) {
  const { auth } = resolveProfile({ extends: "set-b", auth: { header: null, sign: { ...SIGN, ...more } } });
  if (auth.sign === undefined) throw new Error("no signature");
  return signatureHeaders(auth.sign, { method: "POST", path: "/v1/posts?a=1", body: "{}" }, new Secret("the key"), 1_700_000_000_500);
}

test("a signature covers what the profile names, in its encoding", () => {
  const over = "1700000000.POST./v1/posts?a=1.{}";
  expect(signed()).toEqual({ "x-proof": createHmac("sha256", "the key").update(over).digest("hex"), "x-time": "1700000000" });
  expect(signed({ encoding: "base64", prefix: "v1=", over: "{path}", timestampHeader: null })).toEqual({
    "x-proof": `v1=${createHmac("sha256", "the key").update("/v1/posts?a=1").digest("base64")}`,
  });
});
