/** Loads the folder of definitions: one specialist per file, or per folder with an index file. */
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, extname, join, sep } from "node:path";
import { systemClock, type Clock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { SpecialistDefinition } from "../specialist/definition.ts";
import { createSpecialist, type Specialist } from "../specialist/specialist.ts";
import { DATA_EXTENSIONS, readDataFile } from "./data-file.ts";
import { codeDefinition, dataDefinition } from "./definition-schema.ts";
import { checkParts, type CheckedParts } from "./mistakes.ts";
import { loadModule, MODULE_EXTENSIONS } from "./module-file.ts";
import { mistake, problemOf, throwMistakes, type Problem } from "./problem.ts";

export interface LoadedDefinition {
  /** The absolute path of its file; for one given in code, its place, such as `specialists[0]`. */
  readonly file: string;
  readonly specialist: Specialist;
}

export interface LoadedDefinitions {
  readonly definitions: readonly LoadedDefinition[];
  /** Definitions of files with mistakes, without the mistaken parts: for further checks, never to run. */
  readonly drafts: readonly LoadedDefinition[];
  /** Every mistake of every file; a file with one yields no definition. */
  readonly problems: readonly Problem[];
}

/** One loaded file: a definition, or its mistakes and, if it is usable without them, a draft. */
interface Loaded {
  readonly definition?: LoadedDefinition;
  readonly draft?: LoadedDefinition;
  readonly problems: readonly Problem[];
}

const EXTENSIONS: readonly string[] = [...MODULE_EXTENSIONS, ...DATA_EXTENSIONS];
const MAX_ENTRIES = 20_000;
/** Files that are not definitions although they have the extension of one. */
const IGNORED = /^\.|^readme\.md$|\.(test|spec|d)\.[cm]?[jt]s$/i;

/** Loads all definitions of a folder, re-evaluating modules each time. Never throws for mistakes in a file. */
export async function loadDefinitions(folder: string, clock: Clock = systemClock()): Promise<LoadedDefinitions> {
  const found = await findDefinitionFiles(folder);
  const loaded: Loaded[] = [];
  for (const file of found.files) loaded.push(await loadDefinition(file, clock));
  return joined(loaded, found.problems);
}

/** Checks definitions given by a program in place of files, by the same rules. Never throws for a mistake in one. */
export function givenDefinitions(given: readonly unknown[]): LoadedDefinitions {
  return joined(
    given.map((value, index) => checkCode(value, `specialists[${index}]`, undefined)),
    [],
  );
}

/** The specialists of definitions given by a test. Throws `Misconfigured` for the first mistake. */
export function checkedDefinitions(given: readonly unknown[]): readonly Specialist[] {
  const { definitions, problems } = givenDefinitions(given);
  throwMistakes(problems);
  return definitions.map(({ specialist }) => specialist);
}

function joined(loaded: readonly Loaded[], problems: readonly Problem[]): LoadedDefinitions {
  return withoutTwins({
    definitions: loaded.flatMap(({ definition }) => (definition === undefined ? [] : [definition])),
    drafts: loaded.flatMap(({ draft }) => (draft === undefined ? [] : [draft])),
    problems: [...problems, ...loaded.flatMap((one) => one.problems)],
  });
}

/** Keeps the first definition of each handle, and reports the others. */
function withoutTwins(loaded: LoadedDefinitions): LoadedDefinitions {
  const problems = [...loaded.problems];
  const first = new Map<string, string>();
  const isFirst = ({ file, specialist }: LoadedDefinition): boolean => {
    const other = first.get(specialist.handle);
    first.set(specialist.handle, other ?? file);
    if (other === undefined) return true;
    problems.push(
      mistake("handle_twice", `the handle "${specialist.handle}" is already used in ${other}`, {
        file,
        hint: "give one of the two another handle",
      }),
    );
    return false;
  };
  return { definitions: loaded.definitions.filter(isFirst), drafts: loaded.drafts.filter(isFirst), problems };
}

/** Lists the definition files of a folder, in order of their names. */
export async function findDefinitionFiles(
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly problems: readonly Problem[] }> {
  let root: string;
  let names: string[];
  try {
    root = await realpath(folder);
    names = (await readdir(root)).filter((name) => !IGNORED.test(name) && name !== "node_modules").sort();
  } catch (error) {
    return {
      files: [],
      problems: [
        mistake("agents_unreadable", `the folder of definitions cannot be read: ${messageOf(error)}`, {
          file: folder,
          hint: "create it, or name another with --agents",
        }),
      ],
    };
  }
  if (names.length > MAX_ENTRIES)
    return {
      files: [],
      problems: [mistake("agents_too_many", `more than ${MAX_ENTRIES} entries`, { file: folder, hint: "split the folder" })],
    };
  const files: string[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const entry = await definitionAt(join(root, name));
    if (entry === undefined) continue;
    if ("code" in entry) problems.push(entry);
    else if ((await realpath(entry.file)).startsWith(root + sep)) files.push(entry.file);
    else
      problems.push(
        mistake("outside_folder", "the link leads out of the folder of definitions", {
          file: entry.file,
          hint: "copy the file here, or point --agents at its folder",
        }),
      );
  }
  return { files, problems };
}

/** Returns the definition file of a folder's entry, if it has one. */
async function definitionAt(path: string): Promise<{ readonly file: string } | Problem | undefined> {
  try {
    const status = await stat(path);
    if (status.isFile()) return EXTENSIONS.includes(extname(path)) ? { file: path } : undefined;
    if (!status.isDirectory()) return undefined;
    const [index, second] = (await readdir(path))
      .filter((name) => name.startsWith("index.") && EXTENSIONS.includes(extname(name)) && !IGNORED.test(name))
      .sort();
    if (index === undefined) return undefined;
    if (second !== undefined)
      return mistake("index_twice", `has both ${index} and ${second}`, {
        file: path,
        hint: "keep one index file: a folder is one specialist",
      });
    return { file: join(path, index) };
  } catch (error) {
    return mistake("file_unreadable", `cannot be read: ${messageOf(error)}`, {
      file: path,
      hint: "fix the link or the permissions, or remove it",
    });
  }
}

/** Loads one file. A file with mistakes yields no definition, and all of its mistakes. */
export async function loadDefinition(file: string, clock: Clock = systemClock()): Promise<Loaded> {
  return MODULE_EXTENSIONS.includes(extname(file)) ? loadCode(file, clock) : loadData(file);
}

async function loadCode(file: string, clock: Clock): Promise<Loaded> {
  const loaded = await loadModule(file, clock);
  if ("problem" in loaded) return { problems: [loaded.problem] };
  const value: unknown = Reflect.get(loaded.exports, "default");
  const hint = "write: export default defineSpecialist({ handle: … })";
  if (value === undefined) {
    const helper = basename(file).startsWith("index.") ? "" : "; a file that is not a specialist belongs in a subfolder";
    return { problems: [mistake("default_missing", "has no default export", { file, hint: hint + helper })] };
  }
  if (typeof value === "function")
    return {
      problems: [mistake("default_function", "the default export is a function, not a definition", { file, expected: "an object", hint })],
    };
  if (typeof value === "object" && value !== null && "then" in value)
    return {
      problems: [
        mistake("default_async", "the default export is a promise", {
          file,
          expected: "an object",
          hint: "await it at the top of the file",
        }),
      ],
    };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problems: [mistake("default_not_object", "the default export is not an object", { file, expected: "an object", hint })] };
  return checkCode(value, file, file);
}

