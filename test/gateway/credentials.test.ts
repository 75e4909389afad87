/** The credential of a request: the key, or the token that it was exchanged for. */
import { describe, expect, test } from "vitest";
import type { HeldKey } from "../../src/client/auth.ts";
import type { Call, Outcome } from "../../src/contract/call.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { asKeyId } from "../../src/core/ids.ts";
import { Secret } from "../../src/core/secret.ts";
import { MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createCredentials, type Traded } from "../../src/gateway/credentials.ts";
import { memberOf } from "../harness/builders.ts";

const FEED: Call = { operation: "posts.list", input: {} };
const keyOf = (text: string): HeldKey => ({ key: new Secret(text), fingerprint: asKeyId(text) });
const KEY = keyOf("sk_1");
const token = (text: string): Outcome => ({ class: "confirmed", status: 200, body: undefined, secrets: { accessToken: new Secret(text) } });
const refused: Outcome = { class: "refused", status: 422, code: "input_invalid", message: "no" };
const unauthorized: Outcome = { class: "unauthorized", status: 401 };

function setUp(exchange: boolean, answer: () => Traded<string> = () => ({ outcome: token("at_1") })) {
  const clock = virtualClock();
  const asked: string[] = [];
  const credentials = createCredentials<string>({
    profile: resolveProfile({ extends: "set-a", auth: { exchange } }),
    clock,
    async send(_, { operation }) {
      asked.push(operation);
      return answer();
    },
  });
  const member = memberOf();
  const of = (key = KEY, call = FEED) => credentials.of(member, key, call);
  const refusesKey = (secret: Secret, outcome: Outcome, call = FEED) => credentials.refusesKey(member, { key: KEY, secret, call }, outcome);
  return { clock, asked, member, of, refusesKey };
}

test("without an exchange it is the key, and a 401 refuses the key", async () => {
  const { of, refusesKey, asked } = setUp(false);
  expect(await of()).toEqual({ kind: "credential", secret: KEY.key });
  expect(asked).toEqual([]);
  expect(refusesKey(KEY.key, unauthorized)).toBe(true);
  expect(refusesKey(KEY.key, refused)).toBe(false);
});

describe("with an exchange", () => {
  test("it is the token for all requests but the exchange itself, which is made once for all that wait", async () => {
    const { of, asked } = setUp(true);
    const all = await Promise.all([of(), of(), of()]);
    expect(all.map((one) => one.kind === "credential" && one.secret.reveal())).toEqual(["at_1", "at_1", "at_1"]);
    expect(asked).toEqual(["auth.token"]);
    expect(await of(KEY, { operation: "auth.token", input: {} })).toEqual({ kind: "credential", secret: KEY.key });
  });

  test("that has to wait, the request waits as the exchange does", async () => {
    const { of } = setUp(true, () => ({ held: "quota" }));
    expect(await of()).toEqual({ kind: "held", held: "quota" });
  });

  test("that is refused, the same key asks again after ten minutes and another one at once", async () => {
    const { of, asked, clock } = setUp(true, () => ({ outcome: refused }));
    const until = clock.now() + 10 * MINUTE;
    expect(await of()).toMatchObject({ kind: "none", until });
    expect(await of()).toMatchObject({ kind: "none", until });
    expect(asked).toHaveLength(1);
    await of(keyOf("sk_2"));
    expect(asked).toHaveLength(2);
    await clock.advance(10 * MINUTE);
    await of(keyOf("sk_2"));
    expect(asked).toHaveLength(3);
  });

  test("that gets no answer is made again by the next request", async () => {
    const { of, asked } = setUp(true, () => ({ outcome: { class: "unknown", reason: "ECONNRESET" } }));
    expect(await of()).toEqual({ kind: "none", message: expect.stringContaining("auth.token got no answer (ECONNRESET)") });
    await of();
    expect(asked).toHaveLength(2);
  });

  test("a 401 to a token that once was accepted refuses the token, and to one that never was the key", async () => {
    const { of, refusesKey } = setUp(true);
    const secret = async (): Promise<Secret> => {
      const one = await of();
      return one.kind === "credential" ? one.secret : KEY.key;
    };
    const used = await secret();
    refusesKey(used, { class: "confirmed", status: 200, body: undefined });
    expect(refusesKey(used, unauthorized)).toBe(false);
    expect(refusesKey(await secret(), unauthorized)).toBe(true);
    expect(refusesKey(KEY.key, unauthorized, { operation: "auth.refresh", input: {} })).toBe(false);
  });
});
