/** Tools of MCP servers: called as accepted and within their bounds, whatever the server does. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readAccepted, writeAccepted } from "../../src/config/accepted-tools.ts";
import type { ToolServerSettings } from "../../src/config/tool-server-settings.ts";
import { openEnvironment } from "../../src/config/environment.ts";
import { systemClock, type Clock } from "../../src/core/clock.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { createToolServers } from "../../src/mcp/tool-servers.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { project } from "../harness/project.ts";

const SERVER = join(import.meta.dirname, "../harness/tool-server.mjs");
const TOOLS = ["forecast", "fails", "hangs", "long", "longish", "dies", "changes"].map((name) => `weather/${name}` as const);
const forever = new AbortController().signal;

interface World {
  readonly settings?: ToolServerSettings;
  readonly clock?: Clock;
  readonly variables?: { readonly [name: string]: string };
  readonly accept?: boolean;
}

/** `scout` with a server whose tools are accepted. */
async function world({ settings, clock = systemClock(), variables = {}, accept = true }: World = {}) {
  const { root } = project();
  const lines: LogLine[] = [];
  const mcp = { weather: settings ?? { command: process.execPath, args: [SERVER] } };
  const servers = createToolServers({
    config: { mcp, environment: openEnvironment({ cwd: root, variables }), cwd: root },
    clock,
    log: createLogger({ level: "debug", now: () => clock.now(), sink: (line) => void lines.push(line) }),
    fetch: globalThis.fetch,
  });
  onTestFinished(() => servers.close());
  const scout = createSpecialist({ handle: "scout", tools: TOOLS });
  const acceptAll = async (names: readonly string[] = TOOLS): Promise<void> => {
    const found = await servers.findTools(names, forever);
    writeAccepted(root, new Map(found.map(({ name, fingerprint }) => [name, fingerprint])));
  };
  if (accept) await acceptAll();
  const call = (tool: string, input = {}, deadlineMs = 10_000) => servers.callTool(scout, { tool, input, deadlineMs }, forever);
  return { root, servers, scout, call, acceptAll, lines };
}

test("a tool answers with text and data, and its server gets the named variables and no key", async () => {
  const { call } = await world({
    settings: { command: process.execPath, args: [SERVER], env: ["WEATHER_KEY"] },
    variables: { WEATHER_KEY: "sunny-key", RETINUE_KEY_SCOUT: "sk_live_0123456789" },
  });
  expect(await call("weather/forecast", { city: "Bern" })).toEqual({
    ok: true,
    text: "sunny in Bern",
    data: { city: "Bern", key: "sunny-key", own: null },
  });
  expect(await call("weather/fails")).toEqual({ ok: false, text: "no such city" });
  // The server refuses the input itself: an answer, since a retry would be refused too.
  expect(await call("weather/forecast", { city: 7 })).toMatchObject({ ok: false });
});

test("a tool that nobody accepted, one outside `tools` and one that the server lacks are refused before any call", async () => {
  const { call, servers, acceptAll, root } = await world({ accept: false });
  await expect(call("weather/forecast")).rejects.toMatchObject({ code: "tool_unaccepted", name: "Refused" });
  await acceptAll(["weather/forecast"]);
  expect([...readAccepted(root).keys()]).toEqual(["weather/forecast"]);
  expect(await call("weather/forecast")).toMatchObject({ ok: true });
  await expect(call("weather/counts")).rejects.toMatchObject({ code: "tool_not_allowed" });
  await expect(servers.findTools(["weather/none"], forever)).rejects.toMatchObject({ code: "tool_missing" });
  await expect(servers.findTools(["other/none"], forever)).rejects.toMatchObject({ code: "tool_server_unknown" });
});

test("a description that changes is refused within a minute, until a person accepts it", async () => {
  let ahead = 0;
  const real = systemClock();
  const { call, servers, scout, acceptAll } = await world({ clock: { ...real, monotonic: () => real.monotonic() + ahead } });
  expect(await servers.listTools({ tools: ["weather/changes"] }, forever)).toMatchObject([
    { name: "weather/changes", description: "Forecasts the weather." },
  ]);
  expect(await call("weather/changes")).toMatchObject({ text: "changed" });
  ahead = 61_000;
  await expect(call("weather/changes")).rejects.toMatchObject({ code: "tool_changed", name: "Refused" });
  await expect(servers.listTools(scout, forever)).rejects.toMatchObject({ code: "tool_changed" });
  await acceptAll();
  expect(await call("weather/changes")).toMatchObject({ text: "changed" });
});

test("a server that hangs is given up at the deadline and started anew for the next call", async () => {
  const { call } = await world();
  await expect(call("weather/hangs", {}, 300)).rejects.toMatchObject({ code: "tool_deadline", name: "Retryable" });
  expect(await call("weather/forecast", { city: "Bern" })).toMatchObject({ ok: true });
});

test("an answer of 10 MB, and one that no step can store, are refused and leave the next call as it was", async () => {
  const { call } = await world();
  await expect(call("weather/long")).rejects.toMatchObject({ code: "tool_answer_unusable", name: "Refused" });
  await expect(call("weather/longish")).rejects.toMatchObject({ code: "tool_answer_unusable", name: "Refused" });
  expect(await call("weather/forecast", { city: "Bern" })).toMatchObject({ ok: true });
});

test("a server that dies in mid-call fails the call, which can be made again", async () => {
  const { call } = await world();
  await expect(call("weather/dies")).rejects.toMatchObject({ code: "tool_unreachable", name: "Retryable" });
  expect(await call("weather/forecast", { city: "Bern" })).toMatchObject({ ok: true });
});

test("a server that cannot be started is not started again for 5 s", async () => {
  const { call, root } = await world({ settings: { command: "/nowhere/server" }, accept: false });
  writeAccepted(root, new Map(TOOLS.map((tool) => [tool, `sha256:${"0".repeat(64)}`])));
  const first: unknown = await call("weather/forecast").catch((error: unknown) => error);
  expect(first).toMatchObject({ code: "tool_unreachable", name: "Retryable" });
  expect(await call("weather/forecast").catch((error: unknown) => error)).toBe(first);
});

test("over HTTP the token is sent, and a page of 10 MB is not read to its end", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, answer) => {
    seen.push(request.headers.authorization);
    request.resume();
    answer.writeHead(200, { "content-type": "application/json" });
    answer.end(" ".repeat(10_000_000));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { servers } = await world({
    settings: { url: `http://127.0.0.1:${port}/mcp`, token: "WEATHER_TOKEN" },
    variables: { WEATHER_TOKEN: "a-token-of-this-test" },
    accept: false,
  });
  await expect(servers.findTools(["weather/forecast"], forever)).rejects.toMatchObject({ code: "tool_answer_unusable" });
  expect(seen[0]).toBe("Bearer a-token-of-this-test");
});

test("a token without a value is a mistake of the settings", async () => {
  const { servers } = await world({ settings: { url: "http://127.0.0.1:9/mcp", token: "WEATHER_TOKEN" }, accept: false });
  await expect(servers.findTools(["weather/forecast"], forever)).rejects.toMatchObject({ code: "tool_missing", name: "Misconfigured" });
});
