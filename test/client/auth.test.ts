/** Keys and tokens: read where they are kept, read again once, traded one at a time, and never shown. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createKeys, fingerprintOf } from "../../src/client/auth.ts";
import { createTokens, type TokenOptions } from "../../src/client/tokens.ts";
import type { Call, Outcome } from "../../src/contract/call.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { Misconfigured, Refused, Retryable } from "../../src/core/errors.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";

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

describe("tokens", () => {
  const profile = shippedProfile("a");
  const key = new Secret("sk-agent-1234-5678");

  interface Bench {
    readonly tokens: ReturnType<typeof createTokens>;
    readonly calls: Call[];
    readonly clock: VirtualClock;
    answer: (call: Call) => Outcome;
  }

  function bench(): Bench {
    const calls: Call[] = [];
    const clock = virtualClock();
    const send: TokenOptions["send"] = (call) => {
      calls.push(call);
      return Promise.resolve(made.answer(call));
    };
    let count = 0;
    const made: Bench = {
      calls,
      clock,
      tokens: createTokens({ profile, send, clock }),
      answer: () => ({
        class: "confirmed",
        status: 200,
        body: undefined,
        record: { kind: "token", expiresInMs: 600_000 },
        secrets: { accessToken: new Secret(`access-${++count}`), refreshToken: new Secret(`refresh-${count}`) },
      }),
    };
    return made;
  }

  test("are traded once for any number of callers, and kept", async () => {
    const { tokens, calls } = bench();
    const given = await Promise.all(Array.from({ length: 20 }, () => tokens.current("scout", key)));
    expect(new Set(given.map((token) => token.reveal()))).toEqual(new Set(["access-1"]));
    await tokens.current("scout", key);
    expect(calls).toEqual([{ operation: "auth.token", input: {} }]);
  });

  test("are renewed early, by the refresh token, one renewal at a time", async () => {
    const { tokens, calls, clock } = bench();
    await tokens.current("scout", key);
    await clock.advance(545_000);
    const given = await Promise.all([tokens.current("scout", key), tokens.current("scout", key)]);
    expect(given.map((token) => token.reveal())).toEqual(["access-2", "access-2"]);
    expect(calls.slice(1)).toEqual([{ operation: "auth.refresh", input: { refreshToken: "refresh-1" } }]);
  });

  test("stay in use while a renewal fails, without a storm of renewals", async () => {
    const made = bench();
    await made.tokens.current("scout", key);
    await made.clock.advance(545_000);
    made.answer = () => ({ class: "unknown", reason: "reset" });
    for (let i = 0; i < 10; i++) expect((await made.tokens.current("scout", key)).reveal()).toBe("access-1");
    expect(made.calls).toHaveLength(2);
  });

  test("are traded anew when the renewal is refused and the old one has ended", async () => {
    const made = bench();
    await made.tokens.current("scout", key);
    await made.clock.advance(700_000);
    const good = made.answer;
    made.answer = (call) => (call.operation === "auth.refresh" ? { class: "refused", status: 400, code: "x:y", message: "x" } : good(call));
    expect((await made.tokens.current("scout", key)).reveal()).toBe("access-2");
    expect(made.calls.map(({ operation }) => operation)).toEqual(["auth.token", "auth.refresh", "auth.token"]);
  });

  test("are dropped with their key, or when the network forgets them", async () => {
    const { tokens } = bench();
    await tokens.current("scout", key);
    expect((await tokens.current("scout", new Secret("sk-agent-9999-0000"))).reveal()).toBe("access-2");
    const third = await tokens.current("scout", key);
    tokens.taken("scout", third);
    expect(tokens.refused("scout", new Secret("access-1"))).toBe("token");
    expect((await tokens.current("scout", key)).reveal()).toBe("access-3");
    expect(tokens.refused("scout", third)).toBe("token");
    expect((await tokens.current("scout", key)).reveal()).toBe("access-4");
  });

  test("that are refused as soon as they are made say that it is the key", async () => {
    const { tokens } = bench();
    expect(tokens.refused("scout", await tokens.current("scout", key))).toBe("key");
  });

  test("that cannot be had end in an error that says whether to try again", async () => {
    const made = bench();
    made.answer = () => ({ class: "unauthorized", status: 401 });
    await expect(made.tokens.current("scout", key)).rejects.toBeInstanceOf(Refused);
    made.answer = () => ({ class: "limited", status: 429 });
    await expect(made.tokens.current("scout", key)).rejects.toBeInstanceOf(Retryable);
  });
});
