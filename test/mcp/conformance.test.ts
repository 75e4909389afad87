/**
 * The protocol's own conformance suite, scenario by scenario: the server passes what applies to it. Every other scenario needs a thing that only
 * the suite's own server has, or a feature that this one does not declare; that reason is checked.
 */
import { spawn } from "node:child_process";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { serveOverHttp } from "../../src/mcp/over-http.ts";
import { deskClient, deskServer } from "../harness/mcp-desk.ts";
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

function suite(...args: readonly string[]): Promise<string> {
  const { root } = project();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SUITE, ...args], { cwd: root });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void (said += text));
    child.on("error", reject);
    child.on("close", (code) => resolve(`${code}\n${said}`));
  });
}

/** The reason why a scenario does not apply. */
type Needs =
  | { readonly tool: string }
  | { readonly resource: string }
  | { readonly capability: "completions" | "logging" | "prompts" }
  | { readonly subscriptions: true }
  | { readonly sessions: true };

const SUBSCRIPTIONS: Needs = { subscriptions: true };
const PROMPTS: Needs = { capability: "prompts" };
/** Ours warns there and fails nothing: a session, and events that a stream could resume at. */
const SESSIONS: Needs = { sessions: true };

const SCENARIOS: { readonly [scenario: string]: "passes" | Needs } = {
  "server-initialize": "passes",
  ping: "passes",
  "tools-list": "passes",
  "resources-list": "passes",
  "dns-rebinding-protection": "passes",
  "tools-call-simple-text": { tool: "test_simple_text" },
  "tools-call-image": { tool: "test_image_content" },
  "tools-call-audio": { tool: "test_audio_content" },
  "tools-call-embedded-resource": { tool: "test_embedded_resource" },
  "tools-call-mixed-content": { tool: "test_multiple_content_types" },
  "tools-call-with-logging": { tool: "test_tool_with_logging" },
  "tools-call-error": { tool: "test_error_handling" },
  "tools-call-with-progress": { tool: "test_tool_with_progress" },
  "tools-call-sampling": { tool: "test_sampling" },
  "tools-call-elicitation": { tool: "test_elicitation" },
  "elicitation-sep1034-defaults": { tool: "test_elicitation_sep1034_defaults" },
  "elicitation-sep1330-enums": { tool: "test_elicitation_sep1330_enums" },
  "json-schema-2020-12": { tool: "json_schema_2020_12_tool" },
  "resources-read-text": { resource: "test://static-text" },
  "resources-read-binary": { resource: "test://static-binary" },
  "resources-templates-read": { resource: "test://template/{id}/data" },
  "resources-subscribe": SUBSCRIPTIONS,
  "resources-unsubscribe": SUBSCRIPTIONS,
  "logging-set-level": { capability: "logging" },
  "completion-complete": { capability: "completions" },
  "prompts-list": PROMPTS,
  "prompts-get-simple": PROMPTS,
  "prompts-get-with-args": PROMPTS,
  "prompts-get-embedded-resource": PROMPTS,
  "prompts-get-with-image": PROMPTS,
  "server-sse-polling": SESSIONS,
  "server-sse-multiple-streams": SESSIONS,
};

async function served(): Promise<string> {
  const { sdk, factory } = await deskServer();
  const server = await serveOverHttp(sdk, factory, { port: 0, token: new Secret(TOKEN), onError: () => undefined });
  onTestFinished(() => server.close());
  return withToken(server.url);
}

test("the table names every scenario for servers", async () => {
  const listed = [...(await suite("list", "--server")).matchAll(/^ +- (\S+)/gm)].map(([, name]) => String(name));
  expect(Object.keys(SCENARIOS).toSorted()).toEqual(listed.toSorted());
});

const applies = Object.keys(SCENARIOS).filter((name) => SCENARIOS[name] === "passes");
test.each(applies)("conformance: %s", async (scenario) => {
  expect(await suite("server", "--url", await served(), "--scenario", scenario)).toMatch(/^0\n[^]*Passed: [1-9]\d*\/\d+, 0 failed/);
});

test("every other scenario needs a thing that this server neither has nor declares", async () => {
  const { client } = await deskClient();
  const { tools } = await client.listTools();
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const declared = client.getServerCapabilities() ?? {};
  const offered: readonly string[] = [
    ...tools.map(({ name }) => name),
    ...resources.map(({ uri }) => uri),
    ...resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ...Object.keys(declared),
    ...(declared.resources?.subscribe === true ? ["subscriptions"] : []),
    ...((await sessionOf(await served())) === null ? [] : ["sessions"]),
  ];
  expect(offered).toEqual(expect.arrayContaining(["posts_list", "retinue://inbox", "retinue://why/{id}", "tools", "resources"]));
  for (const [scenario, needs] of Object.entries(SCENARIOS)) {
    if (needs === "passes") continue;
    const [[name, value]] = Object.entries(needs) as [[string, unknown]];
    expect([scenario, offered]).not.toEqual([scenario, expect.arrayContaining([typeof value === "string" ? value : name])]);
  }
});

/** The session that a server gives to one who initializes, or null. */
async function sessionOf(url: string): Promise<string | null> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("serverInfo")]);
  return answer.headers.get("mcp-session-id");
}
