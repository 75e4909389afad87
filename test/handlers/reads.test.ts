/** A handler's read: its value, an error whose class says what to do, or a suspended run. A gateway by hand. */
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/contract/call.ts";
import { Refused, Retryable } from "../../src/core/errors.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import type { GatewayAnswer } from "../../src/gateway/gateway-answer.ts";
import { readFor } from "../../src/handlers/reads.ts";
import { memberOf, postOf } from "../harness/builders.ts";
import { harness } from "../harness/harness.ts";

const POST = { operation: "posts.get", target: "p1", input: {} };

async function reading(answer: GatewayAnswer | Outcome, sinceMs = HOUR) {
  const { clock, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  const asked: unknown[] = [];
  const given: GatewayAnswer = "kind" in answer ? answer : { kind: "answered", outcome: answer };
  const gateway = {
    ...runtime.parts.gateway,
    async read(_: unknown, call: unknown): Promise<GatewayAnswer> {
      asked.push(call);
      return given;
    },
  };
  const { signal } = new AbortController();
  const read = (call = POST) => readFor({ ...runtime.parts, gateway }, memberOf(), call, { signal, since: clock.now() - sinceMs });
  return { clock, asked, read, breakers: runtime.parts.breakers };
}

const confirmed = (over: object): Outcome => ({ class: "confirmed", status: 200, body: undefined, ...over });
const refused = (status: number): Outcome => ({ class: "refused", status, code: "not_allowed", message: "no" });

test("its value is the record, the items of a list, or the body of an operation without a record", async () => {
  expect(await (await reading(confirmed({ record: postOf("p1") }))).read()).toMatchObject({ value: { kind: "post", id: "p1" } });
  expect(await (await reading(confirmed({ items: [postOf("p1"), postOf("p2")] }))).read()).toMatchObject({
    value: [{ id: "p1" }, { id: "p2" }],
  });
  expect(await (await reading(confirmed({ body: { ok: 1 } }))).read()).toEqual({ value: { ok: 1 } });
  expect(await (await reading(confirmed({}))).read()).toEqual({ value: null });
});

test("it suspends the run until there is room for it", async () => {
  const wait: GatewayAnswer = { kind: "waits", until: 99, rule: "quota_lane", message: "the hour is full", lane: "poll" };
  expect(await (await reading(wait)).read()).toEqual({ suspendedUntil: 99, reason: "the hour is full" });
});

describe("a refused read", () => {
  test("is refused for good where it would be refused again, also by a rule of ours", async () => {
    await expect((await reading(refused(422))).read()).rejects.toBeInstanceOf(Refused);
    await expect((await reading({ kind: "refused", code: "not_in_tier", message: "no" })).read()).rejects.toMatchObject({
      code: "not_in_tier",
    });
  });

  test("suspends the run until the probe, where the whole operation is refused", async () => {
    const { read, breakers, clock } = await reading(refused(405));
    breakers.heard("scout", POST, false, refused(405));
    expect(await read()).toMatchObject({ suspendedUntil: clock.now() + 15 * MINUTE });
  });

  test("of an object that is new may be shown later; of an old one it is gone", async () => {
    await expect((await reading(refused(404), SECOND)).read()).rejects.toBeInstanceOf(Retryable);
    await expect((await reading(refused(404), HOUR)).read()).rejects.toBeInstanceOf(Refused);
  });

  test("by a redirect may be repeated", async () => {
    await expect((await reading(refused(302))).read()).rejects.toBeInstanceOf(Retryable);
  });
});

test("a refused key or a 429 suspends the run, and a lost answer may be repeated", async () => {
  const { read, clock } = await reading({ class: "limited", status: 429 });
  expect(await read()).toMatchObject({ suspendedUntil: clock.now() + SECOND });
  await expect((await reading({ class: "unknown", reason: "ECONNRESET" })).read()).rejects.toBeInstanceOf(Retryable);
});