/** `source` is the file from which a worker thread can load it. */
function checkCode(value: unknown, file: string, source: string | undefined): Loaded {
  return finish(file, checkParts(codeDefinition, value, { code: "definition_invalid", file }), source);
}

async function loadData(file: string): Promise<Loaded> {
  const { data, problems } = await readDataFile(file);
  if (data === undefined) return { problems };
  const { body } = data;
  const value = withBody(data.value, body);
  if (value === undefined)
    return {
      problems: [
        mistake("instructions_twice", "has instructions in the front matter and in the text below it", { file, hint: "keep one of them" }),
      ],
    };
  const checked = checkParts(dataDefinition, value, { code: "definition_invalid", file, lineOf: (path) => data.lineOf(path) });
  const advised = checked.problems.map((problem) => {
    if (/^on\b/.test(problem.message))
      return { ...problem, hint: "a data file lists the events that its model answers; behaviour is a .ts or .js file" };
    const behaviour = problem.code === "key_unknown" && /^(schedules|isolate)\b/.test(problem.message);
    return behaviour ? { ...problem, hint: "data files cannot hold behaviour: write a .ts or .js file" } : problem;
  });
  return finish(file, { ...checked, problems: advised }, file);
}

/** Adds the text below the front matter as `instructions`. Undefined if both state them. */
function withBody(value: unknown, body: string | undefined): unknown {
  if (body === undefined || body === "" || typeof value !== "object" || value === null) return value;
  return "instructions" in value ? undefined : { ...value, instructions: body };
}

function finish(file: string, { rest, problems }: CheckedParts<object>, source: string | undefined): Loaded {
  if (rest === undefined) return { problems };
  try {
    // The schema has accepted it; the types differ only in an explicit `undefined`, which means "not given".
    const loaded = { file, specialist: createSpecialist(rest as SpecialistDefinition, source) };
    return problems.length === 0 ? { definition: loaded, problems } : { draft: loaded, problems };
  } catch (error) {
    return { problems: [...problems, problemOf(error, { file })] };
  }
}
