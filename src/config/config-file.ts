/** Content of `retinue.config.ts`, and how the file is found and read. */
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { z } from "zod";
import { SETS, type EndpointSet } from "../contract/operations.ts";
import { DRIFT_POLICIES, type DriftPolicy } from "../contract/reading/pinned-fields.ts";
import { DAY, durationMs, type Duration, type Money } from "../core/units.ts";
import type { SpendCaps } from "../specialist/definition.ts";
import type { SpecialistOverride } from "../specialist/specialist.ts";
import { consoleSchema, type ConsoleConfig } from "./console-settings.ts";
import { DATA_EXTENSIONS, readDataFile } from "./data-file.ts";
import { alerts, type AlertSettings } from "./alert-settings.ts";
import { checkParts } from "./mistakes.ts";
import { models, type ModelConfig } from "./model-settings.ts";
import type { ToolServerSettings } from "./tool-server-settings.ts";
import { loadModule, MODULE_EXTENSIONS } from "./module-file.ts";
import { mistake, type Problem } from "./problem.ts";
import {
  duration,
  expected,
  flag,
  handle,
  passes,
  port,
  price,
  spend,
  text,
  tier,
  variableName,
  wholeNumber,
  words,
  zone,
} from "./value-schemas.ts";

/** Credential in a request's header: the key itself, or a token exchanged for it. */
const AUTH_MODES = ["key", "token"] as const;
type AuthMode = (typeof AUTH_MODES)[number];

/** The settings of a project. Flags and environment win over all of them. */
export interface ConfigFile {
  /** The folder of definitions. Default `./agents`. */
  readonly agents?: string;
  readonly network?: {
    readonly baseUrl?: string;
    /** Default `"b"`. */
    readonly set?: EndpointSet;
    /** `"set-a"`, `"set-b"`, or a profile file. Default: the set's own. */
    readonly profile?: string;
    /** Reaction to a change of answers that breaks reading. Default: that of the profile (`"note"`). */
    readonly drift?: DriftPolicy;
    /**
     * `"token"` exchanges each key for a short-lived token first, if the network has `auth.token` (Set A). Default: that of the profile
     * (`"key"`).
     */
    readonly auth?: AuthMode;
  };
  /** `sqlite:<path>`. Default `sqlite:.retinue/store.sqlite`. */
  readonly store?: string;
  readonly guardian?: {
    /** IANA time zone of calendar windows and schedules. Default: this machine's. */
    readonly zone?: string;
    /** Caps on all specialists together. */
    readonly spend?: SpendCaps;
  };
  /** Prices of operations, by name. An operation without a price here or in the profile is refused. */
  readonly prices?: { readonly [operation: string]: "free" | "unknown" | Money | number };
  /** Language models by name, for behaviours made by `answer` of `retinue/model`. */
  readonly models?: { readonly [name: string]: ModelConfig };
  /** Retention of completed rows. Each at least 2 days. */
  readonly retention?: {
    /** Handled events. Default 30 d. */
    readonly events?: Duration;
    /** Completed intents. Default 90 d. */
    readonly intents?: Duration;
    /** Requests. Default 30 d. */
    readonly requests?: Duration;
  };
  readonly receiver?: {
    /** 0 takes any free port. Default: no receiver. */
    readonly port?: number;
    /** Default `127.0.0.1`. */
    readonly host?: string;
    /** The public address of the receiver. */
    readonly url?: string;
    /** Accepts unsigned deliveries, as hints only. Default false. */
    readonly dangerouslyAllowUnsigned?: boolean;
    /** Registers an address of this machine or a private network, for a network that is there too. Default false. */
    readonly dangerouslyAllowPrivate?: boolean;
  };
  /** People who are told of what waits for them. Default: nobody. */
  readonly alerts?: AlertSettings;
  /** The page and the addresses by which people and programs see and steer this process. */
  readonly console?: ConsoleConfig;
  /** Requests of one key: concurrency and least distance between starts. Default 2 and 50 ms; 0 disables both. */
  readonly spacing?: 0 | { readonly atOnce?: number; readonly apart?: Duration };
  /** Time that a stop waits for answers. Default 25,000 ms. */
  readonly drainMs?: number;
  readonly specialists?: { readonly [handle: string]: SpecialistOverride };
  /** MCP servers by name, whose tools a definition may list under `tools`. */
  readonly mcp?: { readonly [server: string]: ToolServerSettings };
}

/** Declares the settings of a project. They are checked when loaded, so that an error can name their file. */
export function defineConfig<const Settings extends ConfigFile>(settings: Settings): Settings {
  return settings;
}

