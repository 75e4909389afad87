/** Open sockets: bounded, with room made by the one that has been idle longest. */
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createConnectionTable } from "../../../src/webhooks/receiver/connections.ts";

function entered(table: ReturnType<typeof createConnectionTable>, count: number): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = new Socket();
    table.enter(socket);
    return socket;
  });
}

test("one more than there is room for closes the oldest that does nothing", () => {
  const table = createConnectionTable(3);
  const sockets = entered(table, 3);
  const [busy, idle] = sockets;
  if (busy === undefined || idle === undefined) throw new Error("expected sockets");
  table.work(busy, 1);
  const [newcomer] = entered(table, 1);
  expect([busy, idle, newcomer].map((socket) => socket?.destroyed)).toEqual([false, true, false]);
  expect([table.open(), table.evicted()]).toEqual([3, 1]);
});

test("if all are at work the newcomer is closed, until one has finished", () => {
  const table = createConnectionTable(2);
  const sockets = entered(table, 2);
  for (const socket of sockets) table.work(socket, 1);
  expect(entered(table, 1)[0]?.destroyed).toBe(true);
  if (sockets[1] !== undefined) table.work(sockets[1], -1);
  expect(entered(table, 1)[0]?.destroyed).toBe(false);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true]);
});

test("a socket that closed by itself makes room", async () => {
  const table = createConnectionTable(1);
  const [first] = entered(table, 1);
  const closed = new Promise((resolve) => first?.once("close", resolve));
  first?.destroy();
  await closed;
  expect(table.open()).toBe(0);
  expect(entered(table, 1)[0]?.destroyed).toBe(false);
  expect(table.evicted()).toBe(0);
});
