/** Signatures: every scheme's own deliveries are accepted, everything else is not. */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { parseJson } from "../../../src/core/json.ts";
import { Secret } from "../../../src/core/secret.ts";
import { verify, type RawDelivery, type WebhookRules } from "../../../src/webhooks/receiver/signatures.ts";
import { DELIVERY_SCHEMES, signDelivery, type DeliveryScheme } from "../../../src/webhooks/receiver/sign.ts";

const NOW = 1_780_000_000_000;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const RULES = resolveProfile({ extends: "set-b" }).webhooks;
const SIGNED = DELIVERY_SCHEMES.filter((scheme) => !["none", "path"].includes(scheme));

const rules = (scheme: WebhookRules["scheme"]): WebhookRules => ({ ...RULES, scheme });
const check = (delivery: RawDelivery, secrets: readonly string[] = [SECRET], now = NOW, by = RULES) =>
  verify(
    delivery,
    by,
    secrets.map((text) => new Secret(text)),
    now,
  );
const sign = (scheme: DeliveryScheme, payload: object | string | Uint8Array = { id: "e1", type: "mention" }, at = NOW) =>
  signDelivery({ scheme, secret: SECRET, payload, at });
const flipped = (bytes: Uint8Array, bit: number): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  const at = bit % (copy.length * 8);
  copy[at >> 3] = (copy[at >> 3] ?? 0) ^ (1 << (at & 7));
  return copy;
};

describe("Standard Webhooks", () => {
  it("accepts the published vector", () => {
    const delivery = {
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
      body: Buffer.from('{"test": 2432232314}'),
    };
    expect(check(delivery, [SECRET], 1_614_265_330_000)).toMatchObject({
      ok: true,
      scheme: "standard",
      signedId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    });
    expect(check(delivery, [SECRET], NOW)).toEqual({ ok: false, why: "stale" });
  });

  it("accepts what the reference library signs, among other signatures", () => {
    const body = '{"test": "✓"}';
    const signature = new Webhook(SECRET).sign("msg_1", new Date(NOW), body);
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": `${NOW / 1_000}`,
      "webhook-signature": `v1a,AAAA v1,${"A".repeat(43)}= ${signature}`,
    };
    expect(check({ headers, body: Buffer.from(body) })).toMatchObject({ ok: true, signedId: "msg_1" });
    expect(check({ headers: { ...headers, "webhook-id": "msg_2" }, body: Buffer.from(body) }).ok).toBe(false);
  });

  it("signs what the reference library verifies", () => {
    const { headers, body } = signDelivery({ scheme: "standard", secret: SECRET, payload: { a: 1 }, id: "msg_9", at: Date.now() });
    expect(new Webhook(SECRET).verify(body, { ...headers })).toEqual({ a: 1 });
  });

  it("accepts signed bytes that are no UTF-8, since bytes are what is signed", () => {
    expect(check(sign("standard", Buffer.from([0x7b, 0xff, 0x7d])))).toMatchObject({ ok: true });
  });

  it("never takes an empty key for one", () => {
    const signature = createHmac("sha256", "")
      .update(`m1.${NOW / 1_000}.{}`)
      .digest("base64");
    const headers = { "webhook-id": "m1", "webhook-timestamp": `${NOW / 1_000}`, "webhook-signature": `v1,${signature}` };
    for (const secret of ["whsec_", "", "whsec_!!!!", "whsec_AA=="])
      expect(check({ headers, body: Buffer.from("{}") }, [secret])).toEqual({ ok: false, why: "mismatch" });
  });
});

describe.each(SIGNED)("%s", (scheme) => {
  it("is accepted under its secret, which is told by its place", () => {
    expect(check(sign(scheme), ["another-secret-0001", SECRET])).toMatchObject({ ok: true, secret: 1 });
    expect(check(sign(scheme), [SECRET, "another-secret-0001"])).toMatchObject({ ok: true, secret: 0 });
    expect(check(sign(scheme), ["another-secret-0001"]).ok).toBe(false);
    expect(check(sign(scheme), [])).toMatchObject({ ok: false });
  });

  it("is refused when one bit of the body is another", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, bit) => {
        const delivery = sign(scheme, { id: "e1", value });
        expect(check(delivery).ok).toBe(true);
        expect(check({ ...delivery, body: flipped(delivery.body, bit) }).ok && !sameJson(delivery.body, flipped(delivery.body, bit))).toBe(
          false,
        );
      }),
      { numRuns: 300 },
    );
  });

  it("vouches for exactly the bytes that are acted on", () => {
    const payload = { id: "e1", text: 'a "signature":"x" inside', nested: { signature: "y" } };
    const verdict = check(sign(scheme, payload));
    expect(verdict.ok && JSON.parse(Buffer.from(verdict.covered).toString())).toEqual(payload);
  });
});

