/** Who sends one bad request after another waits; who delivers does not, nor does anybody because of a proxy or a neighbour. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createFloodGuard, isInnerPeer } from "../../../src/webhooks/receiver/rate-limit.ts";
import { createReceiver } from "../../../src/webhooks/receiver/http.ts";

const BURST = 60;

describe("an address", () => {
  const guarded = () => {
    const clock = virtualClock();
    const guard = createFloodGuard(clock);
    const refuse = (address: string, times = BURST): void => {
      for (let i = 0; i < times; i++) guard.refused(address);
    };
    return { clock, guard, refuse };
  };

  it("is barred after sixty refusals in one go, for as long as one is forgiven each second", async () => {
    const { clock, guard, refuse } = guarded();
    refuse("8.8.8.8", BURST - 1);
    expect(guard.bars("8.8.8.8")).toBe(false);
    refuse("8.8.8.8", 1);
    expect([guard.bars("8.8.8.8"), guard.bars("8.8.4.4")]).toEqual([true, false]);
    await clock.advance(1_000);
    expect(guard.bars("8.8.8.8")).toBe(false);
    refuse("8.8.8.8", 1);
    expect(guard.bars("8.8.8.8")).toBe(true);
  });

  it("is cleared by a delivery that verifies", () => {
    const { guard, refuse } = guarded();
    refuse("8.8.8.8");
    guard.accepted("8.8.8.8");
    expect([guard.bars("8.8.8.8"), guard.watching()]).toEqual([false, false]);
  });

  it("of IPv6 stands for its network, one written as IPv6 for itself", () => {
    const { guard, refuse } = guarded();
    refuse("2606:4700::1111");
    expect(guard.bars("2606:4700:0:0:9::1")).toBe(true);
    expect(guard.bars("2606:4700:0:1::1")).toBe(false);
    refuse("::ffff:8.8.8.8");
    expect(guard.bars("8.8.8.8")).toBe(true);
  });

  it("of a neighbour is none: a proxy there speaks for everybody", () => {
    const { guard, refuse } = guarded();
    for (const address of ["127.0.0.1", "::1", "10.1.2.3", "192.168.0.9", "::ffff:172.16.0.1", "fd00::1"]) {
      expect([address, isInnerPeer(address)]).toEqual([address, true]);
      refuse(address);
    }
    expect(guard.watching()).toBe(false);
  });

  it("that nobody knows any more, since its socket is gone, is none", () => {
    const { guard, refuse } = guarded();
    refuse("8.8.8.8");
    guard.refused(undefined);
    guard.accepted(undefined);
    expect([guard.bars(undefined), isInnerPeer(undefined), guard.size]).toEqual([false, true, 1]);
  });

  it("is forgotten when a great many others misbehave, so that memory stays bounded", () => {
    const { guard, refuse } = guarded();
    refuse("8.8.8.8");
    for (let i = 0; i < 100_000; i++) guard.refused(`${20 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}.1`);
    expect(guard.size).toBe(4_096);
    expect(guard.bars("8.8.8.8")).toBe(false);
  });
});

it("that a proxy names gets 429 before its body is read, and others behind the proxy go on", async () => {
  const taken: string[] = [];
  const gate = {
    knows: () => true,
    accept: async (name: string) => (
      taken.push(name),
      name === "good" ? { status: 202 as const, verified: true } : { status: 401 as const, verified: false }
    ),
  };
  const receiver = createReceiver({ gate, clock: { monotonic: () => 0 } });
  const { url } = await receiver.listen({ port: 0, host: "127.0.0.1" });
  const from = async (forwarded: string, name: string) => {
    const headers = { "content-type": "application/json", "x-forwarded-for": forwarded };
    const { status, headers: answered } = await fetch(`${url}${name}`, { method: "POST", headers, body: "{}" });
    return { status, retryAfter: answered.get("retry-after") };
  };
  for (let i = 0; i < BURST; i++) expect((await from("8.8.8.8", "bad")).status).toBe(401);
  expect(await from("8.8.8.8", "bad")).toEqual({ status: 429, retryAfter: "5" });
  // What stands to the left is the sender's own word.
  expect((await from("1.1.1.1, 8.8.8.8", "bad")).status).toBe(429);
  expect((await from("9.9.9.9", "good")).status).toBe(202);
  expect(taken).toHaveLength(BURST + 1);
  expect(receiver.counts()).toMatchObject({ rateLimited: 2, malformed: 0 });
  await receiver.close();
});

it("of somebody who hangs up before the answer is known all the same, and does no harm", async () => {
  const errors: unknown[] = [];
  let answer: () => void = () => undefined;
  const entered = Promise.withResolvers<void>();
  const accept = () =>
    new Promise<{ readonly status: 401; readonly verified: boolean }>((resolve) => {
      answer = () => resolve({ status: 401, verified: false });
      entered.resolve();
    });
  const receiver = createReceiver({
    gate: { knows: () => true, accept },
    clock: { monotonic: () => 0 },
    onError: (error) => errors.push(error),
  });
  const { port } = await receiver.listen({ port: 0, host: "127.0.0.1" });
  const socket = connect(port, "127.0.0.1");
  socket.write("POST /webhooks/scout HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
  await entered.promise;
  socket.resetAndDestroy();
  await once(socket, "close");
  await expect.poll(() => receiver.counts().open).toBe(0);
  answer();
  await receiver.close();
  expect(errors).toEqual([]);
});
