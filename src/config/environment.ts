/** Reads the environment and `.env`, strictly. The only place that reads and sets variables. */
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { readDotenv } from "./dotenv-file.ts";
import { warning, type Problem } from "./problem.ts";

export type Variables = { readonly [name: string]: string | undefined };

/** Variables by name. Those of the process win over `.env`, which is re-read on each access. */
export interface Environment {
  /** Undefined if unset or empty. */
  get(name: string): string | undefined;
  /** Source of a variable, for messages: `RETINUE_SET (.env)`. */
  describe(name: string): string;
  /** Names with this prefix, in order, each with its value. */
  entries(prefix: string): readonly (readonly [name: string, value: string])[];
  /** Problems of the `.env` file itself. */
  readonly problems: readonly Problem[];
}

export interface EnvironmentOptions {
  /** The folder whose `.env` is read. */
  readonly cwd: string;
  /** A file to read instead of that `.env`. */
  readonly file?: string;
  /** Default: the variables of this process. */
  readonly variables?: Variables;
}

/** The `.env` of a folder. */
export const dotenvOf = (cwd: string): string => join(cwd, ".env");

export function openEnvironment({ cwd, variables = process.env, file = dotenvOf(cwd) }: EnvironmentOptions): Environment {
  const dotenv = (): Variables => readDotenv(file).variables;
  const value = (name: string, known?: Variables): string | undefined => {
    const found = (present(variables, name) ?? present(known ?? dotenv(), name))?.trim();
    return found === "" ? undefined : found;
  };
  return {
    problems: problemsOf(file),
    get: (name) => value(name),
    describe: (name) =>
      present(variables, name) === undefined && present(dotenv(), name) !== undefined ? `${name} (${basename(file)})` : name,
    entries(prefix) {
      const known = dotenv();
      const names = new Set([...Object.keys(variables), ...Object.keys(known)].filter((name) => name.startsWith(prefix)));
      return [...names].sort().flatMap((name) => {
        const found = value(name, known);
        return found === undefined ? [] : [[name, found] as const];
      });
    },
  };
}

/** Names are not those of an object's methods, and `takeOwnVariables` returns variables that are inherited. */
function present(variables: Variables, name: string): string | undefined {
  const value: unknown = variables[name];
  return typeof value === "string" ? value : undefined;
}

/** Variables whose values are secrets. */
const SECRET = /^RETINUE_(KEY_|MODEL_KEY|WEBHOOK_SECRET|CONSOLE_TOKEN|MCP_TOKEN|GUARDIAN_KEY)/;
const OTHERS_MAY_READ = 0o044;

function problemsOf(file: string): readonly Problem[] {
  const { variables, problems } = readDotenv(file, true);
  if (process.platform === "win32" || !Object.keys(variables).some((name) => SECRET.test(name))) return problems;
  if (((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS_MAY_READ) === 0) return problems;
  return [
    ...problems,
    warning("env_readable", "holds keys or secrets, and other users of this machine may read it", { file, hint: `chmod 600 ${file}` }),
  ];
}

/** Prefix of our own variables, which hold keys: definitions, their threads and their children do not get them. */
export const OWN_PREFIX = "RETINUE_";

/** Moves `RETINUE_*` out of the variables of this process. Returns all variables: those, over the present rest. */
export function takeOwnVariables(): Variables {
  const own = Object.entries(process.env).filter(([name]) => name.startsWith(OWN_PREFIX));
  for (const [name] of own) delete process.env[name];
  const taken: Variables = Object.create(process.env, Object.getOwnPropertyDescriptors(Object.fromEntries(own)));
  return taken;
}

/** The same variables, live, without `RETINUE_*`. */
export function withoutOwn(variables: Variables): Variables {
  const own = Object.keys(variables).filter((name) => name.startsWith(OWN_PREFIX));
  const rest: Variables = Object.create(variables, Object.fromEntries(own.map((name) => [name, { value: undefined }])));
  return rest;
}

/** The variables of this process without `RETINUE_*`, for a thread that runs definitions. */
export function definitionVariables(): Variables {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith(OWN_PREFIX)));
}

/** Gives the variables of a `.env` to this process. */
export interface SharedVariables {
  /** Reads the file again. True if a variable has changed. */
  refresh(): boolean;
}

/**
 * Sets the variables of the folder's `.env` in this process, as dotenv does: `RETINUE_*` excepted, and a variable that is set already
 * keeps its value. Definitions, their threads and their children read them there.
 */
export function shareVariables(cwd: string): SharedVariables {
  const file = dotenvOf(cwd);
  const given = new Map<string, string>();
  const refresh = (): boolean => {
    const { variables, problems } = readDotenv(file);
    if (problems.length > 0) return false; // a file that is being replaced takes no variable away
    const wanted = new Map(
      Object.entries(variables).filter(([name]) => !name.startsWith(OWN_PREFIX) && (given.has(name) || process.env[name] === undefined)),
    );
    const gone = [...given.keys()].filter((name) => !wanted.has(name));
    const changed = [...wanted].filter(([name, text]) => given.get(name) !== text);
    for (const name of gone) {
      given.delete(name);
      delete process.env[name];
    }
    for (const [name, text] of changed) {
      given.set(name, text);
      process.env[name] = text;
    }
    return gone.length + changed.length > 0;
  };
  refresh();
  return { refresh };
}

const TRUE = ["1", "true", "yes", "on"];
const FALSE = ["0", "false", "no", "off"];

/** `true`, `false`, or undefined for anything else. */
export function parseBoolean(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined;
}

/** A whole number within bounds, or undefined for anything else: no exponents, fractions or spaces. */
export function parseWhole(text: string, min: number, max: number): number | undefined {
  if (!/^-?\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
}
