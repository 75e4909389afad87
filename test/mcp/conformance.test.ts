/**
 * The server passes the protocol's own conformance suite, as far as it applies: 5 of its 32 scenarios for servers. 25 call tools, resources,
 * prompts or completions that only the suite's own server has (`test_simple_text` and the like), or features that this one does not offer
 * (log levels, subscriptions of the 2025 protocol, sampling, elicitation). Two are about sessions, of which this server keeps none.
 */
import { spawn } from "node:child_process";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { serveOverHttp } from "../../src/mcp/over-http.ts";
import { deskServer } from "../harness/mcp-desk.ts";
import { project } from "../harness/project.ts";

const SUITE = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");
const TOKEN = "a-token-of-this-test";

/** Adds the token, which the suite does not send, and changes nothing else. */
async function withToken(url: string): Promise<string> {
  const target = new URL(url);
  const proxy: Server = createServer((asked, answer) => {
    const sent = request(
      {
        host: target.hostname,
        port: target.port,
        path: asked.url,
        method: asked.method,
        headers: { ...asked.headers, authorization: `Bearer ${TOKEN}` },
      },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    sent.on("error", () => answer.destroy());
    asked.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  proxy.unref();
  const { port } = proxy.address() as AddressInfo;
  return `http://127.0.0.1:${port}${target.pathname}`;
}

function run(url: string, scenario: string): Promise<string> {
  const { root } = project();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SUITE, "server", "--url", url, "--scenario", scenario], { cwd: root });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void (said += text));
    child.on("error", reject);
    child.on("close", (code) => resolve(`${code}\n${said}`));
  });
}

test.each(["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"])(
  "conformance: %s",
  { timeout: 30_000 },
  async (scenario) => {
    const { sdk, factory } = await deskServer();
    const server = await serveOverHttp(sdk, factory, { port: 0, token: new Secret(TOKEN), onError: () => undefined });
    onTestFinished(() => server.close());
    expect(await run(await withToken(server.url), scenario)).toMatch(/^0\n[^]*Passed: [1-9]\d*\/\d+, 0 failed/);
  },
);
