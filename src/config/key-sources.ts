/** API keys by reference: the variable or file that holds a specialist's key. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type EndpointSet, SETS } from "../contract/operations.ts";
import { messageOf, Misconfigured } from "../core/errors.ts";
import { isScrubbable, MIN_SCRUBBED_LENGTH } from "../core/scrubber.ts";
import { Secret } from "../core/secret.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { ToolServerSettings } from "./tool-server-settings.ts";
import type { Environment } from "./environment.ts";
import { mistake, nearest, warning, type Problem } from "./problem.ts";

/** A key whose file or `.env` is read anew with each call. A key is used until the network refuses it. */
export interface KeyReference {
  /** Source of the key, for messages. Never the key. */
  readonly source: string;
  /** The present key, or undefined if there is none. */
  read(): string | undefined;
}

/** Prefixes of each set's keys. Interface specification, section 5. */
export const KEY_PREFIXES: { readonly [set in EndpointSet]: string } = { a: "sk-agent-", b: "sk_live_" };

/** Characters that fit a header, without those that could end one. */
const KEY = /^[\x21-\x7e]{8,1000}$/;
const OTHERS_MAY_READ = 0o077;

/** `RETINUE_KEY_DATA_WORKER` for `data-worker`. */
export function keyVariable(handle: string): string {
  return handleVariable("RETINUE_KEY", handle);
}

