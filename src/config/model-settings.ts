/** The `models` of the config file: how each is reached, what it may cost, and the mistakes of definitions that use one. */
import { createRequire } from "node:module";
import { z } from "zod";
import { parseBaseAddress } from "../contract/base-address.ts";
import { defined } from "../core/defined.ts";
import type { Secret } from "../core/secret.ts";
import { durationMs, microDollars, MINUTE, SECOND, type Duration, type Money } from "../core/units.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { secretsOf } from "./key-sources.ts";
import { checkParts } from "./mistakes.ts";
import { mistake, nearest, throwMistakes, warning, type Problem } from "./problem.ts";
import { duration, expected, passes, text, anyVariableName, wholeNumber } from "./value-schemas.ts";

/** The wire forms that are spoken. */
export const PROVIDERS = ["openai-compatible", "anthropic"] as const;
/** The wire form that a model's server speaks. */
export type ModelProvider = (typeof PROVIDERS)[number];

/** One model in the config file. */
export interface ModelConfig {
  readonly provider: ModelProvider;
  /** The base address, such as `http://127.0.0.1:11434/v1`. Default for `anthropic`: its public one. */
  readonly address?: string;
  /** The provider's name of the model. Default: its name here. */
  readonly model?: string;
  /** The environment variable that holds the key; never the key. Default: no key is sent. */
  readonly key?: string;
  /** Tokens of context: instructions, data and answer together. */
  readonly context: number;
  /** Most tokens of one answer. Default 1,024. */
  readonly output?: number;
  /** US dollars for a million tokens. 0 is a price; no price is refused. */
  readonly prices: { readonly input: number; readonly output: number };
  /** Calls under way at once. Default 4. */
  readonly concurrency?: number;
  /** Most calls a minute, evenly spaced. Default 300. */
  readonly perMinute?: number;
  /** Longest wait for one answer. Default 45 s. */
  readonly timeout?: Duration;
}

/** One model with every default filled in. */
export interface ModelSettings {
  readonly name: string;
  readonly provider: ModelProvider;
  readonly address: string;
  readonly model: string;
  /** The name of the variable. */
  readonly key: string | undefined;
  readonly contextTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar for one token: dollars for a million tokens are the same number. */
  readonly prices: { readonly inputMicros: number; readonly outputMicros: number };
  readonly concurrency: number;
  readonly spacingMs: number;
  readonly timeoutMs: number;
}

const PUBLIC_ADDRESS: { readonly [provider in ModelProvider]: string | undefined } = {
  "openai-compatible": undefined,
  anthropic: "https://api.anthropic.com/v1",
};
const DEFAULT_OUTPUT = 1_024;
const DEFAULT_CONCURRENCY = 4;
const DEFAULT_PER_MINUTE = 300;
const DEFAULT_TIMEOUT_MS = 45 * SECOND;
const MAX_TIMEOUT_MS = 10 * MINUTE;
const MAX_TOKENS = 10_000_000;
/** Dollars for a million tokens: more is a mistake of units. */
const MAX_PRICE = 10_000;

const price = z
  .number(expected("US dollars for a million tokens, such as 0.15; 0 is a price"))
  .min(0, expected("0 or more US dollars for a million tokens"))
  .max(MAX_PRICE, expected(`at most ${MAX_PRICE} US dollars for a million tokens`));
const isAddress = (value: string): boolean => passes(() => parseBaseAddress(value));

const model = z.strictObject(
  {
    provider: z.enum(PROVIDERS, expected(`"openai-compatible" (most servers, local ones too) or "anthropic"`)),
    address: text.refine(isAddress, expected("a base address, such as http://127.0.0.1:11434/v1")).optional(),
    model: text.min(1).optional(),
    key: anyVariableName.optional(),
    context: wholeNumber(1, MAX_TOKENS),
    output: wholeNumber(1, MAX_TOKENS).optional(),
    prices: z.strictObject({ input: price, output: price }, expected("{input, output}: US dollars for a million tokens")).optional(),
    concurrency: wholeNumber(1, 100).optional(),
    perMinute: wholeNumber(1, 60_000).optional(),
    timeout: duration
      .refine((value) => !passes(() => durationMs(value)) || inRange(durationMs(value)), expected("from 1s to 10m"))
      .optional(),
  },
  expected("a model: {provider, address, key, context, prices}"),
);

