/** The settings of the receiver, refused before anything listens. */
import { describe, expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { Secret } from "../../src/core/secret.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { checkReceiver, deliveryUrl, keptSecrets, type ReceiverSettings } from "../../src/webhooks/receiver-settings.ts";

const profile = resolveProfile({ extends: "set-b" });
const secret = new Secret("a secret of these tests");
const settings = (over: Partial<ReceiverSettings> = {}): ReceiverSettings => ({
  port: 0,
  host: "127.0.0.1",
  url: undefined,
  allowUnsigned: false,
  readSecrets: () => [secret],
  ...over,
});
const refusal = (over: Partial<ReceiverSettings>): unknown => {
  try {
    return checkReceiver(settings(over), profile, ["scout", "quill"]);
  } catch (error) {
    return error;
  }
};

describe("the receiver does not start", () => {
  test("if a specialist has no secret, unless unsigned deliveries are allowed", () => {
    const readSecrets = (handle: string) => (handle === "scout" ? [secret] : []);
    expect(refusal({ readSecrets })).toMatchObject({ code: "webhook_secret_missing", message: expect.stringContaining("quill") });
    expect(refusal({ readSecrets, allowUnsigned: true })).toBeUndefined();
    expect(refusal({})).toBeUndefined();
  });

  test("with an address that the network cannot reach, unless the network is as near", () => {
    const url = "http://192.168.1.5/hooks";
    expect(refusal({ url })).toMatchObject({ code: "webhook_url_inner" });
    expect([refusal({ url, allowPrivate: true }), refusal({ url, local: true })]).toEqual([undefined, undefined]);
  });
});

test("a specialist's address is made of the base as it is given", () => {
  for (const base of ["https://a.dev", "https://a.dev/", "https://a.dev/webhooks", "https://a.dev/webhooks/"])
    expect(deliveryUrl(base, "scout")).toBe("https://a.dev/webhooks/scout");
  expect(deliveryUrl("https://a.dev/x", "scout", "a/b")).toBe("https://a.dev/x/webhooks/scout/a%2Fb");
});

test("secrets are read again every five seconds, so that a rotation needs no restart", async () => {
  const clock = virtualClock();
  let reads = 0;
  const read = keptSecrets(
    () => {
      reads++;
      return [secret];
    },
    () => clock.now(),
  );
  for (let i = 0; i < 3; i++) expect(read("scout")).toEqual([secret]);
  read("quill");
  expect(reads).toBe(2);
  await clock.advance(5 * SECOND);
  read("scout");
  expect(reads).toBe(3);
});
