/** Flags, environment and config file as one checked value. Flags win over the environment, which wins over the file. */
import { isAbsolute, join } from "node:path";
import { parseBaseAddress } from "../contract/base-address.ts";
import { SETS, type EndpointSet } from "../contract/operations.ts";
import type { DriftPolicy } from "../contract/reading/pinned-fields.ts";
import { defined } from "../core/defined.ts";
import { LOG_LEVELS, type LogLevel } from "../core/log.ts";
import { Secret } from "../core/secret.ts";
import { DAY, durationMs, SECOND, type Duration, type Money } from "../core/units.ts";
import { spendCaps, type Caps, type SpecialistOverride } from "../specialist/specialist.ts";
import { checkAlerts, type AlertSettings } from "./alert-settings.ts";
import { readConsole, type ConsoleSettings } from "./console-settings.ts";
import { readConfigFile, type ConfigValues, type FoundConfig } from "./config-file.ts";
import type { ToolServerSettings } from "./tool-server-settings.ts";
import { openEnvironment, parseBoolean, parseWhole, type Environment, type Variables } from "./environment.ts";
import { checkSecrets, handleVariable } from "./key-sources.ts";
import { readModels, type ModelSettings } from "./model-settings.ts";
import { LOCAL_FOLDER_VARIABLE } from "./postgres-address.ts";
import { isMistake, mistake, nearest, problemOf, throwMistakes, warning, type Problem } from "./problem.ts";
import { MAX_PORT } from "./value-schemas.ts";
import { DEFAULT_STORE, parseStoreAddress, type StoreAddress } from "./store-address.ts";

/** Command-line flags, as typed. */
export interface Flags {
  readonly config?: string;
  readonly agents?: string;
  readonly baseUrl?: string;
  readonly set?: string;
  readonly profile?: string;
  readonly store?: string;
  /** For the receiver only: accepts unsigned deliveries as hints. */
  readonly allowUnsigned?: boolean;
  /** For the receiver only: registers a private address. */
  readonly allowPrivate?: boolean;
  readonly logLevel?: string;
  /** Permits that the network of the store has a new address. */
  readonly allowMoved?: boolean;
}

export interface ConfigOptions {
  readonly flags?: Flags;
  /** Default: the variables of this process. */
  readonly env?: Variables;
  /** Default: `.env` in `cwd`. */
  readonly envFile?: string;
  readonly cwd: string;
}

export interface Config {
  /** Problems that stop nothing, for a person to know. */
  readonly warnings: readonly Problem[];
  /** The config file, if there is one. */
  readonly file: string | undefined;
  readonly cwd: string;
  /** Absolute. */
  readonly agents: string;
  readonly network: {
    /** Undefined until it is configured; commands that call the network require it with `requireBaseUrl`. */
    readonly baseUrl: string | undefined;
    readonly set: EndpointSet;
    /** False if `set` is only the default: a profile file's own set then counts. */
    readonly setStated: boolean;
    /** `set-a`, `set-b`, or the absolute path of a profile file. */
    readonly profile: string;
    /** Overrides the profile. */
    readonly drift: DriftPolicy | undefined;
    /** Overrides the profile. */
    readonly auth: "key" | "token" | undefined;
    /** Permits an address other than the one the store was last used with. */
    readonly allowMoved: boolean;
  };
  readonly store: StoreAddress;
  readonly guardian: { readonly zone: string; readonly spend: Caps };
  readonly prices: { readonly [operation: string]: "free" | "unknown" | Money };
  /** The usable models, by name. */
  readonly models: { readonly [name: string]: ModelSettings };
  /** Reads the variable that holds a model's key, again on each use. */
  readonly readModelKey: (variable: string) => string | undefined;
  /** Names of models in the config file, also of those with a mistake. */
  readonly modelNames: readonly string[];
  readonly retention: { readonly eventsMs: number; readonly intentsMs: number; readonly requestsMs: number };
  readonly receiver: {
    readonly port: number | undefined;
    readonly host: string;
    readonly url: string | undefined;
    readonly allowUnsigned: boolean;
    /** The network is on this machine, so the receiver's own address may be registered. */
    readonly local?: boolean;
    /** Permits registering an address of this machine or a private network. */
    readonly allowPrivate: boolean;
    /**
     * Webhook secrets of a specialist: its own if it has any, else the shared ones. Several while they are rotated. Read from the source
     * each time.
     */
    readonly readSecrets: (handle: string) => readonly Secret[];
  };
  readonly console: ConsoleSettings;
  readonly alerts: AlertSettings | undefined;
  readonly logLevel: LogLevel;
  readonly spacing: { readonly atOnce: number; readonly apartMs: number } | undefined;
  readonly drainMs: number;
  readonly specialists: { readonly [handle: string]: SpecialistOverride };
  /** MCP servers by name. */
  readonly mcp: { readonly [server: string]: ToolServerSettings };
  readonly environment: Environment;
}