function inRange(timeoutMs: number): boolean {
  return timeoutMs >= SECOND && timeoutMs <= MAX_TIMEOUT_MS;
}

const modelName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, expected("a short name, such as small"));
export const models = z.record(modelName, model, expected("models by name"));

/** The usable models, and the mistakes that no schema finds. */
export function readModels(
  values: z.output<typeof models> = {},
  file?: string,
): { readonly models: { readonly [name: string]: ModelSettings }; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const usable = Object.entries(values).flatMap(([name, given]): [string, ModelSettings][] => {
    const at = defined({ file });
    const { provider, prices, context, output = DEFAULT_OUTPUT } = given;
    const address = given.address ?? PUBLIC_ADDRESS[provider];
    const found: Problem[] = [];
    if (prices === undefined)
      found.push(
        mistake("model_unpriced", `models.${name} has no prices, and an unknown price never counts as free`, {
          ...at,
          expected: "prices: { input, output }, in US dollars for a million tokens",
          hint: "copy them from the provider's price list; a model of your own machine costs { input: 0, output: 0 }",
        }),
      );
    if (address === undefined)
      found.push(
        mistake("config_invalid", `models.${name}: address is missing`, {
          ...at,
          expected: "the server's base address, such as http://127.0.0.1:11434/v1",
          hint: "it is the part before /chat/completions",
        }),
      );
    if (output >= context)
      found.push(
        mistake("config_invalid", `models.${name}: an answer of ${output} tokens leaves no room in a context of ${context}`, {
          ...at,
          expected: "output below context",
          hint: "set output to the longest answer you want",
        }),
      );
    problems.push(...found);
    if (prices === undefined || address === undefined || found.length > 0) return [];
    const settings: ModelSettings = {
      name,
      provider,
      address,
      model: given.model ?? name,
      key: given.key,
      contextTokens: context,
      outputTokens: output,
      prices: { inputMicros: prices.input, outputMicros: prices.output },
      concurrency: given.concurrency ?? DEFAULT_CONCURRENCY,
      spacingMs: MINUTE / (given.perMinute ?? DEFAULT_PER_MINUTE),
      timeoutMs: given.timeout === undefined ? DEFAULT_TIMEOUT_MS : durationMs(given.timeout),
    };
    return [[name, settings]];
  });
  return { models: Object.fromEntries(usable), problems };
}

/** Models given by a test. Throws `Misconfigured` for the first mistake. */
export function checkedModels(given: { readonly [name: string]: ModelConfig }): { readonly [name: string]: ModelSettings } {
  const { rest = {}, problems } = checkParts(models, given, { code: "config_invalid" });
  const read = readModels(rest);
  throwMistakes([...problems, ...read.problems]);
  return read.models;
}

/** The cost of a call that fills the context. */
export function dearestCall({ contextTokens, outputTokens, prices }: ModelSettings): Money {
  const micros = (contextTokens - outputTokens) * prices.inputMicros + outputTokens * prices.outputMicros;
  return microDollars(Math.ceil(micros));
}

/** The packages of each provider, with the versions that are tested. Optional peers: a project installs them if it uses a model. */
export const MODEL_PACKAGES: { readonly [provider in ModelProvider]: readonly string[] } = {
  "openai-compatible": ["ai@7.0.173", "@ai-sdk/openai-compatible@3.0.92"],
  anthropic: ["ai@7.0.173", "@ai-sdk/anthropic@4.0.105"],
};

export function installCommand(provider: ModelProvider): string {
  return `npm install ${MODEL_PACKAGES[provider].join(" ")}`;
}