/** A flipped case in an escape, or in the signature's hex digits, leaves the same values. */
function sameJson(a: Uint8Array, b: Uint8Array): boolean {
  const read = (bytes: Uint8Array): string | undefined => {
    try {
      const { signature: _signature, ...rest } = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
      return JSON.stringify(rest);
    } catch {
      return undefined;
    }
  };
  return read(a) !== undefined && read(a) === read(b);
}

describe("time", () => {
  it.each(["standard", "stripe", "slack"] as const)("of %s is signed: 300 s late and 60 s early are accepted, no more", (scheme) => {
    const at = (sentAt: number) => check(sign(scheme, { a: 1 }, sentAt));
    expect(at(NOW - 300_000)).toMatchObject({ ok: true });
    expect(at(NOW - 301_000)).toEqual({ ok: false, why: "stale" });
    expect(at(NOW + 60_000)).toMatchObject({ ok: true });
    expect(at(NOW + 61_000)).toEqual({ ok: false, why: "early" });
  });
});

describe("one scheme", () => {
  it.each(["standard", "header", "stripe", "body"] as const)("asked for as %s is the only one accepted", (wanted) => {
    const accepted = SIGNED.filter((scheme) => check(sign(scheme), [SECRET], NOW, rules(wanted)).ok);
    const own = { standard: ["standard"], header: ["sha256-header", "github", "slack"], stripe: ["stripe"], body: ["in-body"] };
    expect(accepted).toEqual(own[wanted]);
  });

  it("none accepts nothing, and unsigned deliveries are refused by all", () => {
    for (const scheme of SIGNED) expect(check(sign(scheme), [SECRET], NOW, rules("none")).ok).toBe(false);
    for (const scheme of ["auto", "standard", "header", "stripe", "body", "path", "none"] as const)
      expect(check(sign("none"), [SECRET], NOW, rules(scheme))).toEqual({ ok: false, why: "unsigned" });
  });

  it.each([
    ["stripe", (body: string) => `${NOW / 1_000}.${body}`],
    ["slack", (body: string) => `v0:${NOW / 1_000}:${body}`],
    ["sha256-header", (body: string) => body.replace("{", `{"signature":"SIGNATURE",`)],
  ] as const)("lends its signature to another only for what says nothing else: %s", (scheme, hashed) => {
    const { headers, body } = sign(scheme);
    const signature = /[0-9a-f]{64}/.exec(Object.values(headers).join(" "))?.[0] ?? "";
    const text = hashed(body.toString()).replace("SIGNATURE", signature);
    const inHeader = scheme !== "sha256-header";
    const verdict = check({ headers: inHeader ? { "x-signature-256": signature } : {}, body: Buffer.from(text) }, [SECRET], NOW + 400_000);
    expect(verdict).toMatchObject({ ok: true, scheme: inHeader ? "header" : "body" });
    const parsed = parseJson(verdict.ok ? Buffer.from(verdict.covered).toString() : "");
    expect(parsed).toEqual(inHeader ? undefined : parseJson(body.toString()));
  });

  it("path vouches for nothing but the sender", () => {
    const by = rules("path");
    expect(check(sign("path"), [SECRET], NOW, by)).toMatchObject({ ok: true, scheme: "path", covered: new Uint8Array() });
    expect(check({ ...sign("path"), token: `${SECRET}x` }, [SECRET], NOW, by)).toEqual({ ok: false, why: "mismatch" });
    expect(check(sign("path")).ok).toBe(false);
  });
});

