/** Whatever is thrown at the receiver: it stays up, small and quick for those who sign. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { deliver, fuzz } from "./fuzz.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.disconnect();
});

test("20,000 broken requests neither break, fill nor slow down the receiver", { timeout: 120_000 }, async () => {
  const { sent, server, rssGrowthBytes, signed } = await fuzz({ count: 20_000, seed: 20_261_121 });
  expect(server.faults).toEqual([]);
  expect(Object.values(sent.statuses).reduce((sum, n) => sum + n, 0)).toBe(20_000);
  // Nothing but these: no 500, no 410, and 202 only for what was signed.
  expect(Object.keys(sent.statuses).filter((status) => !EXPECTED.includes(status))).toEqual([]);
  expect(sent.statuses["unsent"] ?? 0).toBeLessThan(200);
  expect(Object.keys(sent.byName).length).toBeGreaterThan(30);
  expect(rssGrowthBytes).toBeLessThan(64 * 2 ** 20);
  expect(signed.count).toBeGreaterThan(100);
  expect(signed.lost).toBe(0);
  expect(signed.p99Ms).toBeLessThan(250);
});

const EXPECTED: readonly string[] = [
  "100",
  "200",
  "202",
  "400",
  "401",
  "404",
  "408",
  "413",
  "414",
  "415",
  "417",
  "431",
  "503",
  "none",
  "unsent",
];

test("10,000 idle connections leave room for a delivery", { timeout: 60_000 }, async () => {
  const server = fork(join(import.meta.dirname, "fuzz-server.ts"), { execArgv: ["--conditions=retinue-source"] });
  children.push(server);
  const [{ port }] = (await once(server, "message")) as [{ readonly port: number }];
  const idle: Socket[] = [];
  for (let opened = 0; opened < 10_000; opened += 250)
    await Promise.all(
      Array.from({ length: 250 }, async () => {
        const socket = connect({ port, host: "127.0.0.1" });
        socket.on("error", () => undefined); // the receiver may hang up
        idle.push(socket);
        await once(socket, "connect");
      }),
    );
  const agent = new Agent({ keepAlive: false });
  for (let i = 0; i < 20; i++) expect(await deliver(port, agent, `beside_${i}`)).toBe(202);
  server.send("report");
  const [report] = (await once(server, "message")) as [{ readonly faults: readonly string[]; readonly evicted: number }];
  expect(report.faults).toEqual([]);
  expect(report.evicted).toBeGreaterThan(7_000);
  for (const socket of idle) socket.destroy();
});
