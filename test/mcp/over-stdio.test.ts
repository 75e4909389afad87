/** One client over two streams: served until it leaves, and its calls under way are finished. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { serveOverStdio } from "../../src/mcp/over-stdio.ts";
import { deskServer } from "../harness/mcp-desk.ts";

const message = (method: string, params: object, id?: number): string => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const INITIALIZE = message(
  "initialize",
  { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  1,
);

test("a client that leaves in mid-call does not end the call", async () => {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let finished = false;
  const { factory, errors } = await deskServer({
    call: async () => {
      begun.resolve();
      await gate.promise;
      finished = true;
      return { kind: "read", value: [] };
    },
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = await serveOverStdio(factory, { input, output }, (error) => errors.push(error));
  input.write(INITIALIZE + message("notifications/initialized", {}));
  input.write(message("tools/call", { name: "posts_list", arguments: {} }, 2));
  await begun.promise;
  input.end();
  let isOver = false;
  void server.over.then(() => void (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect([isOver, finished]).toEqual([false, false]);
  gate.resolve();
  await server.over;
  expect(finished).toBe(true);
});

test("a message over 1 MiB ends the connection with its reason", async () => {
  const { factory, errors } = await deskServer();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = await serveOverStdio(factory, { input, output }, (error) => errors.push(error));
  input.write(INITIALIZE);
  input.write("x".repeat(1_100_000));
  await server.over;
  expect(errors).toMatchObject([{ message: expect.stringContaining("exceeded maximum size") as string }]);
  expect(input.destroyed).toBe(true);
});
