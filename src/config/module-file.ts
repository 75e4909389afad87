/** Loads a TypeScript or JavaScript file as a module, afresh on each load, and locates its errors. */
import { registerHooks, type LoadFnOutput } from "node:module";
import { basename, extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sleep, systemClock, type Clock } from "../core/clock.ts";
import { isRetinueError, messageOf } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";
import { fileSignatureNow } from "./folder-signature.ts";
import { mistake, problemOf, type Problem } from "./problem.ts";

export const MODULE_EXTENSIONS: readonly string[] = [".ts", ".mts", ".js", ".mjs"];

/** Marks our modules with the number of their load: Node caches a module under its URL for ever. */
const QUERY = "retinue";
/** Part of the URL of every file loaded this way, and of its stack frames. */
export const LOADING_QUERY = `?${QUERY}=`;
/** The same in the message of an error. */
const LOADING_MARK = /\?retinue=\d+/;
const JSON_EXTENSION = ".json";
const MAX_FRAMES = 50;
/** Lines of code that Node puts before a syntax error. */
const MAX_SNIPPET = 10;
/** Characters of a line of code beside a problem. */
const MAX_EXCERPT = 120;
const OWN_EXTENSION = extname(import.meta.url);
/** The package's entry points, as files of this copy of the runtime. */
const DOORS: { readonly [specifier: string]: string } = {
  retinue: new URL(`../index${OWN_EXTENSION}`, import.meta.url).href,
  "retinue/model": new URL(`../model${OWN_EXTENSION}`, import.meta.url).href,
  "retinue/testing": new URL(`../testing${OWN_EXTENSION}`, import.meta.url).href,
};

/** One file as a load found it. */
export interface LoadedFile {
  readonly text: string;
  /** Its signature just before it was read. */
  readonly signature: string;
}

/** The files of one load by path: the module, and all that it imports by relative names. */
export type LoadedFiles = ReadonlyMap<string, LoadedFile>;

export type LoadedModule = ({ readonly exports: object } | { readonly problem: Problem }) & { readonly files: LoadedFiles };

/** A load under way. */
interface Loading {
  /** Texts to use in place of those on the disk. */
  readonly given: ReadonlyMap<string, string> | undefined;
  readonly files: Map<string, LoadedFile>;
  /** The files that each file imports. */
  readonly imports: Map<string, Set<string>>;
}

let hooked = false;
let loadings = 0;
const underWay = new Map<string, Loading>();

/**
 * Resolves `retinue` and its other doors to this copy from any importing file, and reloads the files that a definition imports together
 * with it. Once per thread; Node cannot scope it.
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
      if (own === undefined || !resolved.url.startsWith("file:")) return resolved;
      const url = new URL(resolved.url);
      const isModule = MODULE_EXTENSIONS.includes(extname(url.pathname));
      if (!isModule && extname(url.pathname) !== JSON_EXTENSION) return resolved;
      url.searchParams.set(QUERY, own);
      if (context.parentURL !== undefined) noteImport(own, context.parentURL, url);
      return { ...resolved, url: url.href, ...(isModule ? { format: formatOf(url) } : {}) };
    },
    load(url, context, nextLoad) {
      const loading = underWay.get(ownQuery(url) ?? "");
      return loading === undefined ? nextLoad(url, context) : loadFile(loading, url, context, nextLoad);
    },
  });
}

/** Reads a file of a load, or takes its given text, and remembers it. */
function loadFile<Context extends { readonly format: string | null | undefined }>(
  { given, files }: Loading,
  url: string,
  context: Context,
  read: (url: string, context: Context) => LoadFnOutput,
): LoadFnOutput {
  const path = fileURLToPath(url);
  const text = given?.get(path);
  if (text !== undefined) return { format: context.format ?? formatOf(new URL(url)), source: text, shortCircuit: true };
  const signature = fileSignatureNow(path);
  const found = read(url, context);
  const { source } = found;
  if (source !== undefined && source !== null)
    files.set(path, { text: typeof source === "string" ? source : Buffer.from(source as Uint8Array).toString(), signature });
  return found;
}