/** A variable of one specialist: `<prefix>_DATA_WORKER` for `data-worker`. */
export function handleVariable(prefix: string, handle: string): string {
  return `${prefix}_${handle.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

const HOLDS_KEY = /^RETINUE_(?:KEY_.*|GUARDIAN_KEY|MODEL_KEY(?:_.*)?)(?<!_FILE)$/;
const HOLDS_SECRETS = /^RETINUE_(?:WEBHOOK_SECRET(?:_.*)?|CONSOLE_TOKEN(?:_.*)?|MCP_TOKEN)$/;

function secretsByName(environment: Environment): readonly (readonly [name: string, secret: string])[] {
  return environment.entries("RETINUE_").flatMap(([name, text]) => {
    const parts = HOLDS_KEY.test(name) ? [text] : HOLDS_SECRETS.test(name) ? text.split(",") : [];
    return parts.map((part) => [name, part.trim()] as const).filter(([, part]) => part !== "");
  });
}

/** Every secret that stands in the environment itself: keys, the webhooks' secrets, the console's token. */
export function environmentSecrets(environment: Environment): readonly Secret[] {
  return secretsByName(environment).map(([, secret]) => new Secret(secret));
}

/** The values of environment variables that definitions name under `secrets`. */
export function declaredSecrets(environment: Environment, specialists: readonly Pick<Specialist, "secrets">[]): readonly Secret[] {
  const names = new Set(specialists.flatMap(({ secrets }) => secrets));
  return secretsOf([...names], (name) => environment.get(name));
}

/** The values of those variables that have one. */
export function secretsOf(names: readonly string[], read: (name: string) => string | undefined): readonly Secret[] {
  return names.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [new Secret(value)];
  });
}

/** The values of the variables that MCP servers are given. */
export function toolSecrets(environment: Environment, servers: { readonly [name: string]: ToolServerSettings }): readonly Secret[] {
  const names = Object.values(servers).flatMap((server) => ("url" in server ? [server.token ?? []].flat() : (server.env ?? [])));
  return secretsOf(names, (name) => environment.get(name));
}

/** Warns of a declared secret that has no value, or one that no scrubber takes out. */
export function checkDeclared({ handle, secrets }: Specialist, file: string, environment: Environment): Problem[] {
  return secrets.flatMap((name) => {
    const value = environment.get(name);
    if (value === undefined)
      return [
        warning("secret_missing", `secrets: "${handle}" names ${name}, which has no value`, {
          file,
          expected: `a value of ${name} in the environment or in .env`,
          hint: `set ${name}, or remove it from secrets`,
        }),
      ];
    return isScrubbable(value)
      ? []
      : [shortSecret(environment.describe(name), { file, hint: "check that it is the whole value, or remove it from secrets" })];
  });
}

/** Warns of secrets that no scrubber takes out. Keys as short as that are refused elsewhere. */
export function checkSecrets(environment: Environment): Problem[] {
  const short = secretsByName(environment).filter(([name, secret]) => HOLDS_SECRETS.test(name) && !isScrubbable(secret));
  return short.map(([name]) => shortSecret(environment.describe(name)));
}

function shortSecret(source: string, details: { readonly file?: string; readonly hint?: string } = {}): Problem {
  return warning(
    "secret_short",
    `${source} holds a secret of fewer than ${MIN_SCRUBBED_LENGTH} characters, or of fewer than 4 different ones`,
    {
      expected: "a long and random text: this one stays in whatever is stored, logged or repeated by a network",
      hint: `replace it, such as by the output of: openssl rand -hex 24`,
      ...details,
    },
  );
}

export interface KeyPlace {
  readonly handle: string;
  /** The file that holds the key, from the config file. Wins over the environment. */
  readonly keyFile?: string;
}

/** The file into which `retinue agents create` writes an issued key, if the project names no other: relative to the project. */
export function issuedKeyFile(handle: string): string {
  return join(".retinue", "keys", handle);
}

/** The file that is stated as the source of a specialist's key. */
export function statedKeyFile({ handle, keyFile }: KeyPlace, environment: Environment): string | undefined {
  return keyFile ?? environment.get(`${keyVariable(handle)}_FILE`);
}

/** The variables of all keys as they are now, for lookups of many: `.env` is read once, and not for each. */
export function keyVariablesNow(environment: Environment): Environment {
  const prefix = keyVariable("");
  const now = new Map(environment.entries(prefix));
  return { ...environment, get: (name) => (name.startsWith(prefix) ? now.get(name) : environment.get(name)) };
}

/** A reference to a specialist's key: its `keyFile`, else the variable, else the file that `…_FILE` names, else the issued key. */
export function keyReference(place: KeyPlace, environment: Environment, cwd: string): KeyReference {
  const variable = keyVariable(place.handle);
  const fileNow = (): string | undefined => {
    if (place.keyFile === undefined && environment.get(variable) !== undefined) return undefined;
    const issued = issuedKeyFile(place.handle);
    return statedKeyFile(place, environment) ?? (existsSync(join(cwd, issued)) ? issued : undefined);
  };
  return {
    get source() {
      const file = fileNow();
      return file === undefined ? environment.describe(variable) : `the file ${file}`;
    },
    read() {
      const file = fileNow();
      return file === undefined ? environment.get(variable) : readKeyFile(resolveFrom(cwd, file));
    },
  };
}

export const resolveFrom = (cwd: string, file: string): string => (isAbsolute(file) ? file : join(cwd, file));

/** A missing or empty file counts as a missing key: it may be about to be replaced. Throws `Misconfigured` (`key_file_unreadable`). */
function readKeyFile(file: string): string | undefined {
  try {
    const key = readFileSync(file, "utf8").trim();
    return key === "" ? undefined : key;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Misconfigured("key_file_unreadable", `the key file cannot be read: ${messageOf(error)}`, { file });
  }
}

export interface KeyCheck {
  readonly set: EndpointSet;
  /** A network with its own profile may choose its keys; on the published ones the prefix determines the set. */
  readonly ownProfile: boolean;
  readonly environment: Environment;
  readonly cwd: string;
}

/** Lists the problems of these specialists' keys, for a network of this set. */
export function checkKeys(places: readonly KeyPlace[], given: KeyCheck): Problem[] {
  const check = { ...given, environment: keyVariablesNow(given.environment) };
  const problems: Problem[] = [];
  for (const place of places) {
    problems.push(...checkKey(place, places, check));
    const file = statedKeyFile(place, check.environment) ?? issuedKeyFile(place.handle);
    problems.push(...checkMode(resolveFrom(check.cwd, file)));
  }
  return problems;
}

function checkKey(place: KeyPlace, places: readonly KeyPlace[], { environment, set, ownProfile, cwd }: KeyCheck): Problem[] {
  const reference = keyReference(place, environment, cwd);
  const variable = keyVariable(place.handle);
  let key: string | undefined;
  try {
    key = reference.read();
  } catch (error) {
    return [mistake("key_file_unreadable", messageOf(error), { hint: "fix the permissions of the file" })];
  }
  if (key === undefined)
    return [
      mistake("key_missing", `"${place.handle}" has no key`, {
        expected: `a key in ${reference.source}`,
        hint:
          mistypedVariable(variable, places, environment) ??
          `set ${variable} in the environment or in .env, or ${variable}_FILE to a file that holds it`,
      }),
    ];
  if (!KEY.test(key))
    return [
      mistake("key_invalid", `the key of "${place.handle}" is not usable as a key`, {
        expected: `8 to 1,000 printable characters without spaces in ${reference.source}`,
        hint: "copy it again",
      }),
    ];
  const held = key;
  const foreign = SETS.find((one) => one !== set && held.startsWith(KEY_PREFIXES[one]));
  if (foreign === undefined) return [];
  const say = ownProfile ? warning : mistake;
  return [
    say(
      "key_of_other_set",
      `the key of "${place.handle}" belongs to Set ${foreign.toUpperCase()}, but the network is of Set ${set.toUpperCase()}`,
      {
        expected: `a key that begins with ${KEY_PREFIXES[set]} in ${reference.source}`,
        hint: "check RETINUE_SET and RETINUE_BASE_URL, or use the key of this network",
      },
    ),
  ];
}

/** The advice if a variable that belongs to no specialist nearly has this name. */
function mistypedVariable(variable: string, places: readonly KeyPlace[], environment: Environment): string | undefined {
  const prefix = keyVariable("");
  const known = places.map(({ handle }) => keyVariable(handle)).flatMap((name) => [name, `${name}_FILE`]);
  const others = environment.entries(prefix).flatMap(([name]) => (known.includes(name) ? [] : [name.slice(prefix.length)]));
  for (const wanted of [variable, `${variable}_FILE`]) {
    const typed = others.filter((name) => name.endsWith("_FILE") === wanted.endsWith("_FILE"));
    const near = nearest(wanted.slice(prefix.length), typed);
    if (near !== undefined) return `did you mean ${wanted}? ${prefix}${near} is the key of no specialist`;
  }
  return undefined;
}

function checkMode(file: string): Problem[] {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & OTHERS_MAY_READ) === 0 || process.platform === "win32") return [];
  return [warning("key_file_open", "other users of this machine may read the key file", { file, hint: `chmod 600 ${file}` })];
}
