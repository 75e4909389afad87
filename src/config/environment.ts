/** The environment and `.env`: the only place that reads variables, strictly. */
import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "dotenv";
import { messageOf } from "../core/errors.ts";
import { mistake, warning, type Problem } from "./problem.ts";

export type Variables = { readonly [name: string]: string | undefined };

/** Variables by name. Those of the process win over `.env`, which is read again each time it is asked for. */
export interface Environment {
  /** Undefined when it is unset or empty. */
  get(name: string): string | undefined;
  /** Where a variable comes from, for messages: `RETINUE_SET (.env)`. */
  describe(name: string): string;
  /** Names with this prefix, in order, each with its value. */
  entries(prefix: string): readonly (readonly [name: string, value: string])[];
  /** What is wrong with the `.env` file itself. */
  readonly problems: readonly Problem[];
}

export interface EnvironmentOptions {
  /** The folder whose `.env` is read. */
  readonly cwd: string;
  /** A file to read instead of that. */
  readonly file?: string;
  /** Default: the variables of this process. */
  readonly variables?: Variables;
}

export function openEnvironment({ cwd, variables = process.env, file = join(cwd, ".env") }: EnvironmentOptions): Environment {
  const first = readDotenv(file);
  const value = (name: string, dotenv: Variables): string | undefined => {
    const found = present(variables, name) ?? present(dotenv, name);
    return found === undefined || found.trim() === "" ? undefined : found.trim();
  };
  return {
    problems: first.problem === undefined ? [] : [first.problem],
    get: (name) => value(name, readDotenv(file).variables),
    describe: (name) =>
      present(variables, name) === undefined && present(readDotenv(file).variables, name) !== undefined
        ? `${name} (${basename(file)})`
        : name,
    entries(prefix) {
      const dotenv = readDotenv(file).variables;
      const names = new Set([...Object.keys(variables), ...Object.keys(dotenv)].filter((name) => name.startsWith(prefix)));
      return [...names].sort().flatMap((name) => {
        const found = value(name, dotenv);
        return found === undefined ? [] : [[name, found] as const];
      });
    },
  };
}

function present(variables: Variables, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

function readDotenv(file: string): { readonly variables: Variables; readonly problem?: Problem } {
  try {
    const variables = parse(readFileSync(file));
    const problem = readableByOthers(file, variables);
    return problem === undefined ? { variables } : { variables, problem };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { variables: {} };
    return {
      variables: {},
      problem: mistake("env_unreadable", `cannot be read: ${messageOf(error)}`, { file, hint: "mend its permissions, or remove it" }),
    };
  }
}

/** Variables whose values are secrets. */
const SECRET = /^RETINUE_(KEY_|WEBHOOK_SECRET|CONSOLE_TOKEN|GUARDIAN_KEY)/;
const OTHERS_MAY_READ = 0o044;

function readableByOthers(file: string, variables: Variables): Problem | undefined {
  if (process.platform === "win32" || !Object.keys(variables).some((name) => SECRET.test(name))) return undefined;
  if ((statSync(file).mode & OTHERS_MAY_READ) === 0) return undefined;
  return warning("env_readable", "holds keys or secrets, and other users of this machine may read it", { file, hint: `chmod 600 ${file}` });
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
  if (!/^-?\d{1,15}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}
