/** The AI SDK, loaded when a model is first asked: it speaks the providers' protocols, and sends through the fetch it is given. */
import { installCommand, type ModelProvider, type ModelSettings } from "../config/model-settings.ts";
import { Misconfigured } from "../core/errors.ts";
import { loadOptional } from "../core/peer.ts";
import type { TokenUse } from "./call-cost.ts";
import type { ModelAttempt } from "./model-fetch.ts";
import type { Prompt } from "./prompt.ts";
import type { ModelTool } from "./tools.ts";

export interface Generation {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  /** False if the provider cut the answer or filtered it. */
  readonly isWhole: boolean;
  readonly use: TokenUse;
}

type FetchFunction = ModelAttempt["fetch"];

export interface GenerateOptions {
  readonly settings: ModelSettings;
  readonly key: string | undefined;
  readonly prompt: Prompt;
  readonly tools: readonly ModelTool[];
  readonly send: FetchFunction;
  readonly signal: AbortSignal;
}

/** Loads the packages of a provider. Throws `Misconfigured` (`model_package_missing`). */
export async function loadProvider(settings: ModelSettings): Promise<void> {
  await loaded(settings.provider, "ai", () => import("ai"));
  await openModel(settings, undefined, () => Promise.reject(new Error("nothing is asked yet")));
}

/** Asks once: the SDK retries nothing, because each try is paid. Throws what the SDK throws, and `Misconfigured` (`model_package_missing`). */
export async function generate({ settings, key, prompt, tools, send, signal }: GenerateOptions): Promise<Generation> {
  const { generateText, jsonSchema, tool } = await loaded(settings.provider, "ai", () => import("ai"));
  globalThis.AI_SDK_LOG_WARNINGS = false; // it prints beside the log
  const model = await openModel(settings, key, send);
  const { text, toolCalls, usage, finishReason } = await generateText({
    model,
    instructions: prompt.instructions,
    messages: [{ role: "user", content: prompt.message }],
    ...(tools.length === 0
      ? {}
      : {
          tools: Object.fromEntries(
            tools.map(({ name, purpose, schema }) => [
              name,
              tool({ description: purpose, inputSchema: jsonSchema(structuredClone(schema)) }),
            ]),
          ),
        }),
    maxOutputTokens: settings.outputTokens,
    maxRetries: 0,
    abortSignal: signal,
  });
  return {
    text,
    calls: toolCalls.map(({ toolName, input }) => ({ name: toolName, input })),
    isWhole: finishReason === "stop" || finishReason === "tool-calls" || finishReason === "other",
    use: { input: usage.inputTokens, output: usage.outputTokens, total: usage.totalTokens },
  };
}

async function openModel({ provider, address, model }: ModelSettings, key: string | undefined, send: FetchFunction) {
  if (provider === "anthropic") {
    const { createAnthropic } = await loaded(provider, "@ai-sdk/anthropic", () => import("@ai-sdk/anthropic"));
    return createAnthropic({ baseURL: address, apiKey: key ?? "", fetch: send })(model); // without a key it would look into the environment
  }
  const { createOpenAICompatible } = await loaded(provider, "@ai-sdk/openai-compatible", () => import("@ai-sdk/openai-compatible"));
  return createOpenAICompatible({ name: "model", baseURL: address, fetch: send, ...(key === undefined ? {} : { apiKey: key }) })(model);
}

/** Throws `Misconfigured` (`model_package_missing`) with the command that installs what is missing. */
function loaded<Module>(provider: ModelProvider, name: string, load: () => Promise<Module>): Promise<Module> {
  return loadOptional(
    name,
    load,
    (cause) =>
      new Misconfigured("model_package_missing", "the packages that speak to models are not installed", {
        hint: installCommand(provider),
        cause,
      }),
  );
}
