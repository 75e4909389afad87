/** A project on a local network whose specialist is served over MCP, and real clients of both generations. */
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { projectOnNetwork } from "./project-on-network.ts";

const BIN = join(import.meta.dirname, "../../bin/retinue.js");
const CLIENT = { name: "test", version: "1.0.0" };

/** `scout` with a definition, a local network, and the way to start `retinue` there. */
export async function mcpProject(files: { readonly [path: string]: string }) {
  const here = await projectOnNetwork(files, { PATH: process.env["PATH"] ?? "" });
  const command = {
    command: process.execPath,
    args: ["--conditions=retinue-source", BIN, "mcp", "scout"],
    cwd: here.root,
    env: here.env,
    stderr: "pipe" as const,
  };
  return { ...here, command };
}

type Command = Awaited<ReturnType<typeof mcpProject>>["command"];

/** The parts of a client that both generations share. */
export interface AnyClient {
  listTools(): Promise<{
    readonly tools: readonly {
      readonly name: string;
      readonly description?: string | undefined;
      readonly annotations?: object | undefined;
    }[];
  }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<{ readonly [name: string]: unknown }>;
  readResource(about: { uri: string }): Promise<{ contents: readonly { readonly [name: string]: unknown }[] }>;
  close(): Promise<void>;
}

/** A client of the 2026-07-28 protocol, over stdio. */
export async function newOverStdio(command: Command): Promise<AnyClient> {
  const client = new NewClient(CLIENT, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new NewStdio({ ...command }));
  onTestFinished(() => client.close());
  return client;
}

/** A client of the 2025 protocol, over stdio, by the package of that time. */
export async function oldOverStdio(command: Command): Promise<AnyClient> {
  const client = new OldClient(CLIENT);
  await client.connect(new OldStdio({ ...command }));
  onTestFinished(() => client.close());
  return client;
}

/** The texts of an answer. */
export function textsOf(answer: { readonly [name: string]: unknown }): readonly string[] {
  const { content } = answer;
  return Array.isArray(content) ? content.map((block: { readonly text?: string }) => block.text ?? "") : [];
}

interface Address {
  readonly url: string;
  readonly token: string;
}

/** A client of the 2026-07-28 protocol, over HTTP. */
export async function newOverHttp({ url, token }: Address): Promise<AnyClient> {
  const client = new NewClient(CLIENT, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new NewHttp(new URL(url), { authProvider: { token: async () => token } }));
  onTestFinished(() => client.close());
  return client;
}

/** A client of the 2025 protocol, over HTTP, by the package of that time. */
export async function oldOverHttp({ url, token }: Address): Promise<AnyClient> {
  const client = new OldClient(CLIENT);
  await client.connect(new OldHttp(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  onTestFinished(() => client.close());
  return client;
}
