/** One connection to an MCP server whose tools handlers call: bounded in time and bytes, and it offers the server nothing. */
import type { CallToolResult, Client, FetchLike, Tool, Transport } from "@modelcontextprotocol/client";
import type { ToolServerSettings } from "../config/tool-server-settings.ts";
import type { Environment } from "../config/environment.ts";
import { defined } from "../core/defined.ts";
import { messageOf, Misconfigured, Refused, Retryable } from "../core/errors.ts";
import { asJson, isObject, type JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import { SECOND } from "../core/units.ts";
import { readVersion } from "../core/version.ts";
import type { ToolAnswer } from "../specialist/act.ts";
import { MAX_VALUE_BYTES } from "../specialist/run-request.ts";
import type { ClientSdk } from "./client-peer.ts";

/** Time for a server to start and say what it has. */
const CONNECT_MS = 20 * SECOND;
/** Time for the answer to the first question of the 2026-07-28 protocol; an older server may give none. */
const PROBE_MS = 5 * SECOND;
/** One message of a server. */
const MAX_MESSAGE_BYTES = 1_024 * 1_024;
/** Pages of a list of tools. */
const MAX_PAGES = 16;
/** The deadline of a call is kept by its signal; the package's own limit only has to be longer. */
const NO_LIMIT_MS = 2 ** 31 - 1;

export interface ConnectionOptions {
  readonly sdk: ClientSdk;
  readonly server: string;
  readonly settings: ToolServerSettings;
  readonly environment: Environment;
  readonly cwd: string;
  readonly fetch: typeof globalThis.fetch;
  readonly log: Logger;
}

export interface ToolConnection {
  /** True until it is closed from either side. */
  readonly isOpen: boolean;
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Rejects with what the package throws; `failureOf` explains it. */
  call(name: string, input: JsonObject, signal: AbortSignal): Promise<ToolAnswer>;
  /** An error of `tools` or `call` as one of ours. */
  failureOf(error: unknown): Refused | Retryable;
  close(): Promise<void>;
}

/** Starts or reaches the server. Throws `Retryable` (`tool_unreachable`), `Misconfigured` (`tool_missing`) without a value of its token. */
export async function connectTools(options: ConnectionOptions): Promise<ToolConnection> {
  const { sdk, server } = options;
  const connection = new Connection(options);
  try {
    await connection.client.connect(transportOf(options), { timeout: CONNECT_MS });
    return connection;
  } catch (error) {
    await connection.close();
    if (error instanceof sdk.client.ProtocolError) throw connection.failureOf(new Error(`it refused the connection: ${error.message}`));
    throw error instanceof Misconfigured ? error : connection.failureOf(error);
  } finally {
    if (!connection.isOpen) options.log.debug("an MCP server is not connected", { server });
  }
}

class Connection implements ToolConnection {
  readonly client: Client;
  readonly #options: ConnectionOptions;
  #isOpen = true;
  /** The last error of the transport, which says more than that it closed. */
  #last: Error | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.client = new options.sdk.client.Client(
      { name: "retinue", version: readVersion() },
      {
        capabilities: {},
        versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_MS } },
        inputRequired: { autoFulfill: false },
        listMaxPages: MAX_PAGES,
        // A schema is the server's own text: its patterns could take for ever, and an answer that fits them is no more to be trusted.
        jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
      },
    );
    this.client.onerror = (error) => void (this.#last = error);
    this.client.onclose = () => void (this.#isOpen = false);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    return (await this.client.listTools(undefined, { signal, timeout: CONNECT_MS, cacheMode: "refresh" })).tools;
  }

  async call(name: string, input: JsonObject, signal: AbortSignal): Promise<ToolAnswer> {
    try {
      return answerOf(name, await this.client.callTool({ name, arguments: { ...input } }, { signal, timeout: NO_LIMIT_MS }));
    } catch (error) {
      // The server's own refusal, such as of an input: an answer, which a retry would repeat.
      if (error instanceof this.#options.sdk.client.ProtocolError) return { ok: false, text: error.message };
      throw error;
    }
  }

  failureOf(error: unknown): Refused | Retryable {
    if (error instanceof Refused || error instanceof Retryable) return error;
    const { server } = this.#options;
    const cause = this.#last ?? error;
    const message = messageOf(cause);
    return TOO_LONG.test(`${message} ${messageOf(error)}`)
      ? new Refused("tool_answer_unusable", `the server "${server}" sent more than ${MAX_MESSAGE_BYTES} bytes in one message`, { cause })
      : new Retryable("tool_unreachable", `the server "${server}" cannot be used: ${message}`, {
          cause,
          hint: "see what it says when it is started by hand; --log-level debug shows its stderr",
        });
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.client.close();
  }
}

/** The words of the package, and ours below. */
const TOO_LONG = /exceeded maximum size/;

function transportOf(options: ConnectionOptions): Transport {
  const { sdk, server, settings, environment, cwd, log } = options;
  if ("url" in settings) {
    const { url, token: variable } = settings;
    const token = (): Promise<string> => Promise.resolve(valueOf(environment, variable ?? "", server));
    if (variable !== undefined) valueOf(environment, variable, server);
    return new sdk.client.StreamableHTTPClientTransport(new URL(url), {
      fetch: bounded(options.fetch),
      ...(variable === undefined ? {} : { authProvider: { token } }),
    });
  }
  const { command, args = [], env = [] } = settings;
  const transport = new sdk.stdio.StdioClientTransport({
    command,
    args: [...args],
    env: Object.fromEntries(env.map((name) => [name, valueOf(environment, name, server)])),
    cwd,
    stderr: "pipe",
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  transport.stderr?.on("data", (chunk: Buffer) => log.debug("an MCP server wrote to stderr", { server, text: chunk.toString() }));
  return transport;
}

function valueOf(environment: Environment, variable: string, server: string): string {
  const value = environment.get(variable);
  if (value !== undefined) return value;
  throw new Misconfigured("tool_missing", `the server "${server}" needs ${variable}, which has no value`, {
    expected: `a value of ${variable} in the environment or in .env`,
  });
}

/** No answer is longer than a message may be, and no stream is kept open for messages that nobody asked for. */
function bounded(send: typeof globalThis.fetch): FetchLike {
  return async (url, init) => {
    if (init?.method === "GET") return new Response(null, { status: 405 });
    const answer = await send(url, init);
    if (answer.body === null) return answer;
    let length = 0;
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.byteLength;
        if (length > MAX_MESSAGE_BYTES) controller.error(new Error(`the answer exceeded maximum size of ${MAX_MESSAGE_BYTES} bytes`));
        else controller.enqueue(chunk);
      },
    });
    return new Response(answer.body.pipeThrough(count), answer);
  };
}

/** Throws `Refused` (`tool_answer_unusable`) for more than a step may store. */
function answerOf(name: string, { content, structuredContent, isError }: CallToolResult): ToolAnswer {
  const texts = content.flatMap((block) => {
    if (block.type === "text") return [block.text];
    return block.type === "resource" && "text" in block.resource ? [block.resource.text] : [];
  });
  const data = isObject(structuredContent) ? asJson(structuredContent) : undefined;
  const answer = defined({ ok: isError !== true, text: texts.join("\n"), data });
  const length = JSON.stringify(answer).length;
  if (length > MAX_VALUE_BYTES)
    throw new Refused("tool_answer_unusable", `the answer of ${name} has ${length} characters; at most ${MAX_VALUE_BYTES} are stored`);
  return answer;
}