const DEFAULT_LOG_LEVEL: LogLevel = "info";
const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_DRAIN_MS = 25 * SECOND;
/** Every variable we read, for the check on mistyped ones. `RETINUE_KEY_…` and `RETINUE_WEBHOOK_SECRET_…` take any suffix. */
const VARIABLES = [
  "RETINUE_BASE_URL",
  "RETINUE_SET",
  "RETINUE_PROFILE",
  "RETINUE_STORE",
  LOCAL_FOLDER_VARIABLE,
  "RETINUE_LOG_LEVEL",
  "RETINUE_GUARDIAN_KEY",
  "RETINUE_GUARDIAN_KEY_FILE",
  "RETINUE_MODEL_KEY",
  "RETINUE_WEBHOOK_SECRET",
  "RETINUE_WEBHOOK_PORT",
  "RETINUE_WEBHOOK_URL",
  "RETINUE_WEBHOOK_ALLOW_UNSIGNED",
  "RETINUE_WEBHOOK_ALLOW_PRIVATE",
  "RETINUE_CONSOLE_PORT",
  "RETINUE_CONSOLE_TOKEN",
  "RETINUE_MCP_TOKEN",
];

const OPEN_PREFIXES = ["RETINUE_KEY_", "RETINUE_WEBHOOK_SECRET_", "RETINUE_MODEL_KEY_", "RETINUE_CONSOLE_TOKEN_"];

/** A value and its source, for error messages. */
interface Found {
  readonly text: string;
  readonly where: string;
  readonly file?: string;
}

/** The checked settings. Throws `Misconfigured` with the first mistake. */
export async function loadConfig(options: ConfigOptions): Promise<Config> {
  const { config, problems } = await readConfig(options);
  throwMistakes(problems);
  return config;
}

/** Returns the settings and every mistake in them; a mistaken value is replaced by its default. */
export async function readConfig({
  flags = {},
  env,
  envFile,
  cwd,
}: ConfigOptions): Promise<{ readonly config: Config; readonly problems: readonly Problem[] }> {
  const environment = openEnvironment(defined({ cwd, variables: env, file: envFile }));
  const found = await readConfigFile(cwd, flags.config === undefined ? undefined : inFolder(cwd, flags.config));
  const problems: Problem[] = [...environment.problems, ...found.problems, ...mistypedVariables(environment), ...checkSecrets(environment)];
  const { values } = found;
  const ofModels = readModels(values.models, found.file);
  const ofConsole = readConsole({
    values: values.console,
    port: readPort(environment, "RETINUE_CONSOLE_PORT", problems),
    file: found.file,
    cwd,
    readSecret: (variable) => secretIn(environment, variable)[0],
  });
  problems.push(...ofModels.problems, ...ofConsole.problems, ...checkAlerts(environment, values.alerts, found.file));
  const pick = pickFrom(environment, found);

  const statedSet = pick(flags.set, "--set", "RETINUE_SET", values.network?.set);
  const set = readSet(statedSet, problems);
  const config: Omit<Config, "warnings"> = {
    file: found.file,
    cwd,
    agents: inFolder(cwd, flags.agents ?? values.agents ?? "agents"),
    network: {
      baseUrl: readAddress(pick(flags.baseUrl, "--base-url", "RETINUE_BASE_URL", values.network?.baseUrl), problems),
      set,
      setStated: statedSet !== undefined,
      profile: profileName(pick(flags.profile, "--profile", "RETINUE_PROFILE", values.network?.profile)?.text, set, cwd),
      drift: values.network?.drift,
      auth: values.network?.auth,
      allowMoved: flags.allowMoved === true,
    },
    store: readStore(pick(flags.store, "--store", "RETINUE_STORE", values.store), { cwd, environment, problems }),
    guardian: {
      zone: values.guardian?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      spend: spendCaps(defined(values.guardian?.spend ?? {})),
    },
    prices: values.prices ?? {},
    models: ofModels.models,
    readModelKey: (variable) => environment.get(variable),
    modelNames: Object.keys(values.models ?? {}),
    retention: retention(values.retention),
    receiver: readReceiver(values, environment, problems, flags),
    console: ofConsole.settings,
    alerts: values.alerts,
    logLevel: readLogLevel(flags, environment, problems),
    spacing: spacing(values.spacing),
    drainMs: values.drainMs ?? DEFAULT_DRAIN_MS,
    specialists: overrides(values.specialists),
    mcp: toolServers(values.mcp),
    environment,
  };
  return { config: { ...config, warnings: problems.filter((problem) => !isMistake(problem)) }, problems };
}