function noteImport(own: string, parent: string, url: URL): void {
  const imports = underWay.get(own)?.imports;
  if (imports === undefined || !parent.startsWith("file:")) return;
  const from = fileURLToPath(parent);
  const known = imports.get(from);
  if (known === undefined) imports.set(from, new Set([fileURLToPath(url)]));
  else known.add(fileURLToPath(url));
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

/**
 * Evaluates a module afresh and returns its namespace; a problem if that takes longer than 20 s. With `given`, files have these texts,
 * also those that a handler imports later.
 */
export async function loadModule(file: string, clock: Clock = systemClock(), given?: ReadonlyMap<string, string>): Promise<LoadedModule> {
  hookOnce();
  const url = pathToFileURL(file);
  const number = String(++loadings);
  url.searchParams.set(QUERY, number);
  const loading: Loading = { given, files: new Map(), imports: new Map() };
  const { files } = loading;
  underWay.set(number, loading);
  const loaded = new AbortController();
  try {
    const exports: unknown = await Promise.race([import(url.href), sleep(clock, MAX_LOAD_MS, loaded.signal)]);
    if (typeof exports === "object" && exports !== null) return { exports, files };
    const problem = mistake("load_timeout", `did not finish loading in ${MAX_LOAD_MS / SECOND} s`, {
      file,
      hint: "await no slow operation at the top of the file",
    });
    return { problem, files };
  } catch (error) {
    return { problem: withExcerpt(loadProblem(loading, file, error), files), files };
  } finally {
    loaded.abort();
    if (given === undefined) underWay.delete(number);
  }
}

function loadProblem(loading: Loading, file: string, error: unknown): Problem {
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
    return mistake("import_failed", message.replace(/ imported from .*$/, "").replace(LOADING_MARK, ""), {
      file,
      hint: "fix the import, or install the package",
    });
  if (code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING")
    return mistake("definition_syntax", "is TypeScript under node_modules, which Node does not run", {
      file,
      hint: "build it to JavaScript, or move it",
    });
  const place = thrownPlace(error, [file, ...loading.files.keys()]) ?? { file };
  // Our own errors, such as that of credits(-4), explain themselves.
  if (isRetinueError(error)) return { ...problemOf(error, place), file: place.file };
  const cycle = error instanceof ReferenceError && message.endsWith("before initialization") ? cycleFrom(loading, file) : undefined;
  if (cycle !== undefined)
    return mistake("import_cycle", `imports go in a circle, so a value is used before it exists: ${cycle.join(" → ")}: ${message}`, {
      ...place,
      hint: "move the value that both need into a file of its own",
    });
  return mistake("definition_threw", `it threw while it was loaded: ${message}`, { ...place, hint: hintOf(message) });
}

/** The door of each of our functions that a definition calls as it is loaded. */
const DOOR_OF: { readonly [name: string]: string } = {
  answer: "retinue/model",
  credits: "retinue",
  defineConfig: "retinue",
  defineSpecialist: "retinue",
  microDollars: "retinue",
};

function hintOf(message: string): string {
  const missing = /^(\w+) is not defined/.exec(message)?.[1] ?? "";
  if (["module", "exports", "require"].includes(missing)) return "definitions are ES modules: write import … and export default …";
  const door = Object.hasOwn(DOOR_OF, missing) ? DOOR_OF[missing] : undefined;
  if (door !== undefined) return `import it: import { ${missing} } from "${door}";`;
  return "a definition must not fail while it is loaded: move work into its handlers";
}

/** The base names of files that import each other, from the first to itself again. */
function cycleFrom({ imports }: Loading, file: string): readonly string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (from: string): readonly string[] | undefined => {
    const first = path.indexOf(from);
    if (first >= 0) return [...path.slice(first), from].map((name) => basename(name));
    if (done.has(from)) return undefined;
    done.add(from);
    path.push(from);
    for (const to of imports.get(from) ?? []) {
      const found = visit(to);
      if (found !== undefined) return found;
    }
    path.pop();
    return undefined;
  };
  return visit(file);
}

interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** Reads the first lines of the stack of a syntax error: `file:line`, some code, and a caret below the mistake. */
function syntaxPlace(stack: string): Place | undefined {
  const [first = "", ...below] = stack.split("\n").slice(0, MAX_SNIPPET);
  const [, address, line] = /^(.+?)(?:\?[^:]*)?:(\d+)$/.exec(first) ?? [];
  if (address === undefined) return undefined;
  const file = address.startsWith("file:") ? fileURLToPath(address) : address;
  const caret = below.find((text) => /^\s*\^+\s*$/.test(text))?.indexOf("^");
  return { file, line: Number(line), ...(caret === undefined ? {} : { column: caret + 1 }) };
}

/** The place in one of these files that is nearest to the throw. */
function thrownPlace(error: unknown, files: readonly string[]): Place | undefined {
  if (!(error instanceof Error)) return undefined;
  const addresses = files.map((file) => ({ file, address: pathToFileURL(file).href }));
  for (const frame of (error.stack ?? "").split("\n").slice(0, MAX_FRAMES)) {
    const at = addresses.find(({ address }) => frame.includes(`${address}?`) || frame.includes(`${address}:`));
    const [, line, column] = /:(\d+):(\d+)\)?$/.exec(frame) ?? [];
    if (at !== undefined && line !== undefined) return { file: at.file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** Adds the line of code to the place of a problem. */
function withExcerpt(problem: Problem, files: LoadedFiles): Problem {
  const { file, line } = problem;
  const text =
    line === undefined
      ? undefined
      : files
          .get(file ?? "")
          ?.text.split("\n")
          [line - 1]?.trim();
  return text === undefined || text === "" ? problem : { ...problem, excerpt: text.slice(0, MAX_EXCERPT) };
}
