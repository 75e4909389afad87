/** One connection to a tool server: it offers the server nothing, and explains why it ended. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openEnvironment } from "../../src/config/environment.ts";
import type { ToolServerSettings } from "../../src/config/tool-server-settings.ts";
import { Secret } from "../../src/core/secret.ts";
import { silentLogger } from "../../src/core/log.ts";
import { loadClientSdk } from "../../src/mcp/client-peer.ts";
import { serveOverHttp } from "../../src/mcp/over-http.ts";
import { connectTools } from "../../src/mcp/tool-connection.ts";
import { deskServer } from "../harness/mcp-desk.ts";
import { project } from "../harness/project.ts";

const SERVER = join(import.meta.dirname, "../harness/tool-server.mjs");
const forever = new AbortController().signal;

async function connected(settings: ToolServerSettings, variables: { readonly [name: string]: string } = {}) {
  const { root: cwd } = project();
  const connection = await connectTools({
    sdk: await loadClientSdk(),
    server: "weather",
    settings,
    environment: openEnvironment({ cwd, variables }),
    cwd,
    fetch: globalThis.fetch,
    log: silentLogger(),
  });
  onTestFinished(() => connection.close());
  return connection;
}

test("it is open until the server ends, and says that it ended", async () => {
  const connection = await connected({ command: process.execPath, args: [SERVER] });
  expect((await connection.tools(forever)).map(({ name }) => name)).toContain("forecast");
  expect(connection.isOpen).toBe(true);
  const error: unknown = await connection.call("dies", {}, forever).catch((one: unknown) => one);
  expect(connection.isOpen).toBe(false);
  expect(connection.failureOf(error)).toMatchObject({ code: "tool_unreachable", name: "Retryable" });
});

test("a server of the 2025 protocol is called too", async () => {
  const connection = await connected({ command: process.execPath, args: [SERVER.replace(".mjs", "-2025.mjs")] });
  expect(await connection.tools(forever)).toMatchObject([{ name: "forecast", description: "Forecasts the weather." }]);
  expect(await connection.call("forecast", {}, forever)).toEqual({ ok: true, text: "rain" });
});

test("a server over HTTP is called with its token, and refuses a client without", async () => {
  const { sdk, factory, errors } = await deskServer();
  const token = "a-token-of-this-test";
  const { url, close } = await serveOverHttp(sdk, factory, { port: 0, token: new Secret(token), onError: (error) => errors.push(error) });
  onTestFinished(close);
  const connection = await connected({ url, token: "WEATHER_TOKEN" }, { WEATHER_TOKEN: token });
  expect(await connection.call("posts_list", {}, forever)).toMatchObject({
    ok: true,
    text: expect.stringContaining('["hello"]') as string,
  });
  await expect(connected({ url })).rejects.toMatchObject({ code: "tool_unreachable" });
});

test("an address that answers HTML is told by its status, and no stream is opened at it", async () => {
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
