/** Tokens: traded one at a time, renewed early, and an error that says whether to try again. */
import { describe, expect, test } from "vitest";
import { createTokens, type TokenOptions } from "../../src/client/tokens.ts";
import type { Call, Outcome } from "../../src/contract/call.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { Refused, Retryable } from "../../src/core/errors.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";

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

  test("that come without a token are a fault of the profile, which is named", async () => {
    const made = bench();
    made.answer = () => ({ class: "unknown", reason: "the answer holds no readable token", status: 200, unreadable: true });
    await expect(made.tokens.current("scout", key)).rejects.toMatchObject({
      code: "token_refused",
      message: expect.stringContaining("check operations.auth.token.path and records.token") as string,
    });
    made.answer = () => ({ class: "confirmed", status: 200, body: {} });
    await expect(made.tokens.current("scout", key)).rejects.toMatchObject({ code: "token_unavailable" });
  });

  test("that live shorter than the early margin are kept for half their life", async () => {
    const made = bench();
    made.answer = () => ({
      class: "confirmed",
      status: 200,
      body: undefined,
      record: { kind: "token", expiresInMs: 10_000 },
      secrets: { accessToken: new Secret("short-lived-1") },
    });
    await made.tokens.current("scout", key);
    await made.clock.advance(4_999);
    await made.tokens.current("scout", key);
    expect(made.calls).toHaveLength(1);
    await made.clock.advance(1);
    await made.tokens.current("scout", key);
    expect(made.calls).toHaveLength(2);
  });

  test("age on a clock that nobody sets", async () => {
    const { tokens, calls, clock } = bench();
    await tokens.current("scout", key);
    clock.jump(-86_400_000);
    await clock.advance(545_000);
    await tokens.current("scout", key);
    expect(calls).toHaveLength(2);
  });
});