describe("a signature inside the body", () => {
  const signature = (text: string): string => createHmac("sha256", SECRET).update(text).digest("hex");
  const covered = '{"a":1,"b":[1,2]}';

  it.each([
    ["last", `{"a":1,"b":[1,2],"signature":"${signature(covered)}"}`],
    ["first", `{"signature":"sha256=${signature(covered)}","a":1,"b":[1,2]}`],
    ["in the middle, with spaces", `{"a":1, "signature" : "${signature(covered)}" ,"b":[1,2]}`],
    ["in other key order, signed in sorted order", `{"b":[1,2],"signature":"${signature(covered)}","a":1}`],
  ])("is found %s", (_where, text) => {
    const verdict = check({ headers: {}, body: Buffer.from(text) });
    expect(verdict.ok && JSON.parse(Buffer.from(verdict.covered).toString())).toEqual({ a: 1, b: [1, 2] });
  });

  it("is found where it is alone, and where its text stands elsewhere in the body too", () => {
    const alone = check({ headers: {}, body: Buffer.from(`{ "signature": "${signature("{  }")}" }`) });
    expect(alone.ok && Buffer.from(alone.covered).toString()).toBe("{  }");
    const quoted = (proof: string): string => JSON.stringify({ a: `"signature":"${proof}"`, list: [proof] });
    const rest = quoted("0".repeat(64));
    const proof = signature(rest);
    const verdict = check({ headers: {}, body: Buffer.from(`${rest.slice(0, -1)},"signature":"${proof}"}`) });
    expect(verdict.ok && Buffer.from(verdict.covered).toString()).toBe(rest);
  });

  it("is found in a long body as it was written, and in a short one as it is serialized again", () => {
    const long = { a: "x".repeat(100_000), b: 1 };
    const text = JSON.stringify(long);
    const signed = (covered: string, spaced: string): string => `${spaced.slice(0, -1)},"signature":"${signature(covered)}"}`;
    const spaced = JSON.stringify(long, null, 2);
    expect(check({ headers: {}, body: Buffer.from(signed(spaced, spaced)) }).ok).toBe(true);
    expect(check({ headers: {}, body: Buffer.from(signed(text, spaced)) })).toEqual({ ok: false, why: "mismatch" });
    expect(check({ headers: {}, body: Buffer.from(signed('{"a":1}', '{\n  "a": 1\n}')) }).ok).toBe(true);
  });

  it.each([
    ["longer than signatures are", "0".repeat(513)],
    ["of 200 KB", "a".repeat(200_000)],
    ["full of signs of a pattern", "(a+)+$"],
    ["no hash", "sha256="],
  ])("is none where it is %s", (_what, text) => {
    expect(check({ headers: {}, body: Buffer.from(JSON.stringify({ id: "e1", signature: text })) })).toEqual({
      ok: false,
      why: "mismatch",
    });
  });

  it("does not vouch for what was put in beside it", () => {
    const acted = [
      `{"a":1,"b":[1,2],"c":3,"signature":"${signature(covered)}"}`,
      `{"a":1,"b":[1,2,9],"signature":"${signature(covered)}"}`,
      `{"a":2,"a":1,"b":[1,2],"signature":"${signature(covered)}","__proto__":{"x":1}}`,
    ].map((text) => {
      const verdict = check({ headers: {}, body: Buffer.from(text) });
      return verdict.ok ? Buffer.from(verdict.covered).toString() : undefined;
    });
    // The last one reads as what was signed: that, and not the text around it, is what is acted on.
    expect(acted).toEqual([undefined, undefined, covered]);
  });
});

describe("whatever comes", () => {
  it("is refused or accepted, and never throws", () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom("v1,", "t=1,v1=", "sha256=", "sha256=" + "0".repeat(64), "v1," + "A".repeat(44)),
      fc.string({ unit: "binary" }),
    );
    const headers = fc.dictionary(fc.constantFrom(...RULES.signature, ...RULES.deliveryIdHeaders, ...RULES.timestampHeaders), value);
    fc.assert(
      fc.property(headers, fc.uint8Array({ maxLength: 300 }), (given, body) => {
        expect(check({ headers: given, body }).ok).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("GitHub's example deliveries", () => {
  const file = fileURLToPath(import.meta.resolve("@octokit/webhooks-examples"));
  const events = JSON.parse(readFileSync(file, "utf8")) as { readonly name: string; readonly examples: readonly object[] }[];
  const examples = events.flatMap(({ name, examples: payloads }) => payloads.map((payload) => ({ name, payload })));

  it("are all accepted when signed, and refused with another secret", () => {
    expect(examples.length).toBeGreaterThan(200);
    for (const { name, payload } of examples) {
      const delivery = signDelivery({ scheme: "github", secret: SECRET, payload, kind: name, at: NOW });
      expect(check(delivery)).toMatchObject({ ok: true, scheme: "header" });
      expect(check(delivery, ["It's a Secret to Everybody"]).ok).toBe(false);
    }
  });

  it("use the signature that GitHub's documentation shows", () => {
    const headers = { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" };
    expect(check({ headers, body: Buffer.from("Hello, World!") }, ["It's a Secret to Everybody"])).toMatchObject({ ok: true });
  });
});
