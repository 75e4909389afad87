/** Keys: read where they are kept, read again once, and never shown. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createKeys, fingerprintOf } from "../../src/client/auth.ts";
import { Misconfigured } from "../../src/core/errors.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";

const salt = new Secret("a salt of this installation");

describe("keys", () => {
  test("a 401 reads the key again once, however many requests it meets", () => {
    let reads = 0;
    const keys = createKeys({ salt, read: () => (reads++, "sk_live_old00000") });
    const { fingerprint } = keys.current("scout");
    expect(["dead", "dead", "dead"]).toEqual(Array.from({ length: 3 }, () => keys.rejected("scout", fingerprint)));
    expect(reads).toBe(2);
  });

  test("a key that was replaced meanwhile is used from then on, also by late 401s of the old one", () => {
    let text = "sk_live_old00000";
    let reads = 0;
    const keys = createKeys({ salt, read: () => (reads++, text) });
    const { fingerprint } = keys.current("scout");
    text = "sk_live_new00000\n";
    expect(keys.current("scout").fingerprint).toBe(fingerprint);
    expect(keys.rejected("scout", fingerprint)).toBe("replaced");
    expect(keys.current("scout").key.reveal()).toBe("sk_live_new00000");
    expect(keys.rejected("scout", fingerprint)).toBe("replaced");
    expect(reads).toBe(2);
  });

  test("a dead key comes back to life with the next one", () => {
    let text = "sk_live_old00000";
    const keys = createKeys({ salt, read: () => text });
    const { fingerprint } = keys.current("scout");
    expect(keys.rejected("scout", fingerprint)).toBe("dead");
    text = "sk_live_new00000";
    keys.reread("scout");
    expect(keys.rejected("scout", keys.current("scout").fingerprint)).toBe("dead");
    text = "sk_live_newer000";
    keys.reread("scout");
    expect(keys.rejected("scout", fingerprintOf(new Secret("sk_live_new00000"), salt))).toBe("replaced");
  });

  test("two handles with one key share a fingerprint; another salt gives another", () => {
    const one = createKeys({ salt, read: () => "sk_live_shared00" });
    const other = createKeys({ salt: new Secret("another"), read: () => "sk_live_shared00" });
    expect(one.current("a").fingerprint).toBe(one.current("b").fingerprint);
    expect(one.current("a").fingerprint).not.toBe(other.current("a").fingerprint);
    expect(one.current("a").fingerprint).not.toContain("shared");
  });

  test.each([
    [undefined, "key_missing"],
    ["", "key_missing"],
    ["  \n", "key_missing"],
    ["short", "key_invalid"],
    ["two words here", "key_invalid"],
    ["sk_live_a\r\nx: y", "key_invalid"],
    ["clé-très-secrète", "key_invalid"],
  ])("%j is no key, and the error does not repeat it", (text, code) => {
    const keys = createKeys({ salt, read: () => text, nameOf: (handle) => `RETINUE_KEY_${handle.toUpperCase()}` });
    const attempt = (): unknown => keys.current("scout");
    expect(attempt).toThrow(Misconfigured);
    expect(attempt).toThrow(expect.objectContaining({ code }));
    expect(attempt).not.toThrow(text === undefined || text.trim() === "" ? "(nothing to repeat)" : text);
  });

  test("no key shows in what is printed, and the scrubber knows it", () => {
    const scrubber = new Scrubber();
    const keys = createKeys({ salt, scrubber, read: () => "plain-and-secret" });
    const held = keys.current("scout");
    expect(inspect([keys, held], { depth: 9 }) + JSON.stringify(held)).not.toContain("plain-and-secret");
    expect(scrubber.clean("it was plain-and-secret")).toBe("it was [secret]");
  });
});
