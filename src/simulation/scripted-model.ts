/** A model for tests: a real HTTP server of this machine that speaks the wire forms of the providers and answers as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { ModelConfig, ModelProvider } from "../config/model-settings.ts";
import { callName } from "../contract/call-schema.ts";
import { isObject, parseJson, textIn, type Json, type JsonObject } from "../core/json.ts";

/** A use of a tool, by the name of its operation or of the tool. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: Json;
}

/** One answer: a text, or its parts. */
export type ScriptedReply =
  | string
  | {
      readonly text?: string;
      readonly calls?: readonly ScriptedCall[];
      /** Tokens that it tells. Default 100 and 20; `"none"` tells nothing. */
      readonly use?: { readonly input: number; readonly output: number } | "none";
      /** Default 200. With another one, `text` is the message of the error. */
      readonly status?: number;
      readonly headers?: { readonly [name: string]: string };
      /** A body in place of the provider's form, such as HTML. */
      readonly body?: string;
      /** Never answers. */
      readonly hangs?: true;
    };

/** A request as the model got it. */
export interface ModelRequest {
  readonly provider: ModelProvider;
  /** The system's words. */
  readonly instructions: string;
  /** The message of the user. */
  readonly message: string;
  /** Names of the tools. */
  readonly tools: readonly string[];
  /** The key that came with it. */
  readonly key: string | undefined;
  /** The whole body. */
  readonly body: string;
}

/** One reply for all requests, several in turn (the last for ever), or a rule. */
export type Script = ScriptedReply | readonly ScriptedReply[] | ((request: ModelRequest) => ScriptedReply | Promise<ScriptedReply>);

/** A running scripted model, and the requests that it got. */
export interface ScriptedModel extends AsyncDisposable {
  /** The base address. */
  readonly address: string;
  readonly requests: readonly ModelRequest[];
  /** A model for `models` in the settings: free, unless prices are given. */
  settings(changes?: Partial<ModelConfig>): ModelConfig;
  /** Replaces the script for the requests to come. */
  tell(script: Script): void;
  close(): Promise<void>;
}

const CONTEXT_TOKENS = 32_000;
const MAX_REQUEST_BYTES = 4 * 1_024 * 1_024;
const USE = { input: 100, output: 20 };

/** Starts a model on a free port of this machine. Close it at the end, or declare it with `await using`. */
export async function scriptedModel(script: Script): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  let told = script;
  let turn = 0;
  const replyTo = async (request: ModelRequest): Promise<ScriptedReply> => {
    if (typeof told === "function") return told(request);
    if (!isList(told)) return told;
    return told[Math.min(turn++, told.length - 1)] ?? "NOTHING";
  };
  const server = createServer((incoming, outgoing) => {
    const answered = async (): Promise<void> => {
      const request = await readRequest(incoming);
      requests.push(request);
      send(outgoing, request, await replyTo(request));
    };
    answered().catch((error: unknown) => outgoing.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  const address = `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}/v1`;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    address,
    requests,
    settings: (changes = {}) => ({
      provider: "openai-compatible",
      address,
      context: CONTEXT_TOKENS,
      prices: { input: 0, output: 0 },
      perMinute: 60_000,
      ...changes,
    }),
    tell(next) {
      told = next;
      turn = 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function isList(script: Script): script is readonly ScriptedReply[] {
  return Array.isArray(script);
}

async function readRequest(incoming: IncomingMessage): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw new Error(`the request is longer than ${MAX_REQUEST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks).toString("utf8");
  const parsed = parseJson(body);
  const json = isObject(parsed) ? parsed : {};
  const provider = incoming.url?.endsWith("/messages") === true ? "anthropic" : "openai-compatible";
  const messages = objectsIn(json["messages"]);
  const saidBy = (role: string): string =>
    messages
      .filter((message) => message["role"] === role)
      .map((one) => textOf(one["content"]))
      .join("\n");
  const { authorization, "x-api-key": apiKey } = incoming.headers;
  return {
    provider,
    instructions: provider === "anthropic" ? textOf(json["system"]) : saidBy("system"),
    message: saidBy("user"),
    tools: objectsIn(json["tools"]).flatMap((tool) => textIn(isObject(tool["function"]) ? tool["function"] : tool, "name") ?? []),
    key: typeof apiKey === "string" ? apiKey : authorization?.replace(/^Bearer /, ""),
    body,
  };
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Content as text, or as a list of parts. */
function textOf(content: Json | undefined): string {
  return typeof content === "string"
    ? content
    : objectsIn(content)
        .map((part) => textIn(part, "text") ?? "")
        .join("");
}

function send(outgoing: ServerResponse, { provider }: ModelRequest, told: ScriptedReply): void {
  const reply = typeof told === "string" ? { text: told } : told;
  if (reply.hangs === true) return;
  const { status = 200, headers = {}, text = "", body } = reply;
  const given = { "content-type": body === undefined ? "application/json" : "text/html", ...headers };
  outgoing.writeHead(status, given);
  if (body !== undefined) outgoing.end(body);
  else if (status !== 200) outgoing.end(JSON.stringify({ type: "error", error: { type: "error", message: text } }));
  else outgoing.end(JSON.stringify(provider === "anthropic" ? asAnthropic(reply) : asOpenAi(reply)));
}

type Parts = Exclude<ScriptedReply, string>;

function asOpenAi({ text = "", calls = [], use = USE }: Parts): JsonObject {
  const tool_calls = calls.map(({ name, input }, at) => ({
    id: `call_${at}`,
    type: "function",
    function: { name: callName(name), arguments: JSON.stringify(input) },
  }));
  const message = { role: "assistant", content: text, ...(calls.length === 0 ? {} : { tool_calls }) };
  const told =
    use === "none" ? {} : { usage: { prompt_tokens: use.input, completion_tokens: use.output, total_tokens: use.input + use.output } };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "scripted",
    choices: [{ index: 0, message, finish_reason: calls.length === 0 ? "stop" : "tool_calls" }],
    ...told,
  };
}

function asAnthropic({ text = "", calls = [], use = USE }: Parts): JsonObject {
  const parts = [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ name, input }, at) => ({ type: "tool_use", id: `call_${at}`, name: callName(name), input })),
  ];
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "scripted",
    content: parts,
    stop_reason: calls.length === 0 ? "end_turn" : "tool_use",
    stop_sequence: null,
    ...(use === "none" ? {} : { usage: { input_tokens: use.input, output_tokens: use.output } }),
  };
}
