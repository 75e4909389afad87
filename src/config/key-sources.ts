/** API keys by reference: which variable or file holds a specialist's key, read again whenever it is asked for. */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type EndpointSet, SETS } from "../contract/operations.ts";
import { messageOf, Misconfigured } from "../core/errors.ts";
import { MIN_SCRUBBED_LENGTH } from "../core/scrubber.ts";
import { Secret } from "../core/secret.ts";
import type { Environment } from "./environment.ts";
import { mistake, warning, type Problem } from "./problem.ts";

/** A key that is looked up each time, so that a changed file or `.env` is seen without a restart. */
export interface KeyReference {
  /** Where the key is kept, for messages. Never the key. */
  readonly source: string;
  /** The key as it is now, or undefined where there is none. */
  read(): string | undefined;
}

/** Interface specification, section 5: how each set's keys begin. */
export const KEY_PREFIXES: { readonly [set in EndpointSet]: string } = { a: "sk-agent-", b: "sk_live_" };

/** What fits a header, and nothing that could end one. */
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

const HOLDS_KEY = /^RETINUE_(?:KEY_.*|GUARDIAN_KEY)(?<!_FILE)$/;
const HOLDS_SECRETS = /^RETINUE_(?:WEBHOOK_SECRET(?:_.*)?|CONSOLE_TOKEN)$/;

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

/** Warns of secrets that no scrubber takes out. Keys as short as that are refused elsewhere. */
export function checkSecrets(environment: Environment): Problem[] {
  const short = secretsByName(environment).filter(([name, secret]) => HOLDS_SECRETS.test(name) && secret.length < MIN_SCRUBBED_LENGTH);
  return short.map(([name]) =>
    warning("secret_short", `${environment.describe(name)} holds a secret of fewer than ${MIN_SCRUBBED_LENGTH} characters`, {
      expected: "a long and random text: a shorter one stays in whatever a network repeats",
      hint: `replace it, such as by the output of: openssl rand -hex 24`,
    }),
  );
}

export interface KeyPlace {
  readonly handle: string;
  /** From the config file: the file that holds the key. Wins over the environment. */
  readonly keyFile?: string;
}

/** A reference to a specialist's key: its `keyFile`, else the variable, else the file that `…_FILE` names. */
export function keyReference(place: KeyPlace, environment: Environment, cwd: string): KeyReference {
  const variable = keyVariable(place.handle);
  const fileNow = (): string | undefined =>
    place.keyFile ?? (environment.get(variable) === undefined ? environment.get(`${variable}_FILE`) : undefined);
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

const resolveFrom = (cwd: string, file: string): string => (isAbsolute(file) ? file : join(cwd, file));

/** A missing or empty file is a missing key: it may be about to be replaced. Throws `Misconfigured` (`key_file_unreadable`). */
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
  /** A network of one's own may choose its keys; on the published ones a prefix tells the set. */
  readonly ownProfile: boolean;
  readonly environment: Environment;
  readonly cwd: string;
}

/** Everything wrong with the keys of these specialists, for a network of this set. */
export function checkKeys(places: readonly KeyPlace[], check: KeyCheck): Problem[] {
  const problems: Problem[] = [];
  for (const place of places) {
    problems.push(...checkKey(place, check));
    const file = place.keyFile ?? check.environment.get(`${keyVariable(place.handle)}_FILE`);
    if (file !== undefined) problems.push(...checkMode(resolveFrom(check.cwd, file)));
  }
  return problems;
}

function checkKey(place: KeyPlace, { environment, set, ownProfile, cwd }: KeyCheck): Problem[] {
  const reference = keyReference(place, environment, cwd);
  const variable = keyVariable(place.handle);
  let key: string | undefined;
  try {
    key = reference.read();
  } catch (error) {
    return [mistake("key_file_unreadable", messageOf(error), { hint: "mend the permissions of the file" })];
  }
  if (key === undefined)
    return [
      mistake("key_missing", `"${place.handle}" has no key`, {
        expected: `a key in ${reference.source}`,
        hint: `set ${variable} in the environment or in .env, or ${variable}_FILE to a file that holds it`,
      }),
    ];
  if (!KEY.test(key))
    return [
      mistake("key_invalid", `the key of "${place.handle}" cannot be a key`, {
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
      `the key of "${place.handle}" is one of Set ${foreign.toUpperCase()}, but the network is of Set ${set.toUpperCase()}`,
      {
        expected: `a key that begins with ${KEY_PREFIXES[set]} in ${reference.source}`,
        hint: "check RETINUE_SET and RETINUE_BASE_URL, or use the key of this network",
      },
    ),
  ];
}

function checkMode(file: string): Problem[] {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & OTHERS_MAY_READ) === 0 || process.platform === "win32") return [];
  return [warning("key_file_open", "other users of this machine may read the key file", { file, hint: `chmod 600 ${file}` })];
}