function inFolder(cwd: string, path: string): string {
  return isAbsolute(path) ? path : join(cwd, path);
}

type Pick = (flag: string | undefined, flagName: string, variable: string, value: string | undefined) => Found | undefined;

/** Picks the flag, else the variable, else the file's value. */
function pickFrom(environment: Environment, { file }: FoundConfig): Pick {
  return (flag, flagName, variable, value) => {
    if (flag !== undefined) return { text: flag, where: flagName };
    const text = environment.get(variable);
    if (text !== undefined) return { text, where: environment.describe(variable) };
    return value === undefined ? undefined : defined({ text: value, where: "the config file", file });
  };
}

const fileOf = ({ file }: Found): { readonly file?: string } => (file === undefined ? {} : { file });

function readSet(found: Found | undefined, problems: Problem[]): EndpointSet {
  if (found === undefined) return "b";
  const set = SETS.find((one) => one === found.text.toLowerCase());
  if (set === undefined)
    problems.push(
      mistake("set_unknown", `${found.where}: there is no set ${JSON.stringify(found.text)}`, {
        ...fileOf(found),
        expected: '"a" or "b"',
        hint: "Set B's base address ends in /v1 and its keys begin with sk_live_; Set A's keys begin with sk-agent-",
      }),
    );
  return set ?? "b";
}

function readAddress(found: Found | undefined, problems: Problem[]): string | undefined {
  if (found === undefined) return undefined;
  try {
    parseBaseAddress(found.text);
    return found.text;
  } catch (error) {
    const problem = problemOf(error, fileOf(found));
    problems.push({ ...problem, message: `${found.where}: ${problem.message}` });
    return undefined;
  }
}

/** The lowest level of log lines. A command needs it before it has any other setting. */
export function readLogLevel(flags: Flags, environment: Environment, problems: Problem[] = []): LogLevel {
  const text = flags.logLevel ?? environment.get("RETINUE_LOG_LEVEL");
  const level = text === undefined ? DEFAULT_LOG_LEVEL : LOG_LEVELS.find((one) => one === text.toLowerCase());
  if (level === undefined) {
    const where = flags.logLevel === undefined ? environment.describe("RETINUE_LOG_LEVEL") : "--log-level";
    const near = nearest(text ?? "", LOG_LEVELS);
    problems.push(
      mistake("log_level_unknown", `${where}: there is no level ${JSON.stringify(text)}`, {
        expected: "error, warn, info or debug",
        ...(near === undefined ? {} : { hint: `did you mean "${near}"?` }),
      }),
    );
  }
  return level ?? DEFAULT_LOG_LEVEL;
}

function readStore(
  found: Found | undefined,
  { cwd, environment, problems }: { readonly cwd: string; readonly environment: Environment; readonly problems: Problem[] },
): StoreAddress {
  try {
    return parseStoreAddress(found?.text ?? DEFAULT_STORE, cwd, environment.get(LOCAL_FOLDER_VARIABLE));
  } catch (error) {
    const problem = problemOf(error, found === undefined ? {} : fileOf(found));
    problems.push({ ...problem, message: `${found?.where ?? "the store"}: ${problem.message}` });
    return parseStoreAddress(DEFAULT_STORE, cwd);
  }
}

function profileName(name: string | undefined, set: EndpointSet, cwd: string): string {
  if (name === undefined) return `set-${set}`;
  return name === "set-a" || name === "set-b" ? name : inFolder(cwd, name);
}

function readPort(environment: Environment, variable: string, problems: Problem[]): number | undefined {
  const text = environment.get(variable);
  if (text === undefined) return undefined;
  const port = parseWhole(text, 0, MAX_PORT);
  if (port === undefined)
    problems.push(
      mistake("port_invalid", `${environment.describe(variable)}: ${JSON.stringify(text)} is not a port`, {
        expected: `a whole number from 0 to ${MAX_PORT}; 0 takes any free port`,
        hint: `set ${variable} to a number such as 8080`,
      }),
    );
  return port;
}

function secretIn(environment: Environment, variable: string): readonly Secret[] {
  const parts = (environment.get(variable) ?? "").split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map((part) => new Secret(part));
}

