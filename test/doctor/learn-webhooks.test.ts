/** Learning a scheme from deliveries: what fits is found under any header's name, and nothing is acted on or shown. */
import { describe, expect, it } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { createRecorder, learnSchemes, recordingGate, type RecordedDelivery } from "../../src/doctor/learn-webhooks.ts";
import { createReceiver } from "../../src/webhooks/receiver/http.ts";
import { verify } from "../../src/webhooks/receiver/signatures.ts";
import { signDelivery, type DeliveryScheme } from "../../src/webhooks/receiver/sign.ts";
import { SECRET } from "../harness/webhook-secret.ts";

const NOW = 1_780_000_000_000;
const profile = resolveProfile({ extends: "set-b" });
const secretsOf =
  (...secrets: readonly string[]) =>
  () =>
    secrets.map((secret) => new Secret(secret));
const learnScheme = (recorded: readonly RecordedDelivery[], secret: string) => learnSchemes(recorded, secretsOf(secret), profile)[0];
const recorded = (scheme: DeliveryScheme, rename: Readonly<Record<string, string>> = {}): RecordedDelivery[] =>
  Array.from({ length: 3 }, (_, i) => {
    const { headers, body } = signDelivery({ scheme, secret: SECRET, payload: { id: `e${i}`, type: "mention" }, id: `d${i}`, at: NOW + i });
    return {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [rename[name] ?? name, value])),
      body,
      specialist: "scout",
      at: NOW + i,
    };
  });

describe("the scheme", () => {
  it.each([
    ["standard", "standard", "webhook-signature"],
    ["sha256-header", "header", "x-signature-256"],
    ["github", "header", "x-hub-signature-256"],
    ["stripe", "stripe", "stripe-signature"],
    ["in-body", "body", "signature"],
  ] as const)("of %s deliveries is %s", (made, scheme, signature) => {
    expect(learnScheme(recorded(made), SECRET)).toMatchObject({ scheme, signature, fits: 3, of: 3 });
  });

  it("is found under a header nobody has heard of, and written so that a profile takes it", () => {
    const strange = recorded("sha256-header", { "x-signature-256": "x-acme-proof" });
    const learnt = learnScheme(strange, SECRET);
    expect(learnt).toMatchObject({ scheme: "header", signature: "x-acme-proof", fits: 3 });
    const rules = resolveProfile(learnt?.profile).webhooks;
    expect(strange.every((delivery) => verify(delivery, rules, [new Secret(SECRET)], NOW).ok)).toBe(true);
    expect(strange.some((delivery) => verify(delivery, profile.webhooks, [new Secret(SECRET)], NOW).ok)).toBe(false);
  });

  it.each(["standard", "slack"] as const)("of %s deliveries is found though every header has a name of its own", (made) => {
    const rename = {
      "webhook-id": "acme-delivery-id",
      "webhook-timestamp": "acme-sent",
      "webhook-signature": "acme-proof",
      "x-timestamp": "acme-sent",
      "x-signature": "acme-proof",
    };
    const strange = recorded(made, rename);
    const learnt = learnScheme(strange, SECRET);
    expect(learnt).toMatchObject({ signature: "acme-proof", fits: 3, timely: 3, profile: { webhooks: { timestampHeaders: "acme-sent" } } });
    const rules = resolveProfile(learnt?.profile).webhooks;
    expect(strange.every((delivery) => verify(delivery, rules, [new Secret(SECRET)], NOW).ok)).toBe(true);
  });

  it("is found though clocks differ, which is said", () => {
    const late = recorded("standard").map((delivery) => ({ ...delivery, at: NOW + 3_600_000 }));
    expect(learnScheme(late, SECRET)).toMatchObject({ scheme: "standard", fits: 3, timely: 0 });
  });

  it("is the one that fits most, others are told beside it, and so is which secret did", () => {
    const mixed = [...recorded("github"), ...recorded("stripe").slice(1)];
    const learnt = learnSchemes(mixed, secretsOf("the-new-secret-0001", SECRET), profile);
    expect(learnt).toMatchObject([
      { scheme: "header", signature: "x-hub-signature-256", fits: 3, of: 5, bySecret: [0, 3] },
      { scheme: "stripe", signature: "stripe-signature", fits: 2, of: 5 },
    ]);
  });

  it("is path where the address ends in the secret", () => {
    const byPath = recorded("none").map((delivery) => ({ ...delivery, token: SECRET }));
    expect(learnScheme(byPath, SECRET)).toMatchObject({ scheme: "path", fits: 3, profile: { webhooks: { scheme: "path" } } });
  });

  it("is none where nothing is signed, or not with this secret", () => {
    expect(learnScheme(recorded("none"), SECRET)).toBeUndefined();
    expect(learnScheme(recorded("standard"), "another-secret-0001")).toBeUndefined();
    expect(learnScheme([], SECRET)).toBeUndefined();
  });
});

it("a recording is shown by names, types and hashes only", async () => {
  const recorder = createRecorder();
  const receiver = createReceiver({ gate: recordingGate(recorder, systemClock()), clock: systemClock() });
  const { url } = await receiver.listen({ port: 0, host: "127.0.0.1" });
  const { headers, body } = signDelivery({
    scheme: "github",
    secret: SECRET,
    payload: { type: "mention", data: { id: 5, text: "hush", by: ["me"] } },
    at: NOW,
  });
  expect((await fetch(`${url}anybody`, { method: "POST", headers, body: Uint8Array.from(body) })).status).toBe(202);
  await receiver.close();
  const [seen] = recorder.seen(profile, new Scrubber());
  expect(seen).toMatchObject({
    kind: "mention",
    bytes: body.length,
    shape: ["type: string", "data.id: number", "data.text: string", "data.by: list"],
  });
  expect(JSON.stringify(seen)).not.toContain("hush");
  expect(learnScheme(recorder.recorded(), SECRET)).toMatchObject({ scheme: "header", fits: 1 });
});

describe("deliveries that anybody may send while we learn", () => {
  const HEX = "0".repeat(64);
  const sent = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}): RecordedDelivery => ({
    headers,
    body: Buffer.from(body),
    specialist: "scout",
    at: NOW,
  });
  const decoys = JSON.stringify(Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`k${i}`, HEX])));

  it("is tried with few members of a body, those that deliveries have in common first", () => {
    let asked = 0;
    const counted = () => {
      asked++;
      return [new Secret(SECRET)];
    };
    const learnt = learnSchemes([sent(decoys), ...recorded("in-body")], counted, profile);
    expect(learnt[0]).toMatchObject({ scheme: "body", signature: "signature", fits: 3, of: 4 });
    expect(asked).toBeLessThan(100);
  });

  it("is shown in a few words, however long its names are", () => {
    const recorder = createRecorder();
    const deep = (depth: number): string =>
      depth === 0 ? "1" : `{${`"${"n".repeat(9_000)}${depth}":${deep(depth - 1)},`.repeat(2)}"z":1}`;
    for (const body of [decoys, deep(3), `{"${"s".repeat(100_000)}":"${HEX}"}`])
      recorder.record(sent(body, { [`x-${"h".repeat(9_000)}`]: HEX }));
    for (const seen of recorder.seen(profile, new Scrubber())) expect(Buffer.byteLength(JSON.stringify(seen))).toBeLessThan(8_192);
  });

  it("is kept within a bound of bytes", () => {
    const recorder = createRecorder();
    for (let i = 0; i < 100; i++) recorder.record(sent(Buffer.alloc(250_000, "x")));
    expect(recorder.recorded().length).toBeLessThan(20);
    expect(recorder.count).toBe(100);
  });
});
