/** Loads a TypeScript or JavaScript file as a module, afresh on each load, and locates its errors. */
import { registerHooks } from "node:module";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sleep, systemClock, type Clock } from "../core/clock.ts";
import { messageOf, RetinueError } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";
import { mistake, problemOf, type Problem } from "./problem.ts";

export const MODULE_EXTENSIONS: readonly string[] = [".ts", ".mts", ".js", ".mjs"];

/** Marks our modules with the number of their load: Node caches a module under its URL for ever. */
const QUERY = "retinue";
/** Part of the URL of every file loaded this way, and of its stack frames. */
export const LOADING_QUERY = `?${QUERY}=`;
const OWN_EXTENSION = extname(import.meta.url);
/** The package's entry points, as files of this copy of the runtime. */
const DOORS: { readonly [specifier: string]: string } = {
  retinue: new URL(`../index${OWN_EXTENSION}`, import.meta.url).href,
  "retinue/model": new URL(`../model${OWN_EXTENSION}`, import.meta.url).href,
  "retinue/testing": new URL(`../testing${OWN_EXTENSION}`, import.meta.url).href,
};

let hooked = false;
let loadings = 0;

/**
 * Resolves `retinue` and its other doors to this copy from any importing file, and reloads the files that a definition imports together
 * with it. Once per process; Node cannot scope it.
 */
function hookOnce(): void {
  if (hooked) return;
  hooked = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const door = DOORS[specifier];
      if (door !== undefined) return { url: door, shortCircuit: true };
      const resolved = nextResolve(specifier, context);
      const own = ownQuery(resolved.url) ?? (specifier.startsWith(".") ? ownQuery(context.parentURL) : undefined);
      if (own === undefined || !MODULE_EXTENSIONS.includes(extname(new URL(resolved.url).pathname))) return resolved;
      const url = new URL(resolved.url);
      url.searchParams.set(QUERY, own);
      return { ...resolved, url: url.href, format: formatOf(url) };
    },
  });
}

/**
 * Always a module: otherwise Node guesses at files in a folder without package.json, with a warning. JavaScript is also read as TypeScript,
 * because only then a syntax error carries its line; not under node_modules, where Node strips no types.
 */
function formatOf({ pathname }: URL): "module" | "module-typescript" {
  const installed = pathname.includes("/node_modules/") && /\.m?js$/.test(pathname);
  return installed ? "module" : "module-typescript";
}

function ownQuery(address: string | undefined): string | undefined {
  if (address === undefined || !address.startsWith("file:")) return undefined;
  return new URL(address).searchParams.get(QUERY) ?? undefined;
}

/** A module with a top-level await delays all others. */
const MAX_LOAD_MS = 20 * SECOND;

/** Evaluates a module afresh and returns its namespace; a problem if that takes longer than 20 s. */
export async function loadModule(
  file: string,
  clock: Clock = systemClock(),
): Promise<{ readonly exports: object } | { readonly problem: Problem }> {
  hookOnce();
  const url = pathToFileURL(file);
  url.searchParams.set(QUERY, String(++loadings));
  const loaded = new AbortController();
  try {
    const exports: unknown = await Promise.race([import(url.href), sleep(clock, MAX_LOAD_MS, loaded.signal)]);
    if (typeof exports === "object" && exports !== null) return { exports };
    return {
      problem: mistake("load_timeout", `did not finish loading in ${MAX_LOAD_MS / SECOND} s`, {
        file,
        hint: "await no slow operation at the top of the file",
      }),
    };
  } catch (error) {
    return { problem: loadProblem(file, error) };
  } finally {
    loaded.abort();
  }
}

function loadProblem(file: string, error: unknown): Problem {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  const message = messageOf(error).split("\n")[0] ?? "";
  if (error instanceof SyntaxError) {
    const place = syntaxPlace(error.stack ?? "") ?? { file };
    if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")
      return mistake("definition_syntax", message, {
        ...place,
        hint: "Node runs TypeScript by removing the types: use no enum, namespace or parameter property",
      });
    const missing = /does not provide an export named '(.+)'/.exec(message)?.[1];
    if (missing !== undefined) return mistake("import_failed", message, { ...place, hint: `export "${missing}" there, or fix the import` });
    return mistake("definition_syntax", `syntax error: ${message}`, { ...place, hint: "fix the syntax at or just before this line" });
  }
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND")
    return mistake("import_failed", message.replace(/ imported from .*$/, ""), { file, hint: "fix the import, or install the package" });
  if (code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING")
    return mistake("definition_syntax", "is TypeScript under node_modules, which Node does not run", {
      file,
      hint: "build it to JavaScript, or move it",
    });
  const line = thrownLine(error, file);
  const place = { file, ...(line === undefined ? {} : { line }) };
  // Our own errors, such as that of credits(-4), explain themselves.
  if (error instanceof RetinueError) return { ...problemOf(error, place), file };
  const hint = /^(module|exports|require) is not defined/.test(message)
    ? "definitions are ES modules: write import … and export default …"
    : "a definition must not fail while it is loaded: move work into its handlers";
  return mistake("definition_threw", `it threw while it was loaded: ${message}`, { ...place, hint });
}

/** Reads `file:line`, which Node puts on the first stack line of a syntax error. */
function syntaxPlace(stack: string): { readonly file: string; readonly line: number } | undefined {
  const [, address, line] = /^(.+?)(?:\?[^:\n]*)?:(\d+)\n/.exec(stack) ?? [];
  if (address === undefined) return undefined;
  return { file: address.startsWith("file:") ? fileURLToPath(address) : address, line: Number(line) };
}

/** The line of this file nearest to the throw. */
function thrownLine(error: unknown, file: string): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const address = pathToFileURL(file).href;
  const at = (error.stack ?? "").split("\n").find((line) => line.includes(address));
  const line = /:(\d+):\d+\)?$/.exec(at ?? "")?.[1];
  return line === undefined ? undefined : Number(line);
}