/** Facts of the project that decide if a definition can use a model. */
export interface ModelCheck {
  readonly models: { readonly [name: string]: ModelSettings };
  /** Names in the settings, usable or not: a mistake in one is told already. */
  readonly named: readonly string[];
  /** True if a cap allows spending US dollars. */
  readonly mayPay: boolean;
  /** Default: looks for the package beside this one. */
  readonly isInstalled?: (name: string) => boolean;
}

/** Mistakes of one definition in the use of models. */
export function checkModels({ handle, models: uses }: Specialist, file: string, check: ModelCheck): Problem[] {
  const names = [...new Set(uses.map(({ model: name }) => name))];
  const problems = names.flatMap((name) => checkModel(handle, name, file, check));
  if (uses.some(({ hasInstructions }) => !hasInstructions))
    problems.push(
      mistake("instructions_missing", `"${handle}" asks a model without instructions`, {
        file,
        expected: "its task, as instructions of the definition or of answer({ … })",
        hint: "in Markdown, write it below the front matter",
      }),
    );
  return problems;
}

function checkModel(
  handle: string,
  name: string,
  file: string,
  { models: usable, named, mayPay, isInstalled = resolves }: ModelCheck,
): Problem[] {
  const settings = Object.hasOwn(usable, name) ? usable[name] : undefined;
  if (settings === undefined) {
    if (named.includes(name)) return [];
    const near = nearest(name, named);
    return [
      mistake("model_unknown", `"${handle}" asks the model "${name}", which is not in the settings`, {
        file,
        expected: named.length === 0 ? "models in the config file" : `one of ${named.join(", ")}`,
        hint:
          near === undefined
            ? `add it: models: { ${JSON.stringify(name)}: { provider, address, context, prices } }`
            : `did you mean "${near}"?`,
      }),
    ];
  }
  const { provider, prices } = settings;
  const problems: Problem[] = [];
  const missing = MODEL_PACKAGES[provider].map((one) => one.slice(0, one.lastIndexOf("@"))).filter((one) => !isInstalled(one));
  if (missing.length > 0)
    problems.push(
      mistake(
        "model_package_missing",
        `"${handle}" asks a model, but ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not installed`,
        {
          file,
          hint: installCommand(provider),
        },
      ),
    );
  if (!mayPay && prices.inputMicros + prices.outputMicros > 0)
    problems.push(
      warning(
        "model_without_cap",
        `"${handle}" asks the model "${name}", which costs, but no cap allows spending usd: no call will be made`,
        {
          file,
          hint: "set a cap, such as spend: { perDay: microDollars(500_000) } (half a US dollar)",
        },
      ),
    );
  return problems;
}

const packages = createRequire(import.meta.url);

function resolves(name: string): boolean {
  try {
    packages.resolve(name);
    return true;
  } catch {
    return false; // "not installed" is the answer
  }
}

/** Mistakes in the keys of the models that definitions ask. */
export function checkModelKeys(specialists: readonly Specialist[], { models: settings, readModelKey }: ModelKeys): Problem[] {
  const used = new Set(specialists.flatMap(({ models: uses }) => uses.map(({ model: name }) => name)));
  return Object.values(settings).flatMap(({ name, key }) => {
    if (key === undefined || !used.has(name) || readModelKey(key) !== undefined) return [];
    return [
      mistake("model_key_missing", `the model "${name}" has no key`, {
        expected: `a key in ${key}`,
        hint: `set ${key} in the environment or in .env`,
      }),
    ];
  });
}

/** The models of the settings, and the way to their keys. */
export interface ModelKeys {
  readonly models: { readonly [name: string]: { readonly name: string; readonly key: string | undefined } };
  readonly readModelKey: (variable: string) => string | undefined;
}

/** The keys of models, wherever their variables stand. */
export function modelSecrets({ models, readModelKey }: ModelKeys): readonly Secret[] {
  return secretsOf(
    Object.values(models).flatMap(({ key }) => key ?? []),
    readModelKey,
  );
}
