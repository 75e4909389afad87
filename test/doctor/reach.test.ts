/** Reach: an address that accepts connections is reached without a request; any other is told by its reason, in bounded time. */
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Retryable } from "../../src/core/errors.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { checkReachable } from "../../src/doctor/reach.ts";

async function listening(host: string): Promise<{ readonly port: number; readonly heard: string[]; readonly server: Server }> {
  const heard: string[] = [];
  const server = createServer((socket) => socket.on("data", (chunk) => void heard.push(String(chunk))));
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, heard, server };
}

test("an open port is reached, hears no request, and no timer is left", async () => {
  const { port, heard } = await listening("127.0.0.1");
  const clock = virtualClock();
  await checkReachable(`http://127.0.0.1:${port}/v1`, clock);
  expect([heard, clock.pending()]).toEqual([[], 0]);
});

test("a closed port is told with its reason and the setting to check", async () => {
  const { port, server } = await listening("127.0.0.1");
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  const error = await checkReachable(`http://127.0.0.1:${port}/v1`, systemClock()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Retryable);
  expect(error).toMatchObject({
    code: "network_unreachable",
    message: expect.stringMatching(/^no answer from http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/) as string,
    details: { hint: expect.stringContaining("--base-url") as string },
  });
});

test("an address that says nothing ends after 5 s, and leaves no timer", async () => {
  const clock = virtualClock();
  // TEST-NET-1 (RFC 5737): no machine has this address.
  const reaching = checkReachable("http://192.0.2.1/v1", clock).catch((thrown: unknown) => thrown);
  const error = await clock.run(reaching, 6_000);
  expect(error).toMatchObject({ code: "network_unreachable" });
  expect(clock.pending()).toBe(0);
});