const WEBHOOK_SECRET = "RETINUE_WEBHOOK_SECRET";

function readFlag(environment: Environment, variable: string, problems: Problem[]): boolean | undefined {
  const said = environment.get(variable);
  const stated = said === undefined ? undefined : parseBoolean(said);
  if (said !== undefined && stated === undefined)
    problems.push(
      mistake("boolean_invalid", `${variable}: ${JSON.stringify(said)} is neither true nor false`, { expected: "true or false" }),
    );
  return stated;
}

function readReceiver(values: ConfigValues, environment: Environment, problems: Problem[], flags: Flags): Config["receiver"] {
  const port = readPort(environment, "RETINUE_WEBHOOK_PORT", problems) ?? values.receiver?.port;
  const url = environment.get("RETINUE_WEBHOOK_URL") ?? values.receiver?.url;
  const allowUnsigned =
    flags.allowUnsigned === true ||
    (readFlag(environment, "RETINUE_WEBHOOK_ALLOW_UNSIGNED", problems) ?? values.receiver?.dangerouslyAllowUnsigned ?? false);
  const allowPrivate =
    flags.allowPrivate === true ||
    (readFlag(environment, "RETINUE_WEBHOOK_ALLOW_PRIVATE", problems) ?? values.receiver?.dangerouslyAllowPrivate ?? false);
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    problems.push(
      mistake("webhook_url_invalid", "the address of the receiver is not an http(s) URL", {
        expected: "https://bots.example.com",
        hint: "set RETINUE_WEBHOOK_URL",
      }),
    );
  if (url !== undefined && port === undefined)
    problems.push(
      warning("webhook_port_missing", "the receiver has an address and no port: nothing listens, and no webhook is registered", {
        hint: "set RETINUE_WEBHOOK_PORT, or remove RETINUE_WEBHOOK_URL",
      }),
    );
  const ofOne = environment.entries(`${WEBHOOK_SECRET}_`);
  if (port !== undefined && !allowUnsigned && ofOne.length === 0 && secretIn(environment, WEBHOOK_SECRET).length === 0)
    problems.push(
      mistake("webhook_secret_missing", "the receiver has no secret to check signatures with", {
        expected: "a secret in RETINUE_WEBHOOK_SECRET",
        hint: "set it, or remove RETINUE_WEBHOOK_PORT: polling works without a receiver; --allow-unsigned accepts deliveries as hints only",
      }),
    );
  return {
    port,
    host: values.receiver?.host ?? DEFAULT_HOST,
    url,
    allowUnsigned,
    allowPrivate,
    readSecrets(handle) {
      const own = secretIn(environment, handleVariable(WEBHOOK_SECRET, handle));
      return own.length > 0 ? own : secretIn(environment, WEBHOOK_SECRET);
    },
  };
}

function retention({ events = "30d", intents = "90d", requests = "30d" }: ConfigValues["retention"] = {}): Config["retention"] {
  const ms = (value: Duration): number => durationMs(value);
  return { eventsMs: ms(events), intentsMs: ms(intents), requestsMs: Math.max(ms(requests), 2 * DAY) };
}

function spacing(value: ConfigValues["spacing"] = {}): Config["spacing"] {
  if (value === 0) return undefined;
  return { atOnce: value.atOnce ?? 2, apartMs: durationMs(value.apart ?? 50) };
}

function overrides(values: ConfigValues["specialists"] = {}): Config["specialists"] {
  return Object.fromEntries(
    Object.entries(values).map(([handle, { brakes, spend, ...rest }]) => [
      handle,
      defined({ ...rest, brakes: brakes && defined(brakes), spend: spend && defined(spend) }),
    ]),
  );
}

function toolServers(values: ConfigValues["mcp"] = {}): Config["mcp"] {
  return Object.fromEntries(Object.entries(values).map(([name, settings]) => [name, defined(settings)]));
}

function mistypedVariables(environment: Environment): Problem[] {
  return environment
    .entries("RETINUE_")
    .map(([name]) => name)
    .filter((name) => !OPEN_PREFIXES.some((prefix) => name.startsWith(prefix)) && !VARIABLES.includes(name))
    .map((name) => {
      const near = nearest(name, VARIABLES);
      return {
        level: "warning" as const,
        code: "variable_unknown",
        message: `${environment.describe(name)} is not a variable we read`,
        hint: near === undefined ? "remove it, or see .env.example for the known ones" : `did you mean ${near}?`,
      };
    });
}
