/** Whatever is thrown at the receiver: it stays up, small and quick for those who sign. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { deliver, fuzz, wrongIn } from "./fuzz.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.disconnect();
});

test("20,000 broken requests neither break, fill, fool nor slow down the receiver", async () => {
  const result = await fuzz({ count: 20_000, seed: 20_261_121 });
  const answers = Object.values(result.sent.byName).flatMap((statuses) => Object.values(statuses));
  expect(answers.reduce((sum, n) => sum + n, 0)).toBe(20_000);
  expect(wrongIn(result)).toEqual([]);
  expect(result.signed.count).toBeGreaterThan(100);
});

test("10,000 idle connections leave room for a delivery", async () => {
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