/** A shorter retention than the day window would drop requests that still count. */
const MIN_RETENTION_MS = 2 * DAY;
const retained = duration.refine(
  (value) => !passes(() => durationMs(value)) || durationMs(value) >= MIN_RETENTION_MS,
  expected("at least 2d"),
);
const count = wholeNumber(0, 10_000);

const override = z.strictObject(
  {
    enabled: flag.optional(),
    tier: tier.optional(),
    id: text.optional(),
    keyFile: text.optional(),
    spend: spend.optional(),
    brakes: z
      .strictObject({
        repliesPerThread: count.optional(),
        repliesPerAuthorPerHour: count.optional(),
        repliesPerHour: count.optional(),
        sameTextWithin: duration.optional(),
        hops: count.optional(),
      })
      .optional(),
    review: words.optional(),
  },
  expected("settings of one specialist: {tier, id, keyFile, spend, brakes, review, enabled}"),
);

const MAX_SERVERS = 50;
const toolServer = z.union(
  [
    z.strictObject({ command: text, args: words.optional(), env: z.array(variableName).max(MAX_SERVERS).optional() }),
    z.strictObject({ url: z.url({ protocol: /^https?$/, ...expected("an http(s) address") }), token: variableName.optional() }),
  ],
  expected('{command, args, env: ["NAME"]} or {url, token: "NAME"}, where NAME is a variable'),
);

export const configSchema = z.strictObject(
  {
    agents: text.optional(),
    network: z
      .strictObject({
        baseUrl: text.optional(),
        set: z.enum(SETS, expected('"a" or "b"')).optional(),
        profile: text.optional(),
        drift: z.enum(DRIFT_POLICIES, expected('"note", "slow" or "stop"')).optional(),
        auth: z.enum(AUTH_MODES, expected('"key" or "token"')).optional(),
      })
      .optional(),
    store: text.optional(),
    guardian: z.strictObject({ zone: zone.optional(), spend: spend.optional() }).optional(),
    prices: z.record(z.string(), price).optional(),
    models: models.optional(),
    retention: z.strictObject({ events: retained.optional(), intents: retained.optional(), requests: retained.optional() }).optional(),
    receiver: z
      .strictObject({
        port: port.optional(),
        host: text.optional(),
        url: text.optional(),
        dangerouslyAllowUnsigned: flag.optional(),
        dangerouslyAllowPrivate: flag.optional(),
      })
      .optional(),
    alerts: alerts.optional(),
    console: consoleSchema.optional(),
    spacing: z
      .union(
        [z.literal(0), z.strictObject({ atOnce: wholeNumber(1, 100).optional(), apart: duration.optional() })],
        expected("0 or {atOnce, apart}"),
      )
      .optional(),
    drainMs: wholeNumber(0, 3_600_000).optional(),
    specialists: z.record(handle, override).optional(),
    mcp: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), toolServer, expected("MCP servers by name")).optional(),
  },
  expected("settings, made by defineConfig({ … })"),
);
export type ConfigValues = z.output<typeof configSchema>;

const NAMES = [...MODULE_EXTENSIONS, ...DATA_EXTENSIONS]
  .filter((extension) => extension !== ".md")
  .map((extension) => `retinue.config${extension}`);

export interface FoundConfig {
  readonly file: string | undefined;
  readonly values: ConfigValues;
  readonly problems: readonly Problem[];
}

/** Reads the named file, or that of the folder, or nothing. */
export async function readConfigFile(cwd: string, named?: string): Promise<FoundConfig> {
  const found = named === undefined ? NAMES.map((name) => join(cwd, name)).filter((path) => existsSync(path)) : [named];
  const [file, second] = found;
  if (file === undefined) return { file: undefined, values: {}, problems: [] };
  if (second !== undefined)
    return { file, values: {}, problems: [mistake("config_twice", `there is also ${second}`, { file, hint: "keep one config file" })] };
  if (DATA_EXTENSIONS.includes(extname(file))) {
    const { data, problems } = await readDataFile(file);
    if (data === undefined) return { file, values: {}, problems };
    return checked(file, data.value ?? {}, (path) => data.lineOf(path));
  }
  const loaded = await loadModule(file);
  if ("problem" in loaded) return { file, values: {}, problems: [loaded.problem] };
  const value: unknown = Reflect.get(loaded.exports, "default");
  if (value === undefined)
    return {
      file,
      values: {},
      problems: [mistake("default_missing", "has no default export", { file, hint: "write: export default defineConfig({ … })" })],
    };
  return checked(file, value, () => undefined);
}

/** Settings without their mistaken parts, so that the right ones count in further checks. */
function checked(file: string, value: unknown, lineOf: (path: readonly PropertyKey[]) => number | undefined): FoundConfig {
  const { rest: values = {}, problems } = checkParts(configSchema, value, { code: "config_invalid", file, lineOf });
  return { file, values, problems };
}
