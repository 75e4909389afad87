/** One connection to a tool server: it offers the server nothing, and explains why it ended. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openEnvironment } from "../../src/config/environment.ts";
import type { ToolServerSettings } from "../../src/config/config-file.ts";
import { silentLogger } from "../../src/core/log.ts";
import { loadClientSdk } from "../../src/mcp/client-peer.ts";
import { connectTools } from "../../src/mcp/tool-connection.ts";
import { project } from "../harness/project.ts";

const SERVER = join(import.meta.dirname, "../harness/tool-server.mjs");
const forever = new AbortController().signal;

async function connected(settings: ToolServerSettings) {
  const { root: cwd } = project();
  const connection = await connectTools({
    sdk: await loadClientSdk(),
    server: "weather",
    settings,
    environment: openEnvironment({ cwd, variables: {} }),
    cwd,
    fetch: globalThis.fetch,
    log: silentLogger(),
  });
  onTestFinished(() => connection.close());
  return connection;
}

test("it is open until the server ends, and says that it ended", { timeout: 20_000 }, async () => {
  const connection = await connected({ command: process.execPath, args: [SERVER] });
  expect((await connection.tools(forever)).map(({ name }) => name)).toContain("forecast");
  expect(connection.isOpen).toBe(true);
  const error: unknown = await connection.call("dies", {}, forever).catch((one: unknown) => one);
  expect(connection.isOpen).toBe(false);
  expect(connection.failureOf(error)).toMatchObject({ code: "tool_unreachable", name: "Retryable" });
});

test("an address that answers HTML is told by its status, and no stream is opened at it", { timeout: 20_000 }, async () => {
  const methods: (string | undefined)[] = [];
  const server = createServer((request, answer) => {
    methods.push(request.method);
    request.resume();
    answer.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await expect(connected({ url: `http://127.0.0.1:${port}/mcp` })).rejects.toMatchObject({ code: "tool_unreachable" });
  expect(methods).not.toContain("GET");
});
